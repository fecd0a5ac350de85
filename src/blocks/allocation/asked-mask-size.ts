// Sizes of blocks that labels of a Node ask for: a block that is bigger than those of the pool, by at most a factor of 16. Pure.
import { maxTogetherBits } from '../set/block-set.ts';
import { type Cidr, cidrText, type Family, familyNames } from '../set/cidr.ts';
import type { AskedMaskSizes, BlockCondition } from './block-holders.ts';

/** Labels of Nodes. */
export const maskSizeLabels = {
  ipv4: 'headwater/ipv4-mask-size',
  ipv6: 'headwater/ipv6-mask-size',
} as const satisfies Record<Family, string>;

const none: AskedMaskSizes = {};

/** `labelOf`: the value of a label of the Node. */
export function askedMaskSizes(labelOf: (name: string) => string | undefined): AskedMaskSizes {
  const [ipv4, ipv6] = [labelOf(maskSizeLabels.ipv4), labelOf(maskSizeLabels.ipv6)];
  if (ipv4 === undefined && ipv6 === undefined) return none;
  return { ...(ipv4 !== undefined && { ipv4 }), ...(ipv6 !== undefined && { ipv6 }) };
}

/** The size that a label asks for. */
export interface AskedMaskSize {
  readonly family: Family;
  /** The value of the label. */
  readonly text: string;
  /** The prefix length of blocks of the pool. */
  readonly usual: number;
  /** Undefined if the label asks for what cannot be. */
  readonly maskSize: number | undefined;
}

/** `text`: the value of the label. */
export function askedMaskSize(family: Family, text: string, usual: number): AskedMaskSize {
  const size = /^[1-9]\d{0,2}$/.test(text) ? Number(text) : Infinity;
  const isPossible = size <= usual && size >= minSize(usual);
  return { family, text, usual, maskSize: isPossible ? size : undefined };
}

function minSize(usual: number): number {
  return Math.max(1, usual - maxTogetherBits);
}

/** The labels cannot be followed: `isLacking` if the object gets no block because of that. */
export function impossibleSize(asked: AskedMaskSize, isLacking: boolean): BlockCondition {
  const { usual } = asked;
  const effect = isLacking ? 'it gets no block until then' : 'its pod CIDR stays as it is';
  return {
    reason: 'MaskSizeInvalid',
    message: `${labelOf(asked)}, and that must be a whole number from ${minSize(usual)} to ${usual}, the mask size of the pool: correct the label or remove it; ${effect}`,
  };
}

/** `moreBlocks`: how more blocks are added, worded to follow "or". `heldBy`: who has a large part. */
export function exhaustedSize(asked: AskedMaskSize, moreBlocks: string, heldBy = ''): BlockCondition {
  const { family, maskSize } = asked;
  return {
    reason: 'PodCIDRsExhausted',
    message: `no aligned ${familyNames[family]} block of /${maskSize} is free, and ${labelOf(asked)}${heldBy}: delete the objects of machines that are gone, or ${moreBlocks}, or remove the label`,
  };
}

/** `percent`: the most that bigger blocks have of the family. */
export function exhaustedShare(asked: AskedMaskSize, percent: number): BlockCondition {
  return {
    reason: 'PodCIDRsExhausted',
    message: `bigger ${familyNames[asked.family]} blocks have ${percent} percent of the pool, which is the most that they get, and ${labelOf(asked)}: remove the label, delete the objects of machines that are gone, or raise bigger-blocks-share`,
  };
}

/** The object has had a block of another size since before. `object`: what it is, in singular. */
export function ignoredSize(asked: AskedMaskSize, shown: Cidr, object: string): BlockCondition {
  return {
    reason: 'MaskSizeIgnored',
    message: `${labelOf(asked)}, and its pod CIDR ${cidrText(shown)} stays as it is, because pods may use it: drain this node, then delete its ${object} and let it register again, or set the label to ${shown.length} or remove it`,
  };
}

export function unknownNode(): BlockCondition {
  return {
    reason: 'NodeUnknown',
    message:
      'its Node has not been seen yet, and labels of it may ask for a bigger block: it gets one as soon as the Node is seen. If there is no such Node, delete the CiliumNode',
  };
}

const maxShownCharacters = 60;

function labelOf({ family, text }: AskedMaskSize): string {
  return `label ${maskSizeLabels[family]} of its Node is ${JSON.stringify(text.slice(0, maxShownCharacters))}`;
}
