// What NO_PROXY says: which hosts are spoken to directly. Pure. The rules are client-go's, which are Go's
// (https://pkg.go.dev/golang.org/x/net/http/httpproxy), since the same text serves every program of a cluster. Spaces
// between entries are accepted besides commas.
import { BlockList, isIP } from 'node:net';

export interface NoProxy {
  readonly rules: readonly Rule[];
  /** Entries that can match nothing, as they were given. */
  readonly unread: readonly string[];
}

export interface Target {
  /** A name in lower case, or an address without brackets. */
  readonly host: string;
  readonly port: number;
}

interface Rule {
  /** Undefined for every port. */
  readonly port: number | undefined;
  matches(host: string): boolean;
}

export const noExceptions: NoProxy = { rules: [], unread: [] };

/**
 * Entries are separated by commas or spaces: `*`, an address, a block (`10.0.0.0/8`), a name (`example.com`, which covers
 * what lies below it too), or what lies below a name alone (`.example.com`, `*.example.com`). All but a block may end in a
 * port.
 */
export function readNoProxy(text: string): NoProxy {
  const rules: Rule[] = [];
  const unread: string[] = [];
  for (const entry of text.split(/[\s,]+/).filter((part) => part !== '')) {
    const rule = ruleOf(entry.toLowerCase());
    if (rule === undefined) unread.push(entry);
    else rules.push(rule);
  }
  return { rules, unread };
}

export function isExempt({ host, port }: Target, { rules }: NoProxy): boolean {
  return rules.some((rule) => (rule.port === undefined || rule.port === port) && rule.matches(host));
}

/** Whether an address is within a list; a name is not. */
export function isWithin(host: string, list: BlockList): boolean {
  const version = isIP(host);
  return version !== 0 && list.check(host, version === 4 ? 'ipv4' : 'ipv6');
}

function ruleOf(entry: string): Rule | undefined {
  if (entry.includes('/')) return blockRule(entry);
  const { host, port } = split(entry);
  if (port !== undefined && (port === 0 || port > 65_535)) return undefined;
  if (host === '*') return { port, matches: () => true };
  return isIP(host) === 0 ? nameRule(host, port) : addressRule(host, port);
}

function split(entry: string): { host: string; port: number | undefined } {
  if (isIP(entry) !== 0) return { host: entry, port: undefined };
  const [, bracketed, plain, port] = /^(?:\[([^\]]*)\]|([^:]*))(?::(\d{1,6}))?$/.exec(entry) ?? [];
  return { host: bracketed ?? plain ?? '', port: port === undefined ? undefined : Number(port) };
}

function blockRule(entry: string): Rule | undefined {
  const [, base = '', length = ''] = /^([^/]*)\/(\d{1,3})$/.exec(entry) ?? [];
  const version = isIP(base);
  if (version === 0 || Number(length) > (version === 4 ? 32 : 128)) return undefined;
  const list = new BlockList();
  list.addSubnet(base, Number(length), version === 4 ? 'ipv4' : 'ipv6');
  return { port: undefined, matches: (host) => isWithin(host, list) };
}

function addressRule(address: string, port: number | undefined): Rule {
  const list = new BlockList();
  list.addAddress(address, isIP(address) === 4 ? 'ipv4' : 'ipv6');
  return { port, matches: (host) => isWithin(host, list) };
}

function nameRule(pattern: string, port: number | undefined): Rule | undefined {
  const [, below, name] = /^(\*?\.)?([\w-]+(?:\.[\w-]+)*)\.?$/.exec(pattern) ?? [];
  if (name === undefined) return undefined;
  const matches = (host: string): boolean =>
    host.endsWith(`.${name}`) || (below === undefined && host === name);
  return { port, matches };
}
