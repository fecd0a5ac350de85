// What to tell when a proxy does not let a request through. Such a request never reached its target.
import { proxyInWords } from './proxies.ts';

/** `status`: what it answered; undefined when it gave no answer. `why`: what the network below said. */
export interface ProxyAnswer {
  readonly status: number | undefined;
  readonly why: string;
}

export function proxyTrouble(proxy: URL, target: string, { status, why }: ProxyAnswer): string {
  const name = `the proxy ${proxyInWords(proxy)}`;
  if (status === undefined) return `cannot reach ${target} through ${name}: ${why}`;
  if (status !== 407) return `${name} answers ${status} instead of connecting to ${target}`;
  const given = proxy.username !== '';
  return given
    ? `${name} refuses its user and password (407): correct them in its URL`
    : `${name} wants a user and a password (407): give them in its URL, as http://user:password@host:port`;
}
