// Which proxy a request goes through, if any: the one rule for every client. Pure.
import { BlockList } from 'node:net';
import { isExempt, isWithin, type NoProxy, noExceptions } from './no-proxy.ts';

export interface Proxies {
  /** For http targets. Each may hold user and password. */
  readonly http: URL | undefined;
  /** For https targets. */
  readonly https: URL | undefined;
  readonly exempt: NoProxy;
}

export const noProxies: Proxies = { http: undefined, https: undefined, exempt: noExceptions };

/**
 * Never spoken to through a proxy, whatever is configured: this machine, and what only it can reach, where clouds hand
 * out credentials (169.254.169.254 and, on EKS, 169.254.170.23; over IPv6 within fd00:ec2::/32).
 */
const alwaysDirect = new BlockList();
alwaysDirect.addSubnet('127.0.0.0', 8);
alwaysDirect.addSubnet('169.254.0.0', 16);
alwaysDirect.addAddress('::1', 'ipv6');
alwaysDirect.addSubnet('fe80::', 10, 'ipv6');
alwaysDirect.addSubnet('fd00:ec2::', 32, 'ipv6');

/** The proxy for a target; undefined: speak to it directly. */
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
