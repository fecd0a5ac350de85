// The one error type of the Kubernetes side. What the API server answers is a value (api-reply.ts), never an error; an
// error is what kept an answer from coming, or a setting that nothing can work with.

export type KubernetesErrorCode =
  /** No answer within the request's time-out. The request may have had its effect. */
  | 'KUBERNETES_TIMEOUT'
  /** The connection could not be made, or broke. The request may have had its effect. */
  | 'KUBERNETES_UNREACHABLE'
  /** The server's certificate is not one that the given authority vouches for. */
  | 'KUBERNETES_UNTRUSTED'
  /** A credential could not be had: a token file is missing, a plugin failed. */
  | 'KUBERNETES_CREDENTIALS'
  /** Nothing says how to reach a cluster. */
  | 'KUBECONFIG_NOT_FOUND'
  /** What says how to reach the cluster cannot be read. */
  | 'KUBECONFIG_INVALID'
  /** Leader election could not be safe with the durations given. */
  | 'LEASE_TIMINGS_INVALID';

export interface KubernetesErrorOptions {
  readonly details?: Readonly<Record<string, unknown>>;
  readonly cause?: unknown;
}

export class KubernetesError extends Error {
  override readonly name = 'KubernetesError';
  /** Stable: what programs and runbooks refer to. */
  readonly code: KubernetesErrorCode;
  /** The values that the message speaks of. Never a credential. */
  readonly details: Readonly<Record<string, unknown>>;

  constructor(code: KubernetesErrorCode, message: string, options: KubernetesErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.details = options.details ?? {};
  }
}
