// Decides what is wrong with a Node whose pod CIDRs follow a cloud. Pure.
import type { ServiceFacts } from '../../allocation/allocation-policy.ts';
import { blockCondition, type BlockFacts } from '../../allocation/block-condition.ts';
import type { BlockCondition } from '../../allocation/block-holders.ts';
import type { BlockConflict } from '../../allocation/seniority.ts';
import { type Cidr, cidrText, familyNames } from '../../set/cidr.ts';
import type { AliasPlan } from './alias-plan.ts';
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
