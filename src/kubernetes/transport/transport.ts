// The port to the API server. Lists, watches, patches and leases run on it unchanged, over real connections or an
// in-process API server in virtual time.
import type { ProcessPorts } from '../../runtime/process-ports.ts';
import type { Json, JsonObject } from '../../runtime/json.ts';

export interface TransportRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Includes the query, as on the request line. */
  readonly path: string;
  readonly contentType?: string;
  /** Already serialized. */
  readonly body?: string;
  /** Time limit of the whole answer, or of a stream's start, in ms. Default: `defaultTimeout`. */
  readonly timeoutMs?: number;
  /**
   * The server works long on it: it is sent once, and so over a connection that is new, or of a server that answered just now.
   */
  readonly isCostly?: true;
  /** Read limit of an answer over a connection. A longer answer fails with KUBERNETES_ANSWER_TOO_LONG. */
  readonly maxBytes?: number;
}

export interface TransportAnswer {
  /** HTTP status. */
  readonly status: number;
  /** The wait that the server requests, if any. */
  readonly retryAfterMs?: number;
  readonly body: string;
  /** The parsed body, set by an in-process server to save parsing. */
  readonly value?: Json;
}

/** A line, or the object it encodes if the sender is in-process. */
export type StreamLine = string | JsonObject;

export type StreamAnswer =
  /**
   * Complete lines without line breaks. Ends when the server ends the stream. Throws a `KubernetesError` when the
   * connection breaks, and the signal's reason when it aborts.
   */
  | { readonly kind: 'open'; readonly lines: AsyncIterable<StreamLine> }
  /** Any status but 200. */
  | { readonly kind: 'refused'; readonly answer: TransportAnswer };

/**
 * Sends requests. Every answer of the server is a value. Without an answer, both reject with a `KubernetesError`, or
 * with the signal's reason once it aborts.
 */
export interface KubernetesTransport {
  send(request: TransportRequest, signal: AbortSignal): Promise<TransportAnswer>;
  stream(request: TransportRequest, signal: AbortSignal): Promise<StreamAnswer>;
}

/** The process of a client of the API server. */
export interface ClientPorts extends ProcessPorts {
  readonly transport: KubernetesTransport;
}

/** Ms. */
export const defaultTimeout = 30_000;

/**
 * Time limit of a list, of the start of a watch, and of what every start needs, in ms. An API server under load takes long
 * for them, and ends a request itself after 60 s.
 */
export const slowReadTimeout = 65_000;

/** The name of this program. The API server notes it as the manager of the fields that we write. */
export const userAgent = 'headwater';
