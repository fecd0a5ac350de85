// Blocks that deleted CiliumNodes left and pods use, for the next leader: the Lease remembers them. No object shows them. Pure.
import { listAt, objectIn } from '../../runtime/json.ts';
import { type Cidr, cidrOf, cidrText } from '../set/cidr.ts';

/** The annotation of the Lease. */
export const leftAnnotation = 'headwater/left-blocks';

export interface LeftBlock {
  /** The name of the node. */
  readonly name: string;
  readonly cidr: Cidr;
}

/** A longer annotation is not written. */
const maxCharacters = 100_000;

/** Undefined if there is nothing to remember, or too much. */
export function leftText(blocks: Iterable<LeftBlock>): string | undefined {
  const byName = new Map<string, string[]>();
  for (const { name, cidr } of blocks) byName.set(name, [...(byName.get(name) ?? []), cidrText(cidr)]);
  const text = JSON.stringify(Object.fromEntries(byName));
  return byName.size === 0 || text.length > maxCharacters ? undefined : text;
}

export function leftIn(text: string | undefined): readonly LeftBlock[] {
  const left = objectIn(text) ?? {};
  return Object.keys(left).flatMap((name) =>
    listAt(left, name).flatMap((each) => {
      const cidr = typeof each === 'string' ? cidrOf(each) : undefined;
      return cidr === undefined ? [] : [{ name, cidr }];
    }),
  );
}
