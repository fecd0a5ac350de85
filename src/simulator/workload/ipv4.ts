// IPv4 addresses and CIDRs as numbers: the agents' own arithmetic, shared with no other code.

export interface Cidr {
  /** The first address, as an unsigned 32-bit number. */
  readonly first: number;
  /** Length of the network part in bits. */
  readonly bits: number;
}

const octet = /^(?:0|[1-9]\d{0,2})$/;

/** The number of a dotted address; undefined for anything else. */
export function parseAddress(text: string): number | undefined {
  const parts = text.split('.');
  if (parts.length !== 4) return undefined;
  let value = 0;
  for (const part of parts) {
    const number = octet.test(part) ? Number(part) : 256;
    if (number > 255) return undefined;
    value = value * 256 + number;
  }
  return value;
}

export function formatAddress(value: number): string {
  return `${value >>> 24}.${(value >>> 16) & 255}.${(value >>> 8) & 255}.${value & 255}`;
}

/** The CIDR of a text with its host part cleared; undefined for anything else. */
export function parseCidr(text: string): Cidr | undefined {
  const slash = text.indexOf('/');
  const first = parseAddress(text.slice(0, Math.max(slash, 0)));
  const length = text.slice(slash + 1);
  if (first === undefined || !/^\d{1,2}$/.test(length)) return undefined;
  const bits = Number(length);
  return bits > 32 ? undefined : { first: baseOf(first, bits), bits };
}

export function formatCidr(cidr: Cidr): string {
  return `${formatAddress(cidr.first)}/${cidr.bits}`;
}

/** Number of addresses, first and last included. */
export function sizeOf(cidr: Cidr): number {
  return 2 ** (32 - cidr.bits);
}

/** The first address of the CIDR of `bits` that contains `address`. */
export function baseOf(address: number, bits: number): number {
  return bits === 0 ? 0 : (address & (-1 << (32 - bits))) >>> 0;
}
