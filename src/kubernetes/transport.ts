// The port to the API server. Everything above it (lists, watches, patches, leases) is the same over real connections
// and over an API server in the same process in virtual time.
import type { Json, JsonObject } from './json.ts';

export interface TransportRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH';
  /** With the query, as on the request line. */
  readonly path: string;
  /** Of `body`. */
  readonly contentType?: string;
  /** Serialised already. */
  readonly body?: string;
  /** Longest wait for the whole answer, for a stream only for its beginning, in ms; `defaultTimeout` when absent. */
  readonly timeoutMs?: number;
}

export interface TransportAnswer {
  /** Of HTTP. */
  readonly status: number;
  /** How long the server asks to be left alone, if it does. */
  readonly retryAfterMs?: number;
  readonly body: string;
  /** What the body spells, where whoever answered is in this very process: then nobody has to read it. */
  readonly value?: Json;
}

/** A line, or what it spells where whoever sends it is in this very process. */
export type StreamLine = string | JsonObject;

export type StreamAnswer =
  /**
   * Lines without their line break; a line that was cut short is not among them. Ends when the server ends it, throws a
   * `KubernetesError` when the connection breaks, and the signal's reason when that is aborted.
   */
  | { readonly kind: 'open'; readonly lines: AsyncIterable<StreamLine> }
  /** Any answer but a 200. */
  | { readonly kind: 'refused'; readonly answer: TransportAnswer };

/**
 * Sends requests. Whatever the server answers is a value; when no answer comes, both reject with a `KubernetesError`, or
 * with the signal's reason once that is aborted.
 */
export interface KubernetesTransport {
  send(request: TransportRequest, signal: AbortSignal): Promise<TransportAnswer>;
  stream(request: TransportRequest, signal: AbortSignal): Promise<StreamAnswer>;
}

/** In ms. */
export const defaultTimeout = 30_000;
