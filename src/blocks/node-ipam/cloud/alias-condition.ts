// Decides what a Node whose pod CIDRs follow a cloud gets, and what is wrong with it. Pure.
import type { ServiceFacts } from '../../allocation/allocation-policy.ts';
import { blockCondition, type BlockFacts } from '../../allocation/block-condition.ts';
import type { BlockCondition } from '../../allocation/block-holders.ts';
import type { BlockConflict } from '../../allocation/seniority.ts';
import {
  type Cidr,
  cidrText,
  families as allFamilies,
  type Family,
  familyNames,
  isSame,
} from '../../set/cidr.ts';
import type { LatestAlias } from './alias-reads.ts';

/** The name of the cloud for a block that it routes to an instance, and how one is added. */
export interface AliasWords {
  /** In singular. */
  readonly alias: string;
  /** The instance that has it, worded to begin a sentence. */
  readonly carrier: string;
  /** The remedy where there is none. */
  readonly remedy: string;
}

export interface AliasConditionFacts extends Pick<BlockFacts, 'absent' | 'holder' | 'shown'> {
  /** The last answer of the cloud, and what follows from it; undefined before the first answer. */
  readonly latest: LatestAlias | undefined;
  readonly plan: AliasPlan | undefined;
  readonly obstacle: AliasObstacle | undefined;
  readonly service: ServiceFacts;
}

/** Why a CIDR cannot be the pod CIDR of a Node: another Node has a part of it, or it overlaps the addresses of Services. */
export type AliasObstacle =
  | ({ readonly kind: 'conflict' } & BlockConflict)
  | { readonly kind: 'reserved'; readonly cidr: Cidr };

/** So many reads without a result are met while a machine starts. */
const readsBeforeReport = 2;

/** The first thing that is wrong, in order of how much it explains; undefined if nothing is. */
export function aliasCondition(facts: AliasConditionFacts, words: AliasWords): BlockCondition | undefined {
  const { holder, shown, service, obstacle } = facts;
  const { isWaiting } = service;
  const misplaced = holder.blocks.length > 0 ? obstacle : undefined;
  return (
    blockCondition(
      {
        holder,
        shown,
        placement: {
          conflict: misplaced?.kind === 'conflict' ? misplaced : undefined,
          reserved: misplaced?.kind === 'reserved' ? misplaced.cidr : undefined,
        },
        absent: isWaiting ? undefined : facts.absent,
        service,
      },
      { object: 'Node', moreBlocks: '' },
    ) ?? (isWaiting ? (unusable(facts) ?? ofCloud(facts, words)) : undefined)
  );
}

function unusable({ obstacle }: AliasConditionFacts): BlockCondition | undefined {
  const reason = 'PodCIDRConflict';
  if (obstacle?.kind === 'conflict')
    return {
      reason,
      message: `the cloud routes ${cidrText(obstacle.cidr)} to it, which overlaps a pod CIDR of ${obstacle.other}: delete that Node if its machine is gone`,
    };
  if (obstacle === undefined) return undefined;
  return {
    reason,
    message: `the cloud routes ${cidrText(obstacle.cidr)} to it, which overlaps the addresses of Services: remove it there and assign another one, or correct --service-cluster-ip-range`,
  };
}

function ofCloud({ latest, plan }: AliasConditionFacts, words: AliasWords): BlockCondition | undefined {
  if (latest === undefined) return undefined;
  const { reading, reads } = latest;
  const isKnownSoon = reads < readsBeforeReport;
  if (reading.kind !== 'read') {
    const { kind, reason, message } = reading;
    return isKnownSoon && kind !== 'refused' ? undefined : { reason, message };
  }
  return ofPlan(plan, words, isKnownSoon);
}

function ofPlan(
  plan: AliasPlan | undefined,
  { carrier, alias, remedy }: AliasWords,
  isKnownSoon: boolean,
): BlockCondition | undefined {
  if (plan?.kind === 'mismatch') return mismatch(plan);
  if (plan?.kind !== 'missing' || isKnownSoon) return undefined;
  const what = plan.family === undefined ? alias : `${familyNames[plan.family]} ${alias}`;
  return { reason: 'AliasMissing', message: `${carrier} has no ${what}: ${remedy}` };
}

/** CIDRs that one text names. */
const maxNamed = 4;

function mismatch({ cidr, routed }: AliasPlan & { readonly kind: 'mismatch' }): BlockCondition {
  const named = routed.slice(0, maxNamed).map(cidrText).join(', ');
  const more = routed.length > maxNamed ? ' and others' : '';
  const instead = routed.length === 0 ? 'nothing' : `${named}${more}`;
  return {
    reason: 'PodCIDRMismatch',
    message: `the cloud routes ${instead} to it, and not its pod CIDR ${cidrText(cidr)}. The API server never lets a pod CIDR change: assign that one there, or drain the node, delete the Node and let it register again`,
  };
}

export interface AliasFacts {
  /** The pod CIDRs of the Node. */
  readonly shown: readonly Cidr[];
  /** CIDRs that the cloud routes to its instance, in the order of the cloud. */
  readonly aliases: readonly Cidr[];
  /** The families that a Node has to have, the primary one first; empty if those count that the cloud routes. */
  readonly families: readonly Family[];
}

export type AliasPlan =
  /** The Node gets these as its pod CIDRs. */
  | { readonly kind: 'assign'; readonly cidrs: readonly Cidr[] }
  /** The pod CIDRs of the Node are routed to it. */
  | { readonly kind: 'confirm' }
  /** The cloud routes nothing to it, or nothing of a family; `undefined` for nothing at all. */
  | { readonly kind: 'missing'; readonly family: Family | undefined }
  /** The pod CIDR of the Node is not routed to it, and cannot be changed. */
  | { readonly kind: 'mismatch'; readonly cidr: Cidr; readonly routed: readonly Cidr[] };

/** A Node gets one pod CIDR a family, the first one that the cloud shows, and can never get one of another family later. */
export function aliasPlan({ shown, aliases, families }: AliasFacts): AliasPlan {
  if (shown.length > 0) {
    const stray = shown.find((cidr) => !aliases.some((alias) => isSame(alias, cidr)));
    return stray === undefined ? { kind: 'confirm' } : { kind: 'mismatch', cidr: stray, routed: aliases };
  }
  if (aliases.length === 0) return { kind: 'missing', family: undefined };
  const firstOf = (family: Family): Cidr | undefined => aliases.find((alias) => alias.family === family);
  const missing = families.find((family) => firstOf(family) === undefined);
  if (missing !== undefined) return { kind: 'missing', family: missing };
  const order = families.length === 0 ? allFamilies : families;
  return { kind: 'assign', cidrs: order.flatMap((family) => firstOf(family) ?? []) };
}
