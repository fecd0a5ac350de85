// Chooses the address of a block that is the gateway of its pods. The gateway stays as long as one of these pods lives,
// and no pod ever gets its address. Pure.
import {
  type Address,
  addressText,
  type Cidr,
  cidrOf,
  contains,
  only,
  parseAddress,
  widthOf,
} from '../../blocks/set/cidr.ts';
import type { Holdings, Routers } from '../ipam/holdings.ts';

/**
 * The known router of the block, or the first usable address that nobody holds; undefined if pods of an earlier block
 * hold all.
 */
export function routerOf(
  block: Cidr,
  known: string | undefined,
  held: ReadonlySet<string>,
): bigint | undefined {
  const { family, base, length } = block;
  const before = parseAddress(known ?? '');
  if (known !== undefined && before?.family === family && !held.has(known)) return before.value;
  const size = 1n << BigInt(widthOf[family] - length);
  // A block of two addresses or fewer has no unusable first and last address.
  const [first, last] = size > 2n ? [base + 1n, base + size - 2n] : [base, base + size - 1n];
  for (let value = first; value <= last; value++) if (!held.has(addressText({ family, value }))) return value;
  return undefined;
}

/** The routers of blocks of which an address is still held. */
export function routersInUse(routers: Routers, held: ReadonlySet<string>): Routers {
  const addresses = [...held].flatMap((ip) => parseAddress(ip) ?? []);
  const isInUse = (text: string): boolean => {
    const block = cidrOf(text);
    return block !== undefined && addresses.some((address) => contains(block, only(address)));
  };
  return Object.fromEntries(Object.entries(routers).filter(([block]) => isInUse(block)));
}

/** The gateways that living pods may have, whatever the mode was in which they got them. */
export function gatewaysInUse(holdings: Holdings): readonly Address[] {
  const held = new Set(Array.from(holdings.held(), ({ ip }) => ip));
  return Object.values(routersInUse(holdings.routers, held)).flatMap((ip) => parseAddress(ip) ?? []);
}
