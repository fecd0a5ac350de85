// The single error type of the Kubernetes side. An answer of the API server is a value (api-reply.ts), never an error.
// Errors mean that no answer arrived or that the configuration is unusable.

import { sanitizedText } from '../../network/untrusted-text.ts';

export type KubernetesErrorCode =
  /** No answer within the request's time-out. The request may have taken effect. */
  | 'KUBERNETES_TIMEOUT'
  /** The connection failed or broke. The request may have taken effect. */
  | 'KUBERNETES_UNREACHABLE'
  /** The answer exceeds the read limit. */
  | 'KUBERNETES_ANSWER_TOO_LONG'
  /** The given authorities do not vouch for the server's certificate. */
  | 'KUBERNETES_UNTRUSTED'
  /** A credential is unavailable: a token file is missing, or a plugin failed. */
  | 'KUBERNETES_CREDENTIALS'
  /** No configuration leads to a cluster. */
  | 'KUBECONFIG_NOT_FOUND'
  /** The configuration of the cluster is unreadable. */
  | 'KUBECONFIG_INVALID'
  /** The given durations make leader election unsafe. */
  | 'LEASE_TIMINGS_INVALID';

export interface KubernetesErrorOptions {
  readonly details?: Readonly<Record<string, unknown>>;
  readonly cause?: unknown;
}

export class KubernetesError extends Error {
  override readonly name = 'KubernetesError';
  /** Stable: programs and runbooks refer to it. */
  readonly code: KubernetesErrorCode;
  /** The values in the message. Never a credential. */
  readonly details: Readonly<Record<string, unknown>>;

  constructor(code: KubernetesErrorCode, message: string, options: KubernetesErrorOptions = {}) {
    super(sanitizedText(message), options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.details = options.details ?? {};
  }
}
