// One request to the embedded Kubernetes API and its answer, apart from any socket: the HTTP server in front of it, the
// agents, and tests that run in virtual time all speak to the same handler.

export interface KubernetesRequest {
  /** Upper case. */
  readonly method: string;
  /** Path with query string, as on the request line. */
  readonly url: string;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

export interface KubernetesResponse {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** A watch answers piece by piece, each piece one or more whole lines, and ends when the watch does. */
  readonly body: string | AsyncIterable<string>;
}

/** Answers one request. Never rejects for what a client did; aborting `signal` ends a watch. */
export type KubernetesHandler = (
  request: KubernetesRequest,
  signal: AbortSignal,
) => Promise<KubernetesResponse>;
