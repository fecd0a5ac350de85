// Parses NO_PROXY and decides which hosts to reach directly. Pure. It follows client-go, which uses Go's rules
// (https://pkg.go.dev/golang.org/x/net/http/httpproxy), because all programs of a cluster share the same text. It also
// accepts spaces between entries.
import { BlockList, isIP } from 'node:net';

export interface NoProxy {
  readonly rules: readonly Rule[];
  /** Entries that match nothing, as given. */
  readonly unread: readonly string[];
}

export interface Target {
  /** A lower-case name, or an address without brackets. */
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
 * Commas or spaces separate entries. An entry is `*`, an address, a block (`10.0.0.0/8`), a name and its subdomains
 * (`example.com`), or subdomains only (`.example.com`, `*.example.com`). All except blocks may end in a port.
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

/** Whether an address is in the list; false for a name. */
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
