// Says why a connection to the API server came to nothing, with what to do about it where we know.
import { untrustedCertificate } from '../network/certificate-trouble.ts';
import { proxyInWords } from '../network/proxies.ts';
import { proxyTrouble } from '../network/proxy-trouble.ts';
import type { ClusterAccess } from './cluster-access.ts';
import { KubernetesError } from './kubernetes-error.ts';

/** The error that a failure of the network below counts as. */
export function unreachable(
  cause: unknown,
  { server, proxy }: Pick<ClusterAccess, 'server' | 'proxy'>,
): KubernetesError {
  const { code, message } = innermost(cause);
  const why = message || code || String(cause);
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
  const insight = `${advice}; if the proxy ${proxyInWords(proxy)} looks into TLS, its authority must be among them`;
  if (proxy.protocol === 'http:') return insight;
  return `${insight}; an authority for the proxy itself belongs in --extra-ca-file`;
}

/** undici tells it in a sentence alone. */
function answerOfProxy(cause: unknown): number | undefined {
  const [, status] = /^Proxy response \((\d+)\)/.exec(innermost(cause).message ?? '') ?? [];
  return status === undefined ? undefined : Number(status);
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
