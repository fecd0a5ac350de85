// Decides what an object shows of its blocks, and what is wrong with them. Pure.
import { type Cidr, type Family, type CidrReading, cidrText, familyNames, parseCidr } from '../set/cidr.ts';
import {
  type AskedMaskSize,
  exhaustedShare,
  exhaustedSize,
  ignoredSize,
  impossibleSize,
  unknownNode,
} from './asked-mask-size.ts';
import type { ServiceFacts } from './allocation-policy.ts';
import type { BlockCondition, Holder } from './block-holders.ts';
import { unconfirmed } from './node-claims.ts';
import type { BlockConflict } from './seniority.ts';

/** The blocks of an object, read. */
export interface ShownBlocks {
  /** Valid ones, without host bits, in the order shown. */
  readonly cidrs: readonly Cidr[];
  /** The first text that is no CIDR, and why it is none. */
  readonly unreadable: { readonly text: string; readonly why: string } | undefined;
}

/** The most CIDRs of one object that count. An agent uses one of each family. */
export const maxBlocksShown = 16;

const maxShownCharacters = 60;

export function shownBlocks({ blocks }: Pick<Holder, 'blocks'>): ShownBlocks {
  const readings = blocks.slice(0, maxBlocksShown).map((text) => [text, parseCidr(text)] as const);
  const bad = readings.find(
    (each): each is readonly [string, CidrReading & { kind: 'invalid' }] => each[1].kind === 'invalid',
  );
  return {
    cidrs: readings.flatMap(([, reading]) => (reading.kind === 'cidr' ? [reading.cidr] : [])),
    unreadable: bad && { text: bad[0].slice(0, maxShownCharacters), why: bad[1].why },
  };
}

/** Faults that an object may have, as the ledger shows them. */
export interface BlockFacts {
  readonly holder: Holder;
  readonly shown: ShownBlocks;
  readonly placement: BlockPlacement;
  /** A family of which it has no block, and can get none any more. */
  readonly absent?: Family | undefined;
  /** Default: it lacks nothing. */
  readonly shortage?: BlockShortage;
  /** Sizes that its Node asks for, although it has a block of the family. */
  readonly askedLate?: readonly AskedMaskSize[];
  readonly claims?: BlockClaims;
  readonly service: Pick<ServiceFacts, 'refused' | 'isPaused'>;
}

/** Faults in where the CIDRs of an object lie: the first CIDR that has each. */
export interface BlockPlacement {
  /** A CIDR that an older object holds too, in part or whole. */
  readonly conflict: BlockConflict | undefined;
  /** A CIDR that takes no block of a pool. */
  readonly outside?: Cidr | undefined;
  /** A CIDR that is kept for something else. */
  readonly reserved: Cidr | undefined;
}

/** Blocks that an object lacks, and why it does not get them. */
export interface BlockShortage {
  /** Families of which no block is free. */
  readonly exhausted: readonly Family[];
  /** Names of objects that hold a large part of these. */
  readonly largest?: readonly string[];
  /** Sizes that its Node asks for, of the families that it lacks. */
  readonly asked?: readonly AskedMaskSize[] | 'unknown';
  /** A size that its Node asks for of a family of which bigger blocks have as much as they may, in percent. */
  readonly fullShare?: { readonly asked: AskedMaskSize; readonly percent: number } | undefined;
}

/** How many blocks an object claims, against the most that one without a Node has. */
export interface BlockClaims {
  readonly bound: number;
  /** Whether the object shows more, and has no Node. */
  readonly isUnconfirmed: boolean;
  /** Whether the object holds more. */
  readonly isExcessive: boolean;
}

/** Words of the texts. */
export interface BlockWords {
  /** How more blocks are added, worded to follow "or". */
  readonly moreBlocks: string;
  /** The object, in singular. */
  readonly object: 'CiliumNode' | 'Node';
}

/** The first thing that is wrong, in order of how much it explains; undefined if nothing is. */
export function blockCondition(facts: BlockFacts, words: BlockWords): BlockCondition | undefined {
  return (
    unreadable(facts, words) ??
    unclaimed(facts) ??
    misplaced(facts, words) ??
    unserved(facts, words) ??
    excessive(facts) ??
    incomplete(facts, words) ??
    askedTooLate(facts, words) ??
    unused(facts, words)
  );
}

function unreadable({ holder, shown }: BlockFacts, { object }: BlockWords): BlockCondition | undefined {
  const reason = 'PodCIDRUnreadable';
  if (holder.problem !== undefined) return { reason, message: `${holder.problem}: correct the ${object}` };
  if (holder.blocks.length > maxBlocksShown)
    return {
      reason,
      message: `it shows more than ${maxBlocksShown} pod CIDRs, and only the first ones count: remove all but one of each family`,
    };
  if (shown.unreadable === undefined) return undefined;
  const { text, why } = shown.unreadable;
  return {
    reason,
    message: `its pod CIDR ${JSON.stringify(text)} cannot be read because ${why}: it keeps its blocks and gets no others until the ${object} is corrected or deleted`,
  };
}

function unclaimed({ claims }: BlockFacts): BlockCondition | undefined {
  return claims?.isUnconfirmed === true
    ? unconfirmed(claims.bound, 'blocks of a family', 'shows')
    : undefined;
}

