// CIDRs and addresses as text and as numbers, of both families. Go's parser, which agents use, decides what is accepted: no
// leading zeros, no zones, and an IPv4 network only in its own spelling.

export type Family = 'ipv4' | 'ipv6';

export const families: readonly Family[] = ['ipv4', 'ipv6'];

/** The families as users write them. */
export const familyNames: Readonly<Record<Family, string>> = { ipv4: 'IPv4', ipv6: 'IPv6' };

/** A network: `base` has no bits beyond `length`. */
export interface Cidr {
  readonly family: Family;
  readonly base: bigint;
  /** Prefix length. */
  readonly length: number;
}

export type CidrReading =
  | {
      readonly kind: 'cidr';
      readonly cidr: Cidr;
      /** Bits beyond the prefix length were set; they are masked away. */
      readonly hasHostBits: boolean;
    }
  /** `why` is worded to follow "because", and names the right spelling if there is one. */
  | { readonly kind: 'invalid'; readonly why: string };

/** Bits of an address. */
export const widthOf: Readonly<Record<Family, number>> = { ipv4: 32, ipv6: 128 };

/** Longer text is no CIDR, whatever it holds. */
const maxTextCharacters = 64;

export function parseCidr(text: string): CidrReading {
  const parts = text.length > maxTextCharacters ? [] : text.split('/');
  const [address, prefix] = parts;
  if (parts.length !== 2 || address === undefined || prefix === undefined)
    return invalid('it is not an address, a slash and a prefix length');
  const family = familyOf(address);
  const length = /^(?:0|[1-9]\d{0,2})$/.test(prefix) ? Number(prefix) : Infinity;
  if (length > widthOf[family])
    return invalid(`its prefix length is not a whole number from 0 to ${widthOf[family]}`);
  return family === 'ipv4' ? readIpv4(address, length) : readIpv6(address, length);
}

/** Undefined for text that is no CIDR. */
export function cidrOf(text: string): Cidr | undefined {
  const reading = parseCidr(text);
  return reading.kind === 'cidr' ? reading.cidr : undefined;
}

/** A single address as a CIDR; undefined for text that is no address. */
export function addressCidr(text: string): Cidr | undefined {
  return cidrOf(`${text}/${text.includes(':') ? 128 : 32}`);
}

function invalid(why: string): CidrReading {
  return { kind: 'invalid', why };
}

const ipv4Pattern = /^(\d{1,3})\.(\d{1,3})\.(\d{1,3})\.(\d{1,3})$/;

function readIpv4(address: string, length: number): CidrReading {
  const [, ...octets] = ipv4Pattern.exec(address) ?? [];
  if (octets.length !== 4 || octets.some((octet) => Number(octet) > 255))
    return invalid('its address is not four numbers from 0 to 255');
  const value = BigInt(octets.reduce((sum, octet) => sum * 256 + Number(octet), 0));
  if (octets.some((octet) => octet.length > 1 && octet.startsWith('0')))
    return invalid(`of a leading zero: write ${cidrText(network('ipv4', value, length))}`);
  return read('ipv4', value, length);
}

/** The addresses that hold an IPv4 address: ::ffff:0:0/96. */
const mapped = { prefix: 0xffffn, bits: 32n };

function readIpv6(address: string, length: number): CidrReading {
  const [plain = '', zone] = address.split('%', 2);
  const value = ipv6Value(plain);
  if (value === undefined) return invalid('its address is not an IPv6 address');
  if (zone !== undefined) return invalid(`of its zone: write ${cidrText(network('ipv6', value, length))}`);
  if (value >> mapped.bits !== mapped.prefix) {
    if (plain.includes('.')) return invalid(`of its dots: write ${cidrText(network('ipv6', value, length))}`);
    return read('ipv6', value, length);
  }
  if (length < 96) return invalid('it holds all IPv4 addresses within IPv6');
  const inside = network('ipv4', value & 0xffff_ffffn, length - 96);
  return invalid(`it is an IPv4 network within IPv6: write ${cidrText(inside)}`);
}

