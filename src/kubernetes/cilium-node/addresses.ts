// Defines what is an address in a CiliumNode. It is strict: Go, and so Cilium, rejects leading zeros, and some parsers
// read 010.0.0.1 as 8.0.0.1.
import { isIPv4, isIPv6 } from 'node:net';

export { isIPv4 };

/** Whether `text` is an IPv4 or IPv6 address with a prefix length. Host bits may be set. */
export function isCidr(text: string): boolean {
  const slash = text.indexOf('/');
  const [address, length] = [text.slice(0, Math.max(0, slash)), text.slice(slash + 1)];
  if (slash < 0 || !/^(?:0|[1-9]\d{0,2})$/.test(length)) return false;
  if (isIPv4(address)) return Number(length) <= 32;
  return isIPv6(address) && !address.includes('%') && Number(length) <= 128;
}
