// IPv4 addresses and blocks as unsigned 32-bit numbers. Parsing is strict: four decimal parts without leading zeros,
// because a lenient parser reads 010.0.0.1 as 8.0.0.1.
import { isIPv4 } from 'node:net';

export interface Block {
  /** The first address; its host bits are zero. */
  readonly first: number;
  /** Length of the network part, 0 to 32. */
  readonly length: number;
}

export function parseAddress(text: string): number | undefined {
  if (!isIPv4(text)) return undefined;
  let value = 0;
  for (const part of text.split('.')) value = value * 256 + Number(part);
  return value;
}

export function formatAddress(value: number): string {
  return `${value >>> 24}.${(value >>> 16) & 255}.${(value >>> 8) & 255}.${value & 255}`;
}

/** Whether it is an address that a host can have: not of this network, loopback, multicast or reserved. */
export function isOfHost(text: string): boolean {
  const first = (parseAddress(text) ?? 0) >>> 24;
  return first !== 0 && first !== 127 && first < 224;
}

/** Parses `a.b.c.d/n`. Undefined if it is malformed or has host bits. */
export function parseBlock(text: string): Block | undefined {
  const [address, length, ...rest] = text.split('/');
  const first = parseAddress(address ?? '');
  if (first === undefined || rest.length > 0 || !/^(0|[1-9]\d?)$/.test(length ?? '')) return undefined;
  const bits = Number(length);
  if (bits > 32 || first % 2 ** (32 - bits) !== 0) return undefined;
  return { first, length: bits };
}

/** The block around `a.b.c.d/n`, ignoring host bits. Undefined if it is not an IPv4 block. */
export function blockAround(text: string): Block | undefined {
  const [address = '', length = '', ...rest] = text.split('/');
  const value = parseAddress(address);
  if (value === undefined || rest.length > 0 || !/^(0|[1-9]\d?)$/.test(length) || Number(length) > 32)
    return undefined;
  const size = 2 ** (32 - Number(length));
  return { first: value - (value % size), length: Number(length) };
}

/** Number of addresses in a block. */
export function sizeOf(block: Block): number {
  return 2 ** (32 - block.length);
}

export function contains(block: Block, address: number): boolean {
  return address >= block.first && address < block.first + sizeOf(block);
}

/** Every address of a block `a.b.c.d/n`, in order. Throws a RangeError for a malformed block. */
export function expandBlock(text: string): string[] {
  const block = parseBlock(text);
  if (block === undefined) throw new RangeError(`not an IPv4 block: ${text}`);
  return Array.from({ length: sizeOf(block) }, (_, offset) => formatAddress(block.first + offset));
}