function misplaced(
  { placement: { conflict, outside, reserved } }: BlockFacts,
  { object }: BlockWords,
): BlockCondition | undefined {
  if (conflict !== undefined)
    return {
      reason: 'PodCIDRConflict',
      message: `its pod CIDR ${cidrText(conflict.cidr)} overlaps that of ${conflict.other}, which is older. Both keep it, because pods may use it: drain this node, then delete its ${object} and let it register again`,
    };
  if (outside !== undefined)
    return {
      reason: 'PodCIDROutsidePools',
      message: `its pod CIDR ${cidrText(outside)} is in no pool, or larger than a block may be. It keeps it, because pods may use it: add its network to the options, or drain the node and delete its ${object}`,
    };
  if (reserved === undefined) return undefined;
  return {
    reason: 'PodCIDRConflict',
    message: `its pod CIDR ${cidrText(reserved)} overlaps the addresses of Services. It keeps it, because pods may use it: drain this node, then delete its ${object} and let it register again`,
  };
}

function excessive({ claims }: BlockFacts): BlockCondition | undefined {
  if (claims?.isExcessive !== true) return undefined;
  return {
    reason: 'BlocksExcessive',
    message: `it has more than ${claims.bound} blocks of one family, and a node needs one. It keeps them, because pods may use them: drain this node, then delete its CiliumNode and let it register again, or raise max-blocks-without-node`,
  };
}

/** The first family of which an object whose blocks never change shows none. */
export function absentFamily(
  families: readonly Family[],
  { cidrs, unreadable }: ShownBlocks,
): Family | undefined {
  if (cidrs.length === 0 || unreadable !== undefined) return undefined;
  return families.find((family) => cidrs.every((cidr) => cidr.family !== family));
}

function incomplete({ absent }: BlockFacts, { object }: BlockWords): BlockCondition | undefined {
  if (absent === undefined) return undefined;
  const name = familyNames[absent];
  return {
    reason: 'PodCIDRIncomplete',
    message: `it has no ${name} pod CIDR, and the API server accepts none later: pods of this node get no ${name} address. Drain this node, then delete its ${object} and let it register again`,
  };
}

/** Agents take addresses from one block of each family. The others are held, and no pod gets an address of them. */
function unused({ shown: { cidrs } }: BlockFacts, { object }: BlockWords): BlockCondition | undefined {
  const idle = cidrs.filter((cidr) => cidrs.find(({ family }) => family === cidr.family) !== cidr);
  if (idle.length === 0) return undefined;
  return {
    reason: 'PodCIDRUnused',
    message: `its agent uses the first pod CIDR of each family: remove ${idle.map(cidrText).join(', ')} once no pod of this node has an address of it, or drain the node and delete its ${object}`,
  };
}

function unserved(facts: BlockFacts, words: BlockWords): BlockCondition | undefined {
  const { refused, isPaused } = facts.service;
  const { object } = words;
  if (isPaused)
    return {
      reason: 'AllocatorConflict',
      message: `another program gives out blocks to ${object}s, so Headwater gives out none until it has been quiet for 5 min: run one allocator only`,
    };
  if (refused !== undefined)
    return { reason: 'WriteRefused', message: `its block cannot be written: ${refused}` };
  return facts.shortage && unanswered(facts.shortage, words);
}

/** A size that it asks for cannot be, or nothing of that size is free. */
function unanswered(
  { exhausted, largest = [], asked = [], fullShare }: BlockShortage,
  words: BlockWords,
): BlockCondition | undefined {
  if (asked === 'unknown') return unknownNode();
  const impossible = asked.find(({ maskSize }) => maskSize === undefined);
  if (impossible !== undefined) return impossibleSize(impossible, true);
  if (exhausted.length === 0) return undefined;
  if (fullShare !== undefined) return exhaustedShare(fullShare.asked, fullShare.percent);
  const bigger = asked.find(
    ({ family, maskSize, usual }) => exhausted.includes(family) && maskSize !== usual,
  );
  if (bigger !== undefined) return exhaustedSize(bigger, words.moreBlocks, heldBy(largest));
  const names = exhausted.map((family) => familyNames[family]).join(' and ');
  return {
    reason: 'PodCIDRsExhausted',
    message: `no ${names} block is free${heldBy(largest)}: delete the objects of machines that are gone, or ${words.moreBlocks}`,
  };
}

/** Who has so much that nothing is left, worded to follow what is exhausted. */
export function heldBy(names: readonly string[]): string {
  const last = names.at(-1);
  if (last === undefined) return '';
  const before = names.slice(0, -1).join(', ');
  return `, and ${before === '' ? last : `${before} and ${last}`} hold${before === '' ? 's' : ''} a large part`;
}

/** A block that an object has is never changed. */
function askedTooLate({ shown, askedLate = [] }: BlockFacts, words: BlockWords): BlockCondition | undefined {
  for (const asked of askedLate) {
    if (asked.maskSize === undefined) return impossibleSize(asked, false);
    const own = shown.cidrs.find(({ family }) => family === asked.family);
    if (own !== undefined && own.length !== asked.maskSize) return ignoredSize(asked, own, words.object);
  }
  return undefined;
}
