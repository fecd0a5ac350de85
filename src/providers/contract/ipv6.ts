// IPv6 prefixes of interfaces as texts: each is held, shown and lost as a whole, so nothing counts in them. They keep the
// spelling in which the cloud writes them.
import { isIPv6 } from 'node:net';

/** The length of a prefix that a cloud delegates to an interface, and its groups of 16 bits that number the addresses in it. */
const prefixLength = 80;
const hostGroups = 3;

export const ipv6Wording = 'an IPv6 prefix of /80, such as 2600:1f14:1:2:3::/80,';

/** Whether it is a block of /80 without host bits. */
export function isIpv6Prefix(text: string): boolean {
  const [address = '', length, ...rest] = text.split('/');
  const isBlock = length === String(prefixLength) && rest.length === 0;
  if (!isBlock || !isIPv6(address) || /[%.]/.test(address)) return false;
  return groupsOf(address)
    .slice(-hostGroups)
    .every((group) => Number.parseInt(group, 16) === 0);
}

/** All eight groups of an address. */
function groupsOf(address: string): readonly string[] {
  const [left = [], right = []] = address.split('::').map((part) => (part === '' ? [] : part.split(':')));
  return [...left, ...Array<string>(8 - left.length - right.length).fill('0'), ...right];
}

/** Whether an IPv6 address or block is of this family: no IPv4 text has a colon. */
export function isOfIpv6(text: string): boolean {
  return text.includes(':');
}
