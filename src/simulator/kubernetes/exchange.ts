// One request to the embedded Kubernetes API and its answer, independent of sockets. The HTTP server, the
// agents and tests in virtual time share one handler.

import type { JsonObject, JsonValue } from './json-value.ts';

export interface KubernetesRequest {
  /** Upper case. */
  readonly method: string;
  /** Path with query string, as on the request line. */
  readonly url: string;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  /** The parsed body, from in-process clients: saves serializing. */
  readonly value?: JsonObject;
}

export interface KubernetesResponse {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** A watch answers in chunks of one or more whole lines, and ends when the watch does. */
  readonly body: string | AsyncIterable<string> | EventStream;
  /** The parsed body, for in-process clients: saves parsing. */
  readonly value?: JsonValue;
}

/** The body of a watch. */
export interface EventStream extends AsyncIterable<string> {
  /** The events of its lines, without one that broke off in the middle of a line. */
  readonly events: () => AsyncIterable<JsonObject>;
}

/** Answers one request. Never rejects because of a client; aborting `signal` ends a watch. */
export type KubernetesHandler = (
  request: KubernetesRequest,
  signal: AbortSignal,
) => Promise<KubernetesResponse>;
