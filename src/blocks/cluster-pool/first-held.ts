// CIDRs that objects had before this software first gave out blocks of its networks. Another program, or other mask sizes, gave
// them, so they are held whole. A CIDR of that size that appears later is a claim of the object's writer, and need not count.
// The Lease remembers what was there first. Pure.
import { isObject, listAt, objectIn } from '../../runtime/json.ts';
import type { BlockLedger } from '../allocation/block-ledger.ts';
import { type Cidr, cidrOf, cidrText, families } from '../set/cidr.ts';

/** The annotation of the Lease. */
export const firstHeldAnnotation = 'headwater/first-held';

/** A CIDR of an object that shows more than counts, and the uid of the object. */
export interface WideHolding {
  readonly uid: string;
  readonly cidr: Cidr;
}

/** A longer annotation is not written: everything counts as held before, then, at each start. */
const maxCharacters = 100_000;

/** `networks`: what blocks come from, and their sizes. `text`: the annotation. `wide`: what objects show now. */
export function firstHeld(
  networks: string,
  text: string | undefined,
  wide: readonly WideHolding[],
): readonly WideHolding[] {
  const { networks: before, held } = objectIn(text) ?? {};
  if (before !== networks || !isObject(held)) return wide;
  return wide.filter(({ uid, cidr }) => listAt(held, uid).includes(cidrText(cidr)));
}

/** The annotation; undefined if it would be too long. */
export function firstHeldText(networks: string, holdings: readonly WideHolding[]): string | undefined {
  const byUid = [...Map.groupBy(holdings, ({ uid }) => uid)];
  const held = Object.fromEntries(byUid.map(([uid, of]) => [uid, of.map(({ cidr }) => cidrText(cidr))]));
  const text = JSON.stringify({ networks, held });
  return text.length > maxCharacters ? undefined : text;
}

/** CIDRs that objects show and of which a part would not count. `most`: the most blocks of a family that an object may have. */
export function wideHoldings(
  holders: Iterable<{ readonly uid: string; readonly blocks: readonly string[] }>,
  ledger: Pick<BlockLedger, 'blocksIn'>,
  most: number,
): readonly WideHolding[] {
  return [...holders].flatMap(({ uid, blocks }) => {
    const cidrs = blocks.flatMap((text) => cidrOf(text) ?? []);
    return families.flatMap((family) => {
      const own = cidrs.filter((cidr) => cidr.family === family);
      const count = own.reduce((sum, cidr) => sum + ledger.blocksIn(cidr), 0);
      return count > most ? own.map((cidr) => ({ uid, cidr })) : [];
    });
  });
}
