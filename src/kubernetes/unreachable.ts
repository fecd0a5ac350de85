// Says why a connection to the API server came to nothing, with what to do about it where we know.
import { KubernetesError } from './kubernetes-error.ts';

/** Error codes of Node.js's TLS that mean: this is not a certificate we trust. */
const untrusted: ReadonlySet<string> = new Set([
  'CERT_HAS_EXPIRED',
  'CERT_NOT_YET_VALID',
  'CERT_SIGNATURE_FAILURE',
  'CERT_UNTRUSTED',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'ERR_TLS_CERT_ALTNAME_INVALID',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
]);

/** The error that a failure of the network below counts as. */
export function unreachable(cause: unknown, server: URL): KubernetesError {
  const { code, message } = innermost(cause);
  const why = message || code || String(cause);
  const details = { server: server.origin, ...(code !== undefined && { cause: code }) };
  if (code !== undefined && untrusted.has(code)) {
    const advice = 'correct the certificate authority in the kubeconfig';
    const text = `the certificate of ${server.origin} is not trusted: ${why}; ${advice}`;
    return new KubernetesError('KUBERNETES_UNTRUSTED', text, { details, cause });
  }
  return new KubernetesError('KUBERNETES_UNREACHABLE', `cannot reach ${server.origin}: ${why}`, {
    details,
    cause,
  });
}

interface Failure {
  readonly code?: string;
  readonly message?: string;
}

/** The first error with a code among an error, those it gathers (one for each address tried), and its causes. */
function innermost(error: unknown): Failure {
  if (typeof error !== 'object' || error === null) return {};
  const { code, errors, cause } = error as Failure & { errors?: unknown; cause?: unknown };
  if (Array.isArray(errors) && errors.length > 0) return innermost(errors[0]);
  return code === undefined && cause !== undefined ? innermost(cause) : error;
}
