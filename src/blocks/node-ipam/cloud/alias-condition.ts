// Decides what is wrong with a Node whose pod CIDRs follow a cloud. Pure.
import type { ServiceFacts } from '../../allocation/allocation-policy.ts';
import { blockCondition, type BlockFacts } from '../../allocation/block-condition.ts';
import type { BlockCondition } from '../../allocation/block-holders.ts';
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

export interface AliasConditionFacts extends ServiceFacts, Pick<BlockFacts, 'absent' | 'holder' | 'shown'> {
  /** The last answer of the cloud, and what follows from it; undefined before the first answer. */
  readonly latest: LatestAlias | undefined;
  readonly plan: AliasPlan | undefined;
  /** A pod CIDR of it, or one that it would get, and another Node that has a part of it. */
  readonly conflict: { readonly cidr: Cidr; readonly other: string } | undefined;
  /** The same that overlaps the addresses of Services. */
  readonly reserved: Cidr | undefined;
}

/** So many reads without a result are met while a machine starts. */
const readsBeforeReport = 2;

/** The first thing that is wrong, in order of how much it explains; undefined if nothing is. */
export function aliasCondition(facts: AliasConditionFacts, words: AliasWords): BlockCondition | undefined {
  const { holder, shown, isWaiting, conflict, reserved } = facts;
  const hasBlocks = holder.blocks.length > 0;
  return (
    blockCondition(
      {
        holder,
        shown,
        conflict: hasBlocks ? conflict : undefined,
        outside: undefined,
        absent: isWaiting ? undefined : facts.absent,
        reserved: hasBlocks ? reserved : undefined,
        exhausted: [],
        refused: facts.refused,
        isPaused: facts.isPaused,
      },
      { object: 'Node', moreBlocks: '' },
    ) ?? (isWaiting ? (unusable(facts) ?? ofCloud(facts, words)) : undefined)
  );
}

function unusable({ conflict, reserved }: AliasConditionFacts): BlockCondition | undefined {
  const reason = 'PodCIDRConflict';
  if (conflict !== undefined)
    return {
      reason,
      message: `the cloud routes ${cidrText(conflict.cidr)} to it, which overlaps a pod CIDR of ${conflict.other}: delete that Node if its machine is gone`,
    };
  if (reserved === undefined) return undefined;
  return {
    reason,
    message: `the cloud routes ${cidrText(reserved)} to it, which overlaps the addresses of Services: remove it there and assign another one, or correct --service-cluster-ip-range`,
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
