// One request to the embedded Kubernetes API and its answer, apart from any socket: the HTTP server in front of it, the
// agents, and tests that run in virtual time all speak to the same handler.

import type { JsonObject, JsonValue } from './json-value.ts';

export interface KubernetesRequest {
  /** Upper case. */
  readonly method: string;
  /** Path with query string, as on the request line. */
  readonly url: string;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  /** What the body spells, from those in this very process: then nobody has to spell it. */
  readonly value?: JsonObject;
}

export interface KubernetesResponse {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** A watch answers piece by piece, each piece one or more whole lines, and ends when the watch does. */
  readonly body: string | AsyncIterable<string> | EventStream;
  /** What the body spells, for those in this very process: then nobody has to read it. */
  readonly value?: JsonValue;
}

/** The body of a watch. */
export interface EventStream extends AsyncIterable<string> {
  /** The events that its lines spell; of what broke off in the middle of a line, nothing. */
  readonly events: () => AsyncIterable<JsonObject>;
}

/** Answers one request. Never rejects for what a client did; aborting `signal` ends a watch. */
export type KubernetesHandler = (
  request: KubernetesRequest,
  signal: AbortSignal,
) => Promise<KubernetesResponse>;