function ipv6Value(address: string): bigint | undefined {
  const halves = withoutDots(address).split('::');
  if (halves.length > 2) return undefined;
  const [head = [], tail] = halves.map((half) => (half === '' ? [] : half.split(':')));
  const given = head.length + (tail ?? []).length;
  if (tail === undefined ? given !== 8 : given > 7) return undefined;
  const zeros = Array.from({ length: 8 - given }, () => '0');
  const groups = [...head, ...zeros, ...(tail ?? [])];
  if (!groups.every((group) => /^[\da-f]{1,4}$/i.test(group))) return undefined;
  return groups.reduce((sum, group) => (sum << 16n) | BigInt(`0x${group}`), 0n);
}

/** The last 32 bits may be written as an IPv4 address. */
function withoutDots(address: string): string {
  return address.replace(/(?<=:)(\d{1,3})\.(\d{1,3})\.(\d{1,3})\.(\d{1,3})$/, (_, ...parts: string[]) => {
    const [a = 0, b = 0, c = 0, d = 0] = parts.slice(0, 4).map(Number);
    // More than 255 makes a group of more than four digits, which is refused.
    return [a * 256 + b, c * 256 + d + (b > 255 || d > 255 ? 0x10000 : 0)]
      .map((group) => group.toString(16))
      .join(':');
  });
}

function read(family: Family, value: bigint, length: number): CidrReading {
  const cidr = network(family, value, length);
  return { kind: 'cidr', cidr, hasHostBits: cidr.base !== value };
}

/** The network of this prefix length around an address. */
export function network(family: Family, address: bigint, length: number): Cidr {
  const hostBits = BigInt(widthOf[family] - length);
  return { family, base: (address >> hostBits) << hostBits, length };
}

/** The text as Go prints it, which API servers compare. */
export function cidrText({ family, base, length }: Cidr): string {
  return `${addressText({ family, value: base })}/${length}`;
}

function ipv4Text(value: number): string {
  return `${value >>> 24}.${(value >>> 16) & 0xff}.${(value >>> 8) & 0xff}.${value & 0xff}`;
}

/** RFC 5952: lower case, and `::` for the first of the longest runs of at least two zeros. */
function ipv6Text(value: bigint): string {
  const groups = Array.from({ length: 8 }, (_, index) =>
    ((value >> BigInt(112 - 16 * index)) & 0xffffn).toString(16),
  );
  let run = { start: 0, size: 1 };
  for (let start = 0; start < 8; start++) {
    let size = 0;
    while (groups[start + size] === '0') size++;
    if (size > run.size) run = { start, size };
  }
  if (run.size < 2) return groups.join(':');
  return `${groups.slice(0, run.start).join(':')}::${groups.slice(run.start + run.size).join(':')}`;
}

/** Whether `outer` holds all of `inner`. */
export function contains(outer: Cidr, inner: Cidr): boolean {
  return (
    outer.family === inner.family &&
    outer.length <= inner.length &&
    network(inner.family, inner.base, outer.length).base === outer.base
  );
}

/** Whether two networks share an address. */
export function overlaps(a: Cidr, b: Cidr): boolean {
  return contains(a, b) || contains(b, a);
}

export function isSame(a: Cidr, b: Cidr): boolean {
  return a.family === b.family && a.base === b.base && a.length === b.length;
}

export function isAmong(cidrs: readonly Cidr[], cidr: Cidr): boolean {
  return cidrs.some((each) => isSame(each, cidr));
}

export interface Address {
  readonly family: Family;
  readonly value: bigint;
}

/** The network that has this address alone. */
export function only({ family, value }: Address): Cidr {
  return { family, base: value, length: widthOf[family] };
}

/** Undefined for anything but an address alone, such as one with a prefix length. */
export function parseAddress(text: string): Address | undefined {
  if (text.length > maxTextCharacters || text.includes('/')) return undefined;
  const family = familyOf(text);
  const reading = family === 'ipv4' ? readIpv4(text, widthOf.ipv4) : readIpv6(text, widthOf.ipv6);
  return reading.kind === 'cidr' ? { family, value: reading.cidr.base } : undefined;
}

/** The one text of an address, as Go prints it. */
export function addressText({ family, value }: Address): string {
  return family === 'ipv4' ? ipv4Text(Number(value)) : ipv6Text(value);
}

/** The same, of text in any spelling; undefined for anything but an address. */
export function canonicalAddress(text: string): string | undefined {
  const address = parseAddress(text);
  return address === undefined ? undefined : addressText(address);
}

/** The family of what is an address or a network. */
export function familyOf(text: string): Family {
  return text.includes(':') ? 'ipv6' : 'ipv4';
}
