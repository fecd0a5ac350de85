// IPv4 addresses and blocks as numbers. Parsing is strict: four decimal parts without leading zeros.

export interface Ipv4Block {
  /** The lowest address, as an unsigned 32-bit number. */
  readonly first: number;
  /** Length of the network part in bits. */
  readonly length: number;
}

const part = String.raw`(25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)`;
const dotted = new RegExp(`^${part}\\.${part}\\.${part}\\.${part}$`);

/** The address as an unsigned number; undefined for malformed text. */
export function parseIpv4(text: string): number | undefined {
  const parts = dotted.exec(text)?.slice(1);
  return parts?.reduce((address, digits) => address * 256 + Number(digits), 0);
}

export function formatIpv4(address: number): string {
  return [24, 16, 8, 0].map((shift) => (address >>> shift) & 255).join('.');
}

/** The block that contains `text` (`a.b.c.d/n`): clears host bits, as EC2 does. */
export function parseIpv4Block(text: string): Ipv4Block | undefined {
  const [address, bits, ...rest] = text.split('/');
  const base = parseIpv4(address ?? '');
  if (base === undefined || rest.length > 0 || !/^(3[0-2]|[12]?\d)$/.test(bits ?? '')) return undefined;
  const length = Number(bits);
  return { first: base - (base % 2 ** (32 - length)), length };
}

export function formatIpv4Block(block: Ipv4Block): string {
  return `${formatIpv4(block.first)}/${block.length}`;
}

/** Number of addresses in a block. */
export function sizeOf(block: Ipv4Block): number {
  return 2 ** (32 - block.length);
}

export function contains(block: Ipv4Block, address: number): boolean {
  return address >= block.first && address < block.first + sizeOf(block);
}

/** Whether `inner` lies entirely in `outer`. */
export function covers(outer: Ipv4Block, inner: Ipv4Block): boolean {
  return contains(outer, inner.first) && inner.length >= outer.length;
}

export function overlap(a: Ipv4Block, b: Ipv4Block): boolean {
  return contains(a, b.first) || contains(b, a.first);
}
