// Explains why a connection to the API server failed, and what to do about it where we know.
import { untrustedCertificate } from '../../network/certificate-trouble.ts';
import { proxyInWords, proxyTrouble } from '../../network/proxies.ts';
import type { ClusterAccess } from './cluster-access.ts';
import { KubernetesError } from './kubernetes-error.ts';

const wrongName = 'ERR_TLS_CERT_ALTNAME_INVALID';

/** Converts a network failure into a KubernetesError. */
export function unreachable(
  cause: unknown,
  { server, proxy }: Pick<ClusterAccess, 'server' | 'proxy'>,
): KubernetesError {
  const { code, message } = innermost(cause);
  // On a name mismatch, Node.js's message repeats the expected host, which comes from the kubeconfig. A fixed
  // text replaces it.
  const why = code === wrongName ? 'it is for other names' : message || code || String(cause);
  const details = { server: server.origin, ...(code !== undefined && { cause: code }) };
  if (untrustedCertificate.has(code)) {
    const text = `the certificate of ${server.origin} is not trusted: ${why}; ${adviceOn(proxy)}`;
    return new KubernetesError('KUBERNETES_UNTRUSTED', text, { details, cause });
  }
  const text =
    proxy === undefined
      ? `cannot reach ${server.origin}: ${why}`
      : proxyTrouble(proxy, server.origin, { status: answerOfProxy(cause), why });
  return new KubernetesError('KUBERNETES_UNREACHABLE', text, { details, cause });
}

function adviceOn(proxy: URL | undefined): string {
  const advice = 'correct the certificate authority in the kubeconfig';
  if (proxy === undefined) return advice;
  const insight = `${advice}; if the proxy ${proxyInWords(proxy)} intercepts TLS, its authority must be among them`;
  if (proxy.protocol === 'http:') return insight;
  return `${insight}; an authority for the proxy itself belongs in --extra-ca-file`;
}

/** undici reports the status only in the message. */
function answerOfProxy(cause: unknown): number | undefined {
  const [, status] = /^Proxy response \((\d+)\)/.exec(innermost(cause).message ?? '') ?? [];
  return status === undefined ? undefined : Number(status);
}

interface Failure {
  readonly code?: string;
  readonly message?: string;
}

/** The first error with a code among an error, its aggregated errors (one per address tried) and its causes. */
function innermost(error: unknown): Failure {
  if (typeof error !== 'object' || error === null) return {};
  const { code, errors, cause } = error as Failure & { errors?: unknown; cause?: unknown };
  if (Array.isArray(errors) && errors.length > 0) return innermost(errors[0]);
  return code === undefined && cause !== undefined ? innermost(cause) : error;
}
