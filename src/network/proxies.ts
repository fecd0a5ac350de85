// Chooses the proxy of a request, by one rule for every client, and explains a proxy's refusal. Pure.
import { BlockList } from 'node:net';
import { isExempt, isWithin, type NoProxy, noExceptions } from './no-proxy.ts';

export interface Proxies {
  /** Proxy for http targets. Both may hold a user and password. */
  readonly http: URL | undefined;
  /** Proxy for https targets. */
  readonly https: URL | undefined;
  readonly exempt: NoProxy;
}

export const noProxies: Proxies = { http: undefined, https: undefined, exempt: noExceptions };

/**
 * Targets that never use a proxy: this machine, and link-local services where clouds serve credentials (169.254.169.254
 * and, on EKS, 169.254.170.23; over IPv6 within fd00:ec2::/32; on Alibaba Cloud, 100.100.100.200).
 */
const alwaysDirect = new BlockList();
alwaysDirect.addSubnet('127.0.0.0', 8);
alwaysDirect.addSubnet('169.254.0.0', 16);
alwaysDirect.addAddress('100.100.100.200');
alwaysDirect.addAddress('::1', 'ipv6');
alwaysDirect.addSubnet('fe80::', 10, 'ipv6');
alwaysDirect.addSubnet('fd00:ec2::', 32, 'ipv6');

/** The proxy for a target; undefined for a direct connection. */
export function proxyFor(target: URL, { http, https, exempt }: Proxies): URL | undefined {
  const secure = target.protocol === 'https:';
  const proxy = secure ? https : http;
  if (proxy === undefined) return undefined;
  const host = target.hostname
    .toLowerCase()
    .replace(/^\[(.*)\]$/, '$1')
    .replace(/\.$/, '');
  const port = target.port === '' ? (secure ? 443 : 80) : Number(target.port);
  const direct = host === 'localhost' || isWithin(host, alwaysDirect) || isExempt({ host, port }, exempt);
  return direct ? undefined : proxy;
}

/** For people: without user and password. */
export function proxyInWords(proxy: URL): string {
  return `${proxy.protocol}//${proxy.host}`;
}

/** `status`: the proxy's answer; undefined without one. `why`: the network error. */
export interface ProxyAnswer {
  readonly status: number | undefined;
  readonly why: string;
}

/** Explains why a proxy did not forward a request. The request never reached its target. */
export function proxyTrouble(proxy: URL, target: string, { status, why }: ProxyAnswer): string {
  const name = `the proxy ${proxyInWords(proxy)}`;
  if (status === undefined) return `cannot reach ${target} through ${name}: ${why}`;
  if (status !== 407) return `${name} answers ${status} instead of connecting to ${target}`;
  const given = proxy.username !== '';
  return given
    ? `${name} refuses its user and password (407): correct them in its URL`
    : `${name} wants a user and a password (407): give them in its URL, as http://user:password@host:port`;
}
