// Single addresses as text and as numbers. Their text is canonical, so that one address has one name in the record, in answers
// and in logs.
import { cidrText, type Family, parseCidr, widthOf } from '../../cidr/set/cidr.ts';

export interface Address {
  readonly family: Family;
  readonly value: bigint;
}

/** Undefined for anything but an address: no prefix length, no zone, no leading zeros. */
export function parseAddress(text: string): Address | undefined {
  if (text.includes('/')) return undefined;
  const family = text.includes(':') ? 'ipv6' : 'ipv4';
  const reading = parseCidr(`${text}/${widthOf[family]}`);
  return reading.kind === 'cidr' ? { family, value: reading.cidr.base } : undefined;
}

export function addressText({ family, value }: Address): string {
  const text = cidrText({ family, base: value, length: widthOf[family] });
  return text.slice(0, text.indexOf('/'));
}

/** The family of a canonical address. */
export function familyOf(text: string): Family {
  return text.includes(':') ? 'ipv6' : 'ipv4';
}
