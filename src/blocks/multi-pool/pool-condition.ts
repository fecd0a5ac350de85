// Decides what is wrong with the blocks of a CiliumNode in the mode multi-pool, and what to do. Pure.
import type { ServiceFacts } from '../allocation/allocation-policy.ts';
import { heldBy } from '../allocation/block-condition.ts';
import type { BlockCondition, BlockReason } from '../allocation/block-holders.ts';
import { type NodeClaims, unconfirmed } from '../allocation/node-claims.ts';
import { cidrText, familyNames, isAmong } from '../set/cidr.ts';
import { namedPods } from '../../kubernetes/watch/shown-pods.ts';
import type { DropLook } from './block-returns.ts';
import type { ListedBlock, PoolState } from './pool-book.ts';
import { type PoolNodeHolder, repeatedBlock } from './pool-node-holder.ts';
import type { PoolWant } from './pool-want.ts';
import type { BlockCount } from '../allocation/shelf.ts';
import type { Known } from './known-pool-node.ts';
import { type PoolDefinition, usableAddresses } from './pool-definition.ts';

/** `unchanged`: its last change is refused, and it serves as before. */
export type PoolStanding =
  | { readonly kind: 'missing' | 'works' }
  | { readonly kind: 'stopped' | 'unchanged'; readonly problem: string };

/** Undefined for a pool that is not there. */
export function standingOf(state: PoolState | undefined): PoolStanding {
  if (state === undefined) return { kind: 'missing' };
  const { definition, problem } = state;
  if (problem === undefined) return { kind: 'works' };
  return { kind: definition === undefined ? 'stopped' : 'unchanged', problem };
}

export interface PoolFacts {
  readonly holder: PoolNodeHolder;
  readonly faults: PoolBlockFaults;
  readonly shortage: PoolShortage;
  readonly claims: PoolClaims;
  /** Addresses that pods show of blocks that its agent no longer lists; undefined without such blocks. */
  readonly look: DropLook | undefined;
  readonly service: Pick<ServiceFacts, 'refused' | 'isPaused'>;
}

/** Faults of blocks that a node has. */
export interface PoolBlockFaults {
  /** Why its blocks of cluster-pool cannot move to the default pool. */
  readonly unmoved: string | undefined;
  /** A block that an older node holds too, in part or whole. */
  readonly conflict: (ListedBlock & { readonly other: string }) | undefined;
  /** Blocks of pools that do not have them any longer. */
  readonly orphans: readonly ListedBlock[];
}

/** Blocks that a node lacks and cannot get now, and why. */
export interface PoolShortage {
  readonly wants: readonly PoolWant[];
  /** How many CIDRs its list may have, if it has as many. */
  readonly maxCidrs: number | undefined;
  readonly standingOf: (pool: string) => PoolStanding;
  /** Names of nodes that hold a large part of a pool. */
  readonly largestOf: (want: PoolWant) => readonly string[];
}

/** Pools or blocks that one text names. */
const maxNamed = 5;

/** Everything that is wrong, with the reason of what explains most; undefined if nothing is. */
export function poolCondition(facts: PoolFacts): BlockCondition | undefined {
  const found = [
    ...ofObject(facts),
    ...ofClaims(facts),
    ...ofRepeated(facts),
    ...ofService(facts),
    ...ofDropped(facts),
    ...ofOrphans(facts),
    ...ofExcess(facts),
  ];
  const [first] = found;
  if (first === undefined) return undefined;
  return { reason: first.reason, message: found.map(({ message }) => message).join('. ') };
}

function say(reason: BlockReason, message: string): readonly BlockCondition[] {
  return [{ reason, message }];
}

function ofObject({ holder, faults: { conflict, unmoved } }: PoolFacts): readonly BlockCondition[] {
  const unread = [holder.requestProblem, holder.problem].flatMap((problem) =>
    problem === undefined ? [] : say('PodCIDRUnreadable', `${problem}: correct the CiliumNode`),
  );
  if (unmoved !== undefined)
    return [...unread, ...say('PodCIDROutsidePools', `migration to multi-pool IPAM failed: ${unmoved}`)];
  if (conflict === undefined) return unread;
  const { cidr, pool, other } = conflict;
  return [
    ...unread,
    ...say(
      'PodCIDRConflict',
      `its block ${cidrText(cidr)} of pool ${pool} overlaps one of ${other}, which is older. Both keep it, because pods may use it: drain this node, then delete its CiliumNode and let it register again`,
    ),
  ];
}

function ofClaims({ claims: { bound, unconfirmed: pools } }: PoolFacts): readonly BlockCondition[] {
  if (pools.size === 0) return [];
  return [unconfirmed(bound, `blocks of ${inWords(pools)}`, 'lists or asks for')];
}

function ofRepeated({ holder }: PoolFacts): readonly BlockCondition[] {
  const repeated = repeatedBlock(holder);
  if (repeated === undefined) return [];
  const { within, ...block } = repeated;
  return say(
    'PodCIDRConflict',
    `its list has ${named(block)} beside ${named(within)}, so its agent may give two pods one address: remove one of both from spec.ipam.pools.allocated, and restart its Cilium agent`,
  );
}

function named({ pool, cidr }: ListedBlock): string {
  return `${cidrText(cidr)} of pool ${pool}`;
}

function ofExcess({ claims: { bound, excessive } }: PoolFacts): readonly BlockCondition[] {
  if (excessive.size === 0) return [];
  return say(
    'BlocksExcessive',
    `it has more blocks of ${inWords(excessive)} than it asks for, by more than ${bound}. It keeps them, because pods may use them: restart its Cilium agent, which returns what it does not need, or drain the node and delete its CiliumNode`,
  );
}

function inWords(pools: ReadonlySet<string>): string {
  const named = [...pools].slice(0, maxNamed);
  const more = pools.size > named.length ? ' and others' : '';
  return `${named.length > 1 ? 'each of the pools' : 'pool'} ${named.join(', ')}${more}`;
}

function ofService({ service, shortage, claims }: PoolFacts): readonly BlockCondition[] {
  const { refused, isPaused } = service;
  const { wants, standingOf, largestOf, maxCidrs } = shortage;
  if (isPaused)
    return say(
      'AllocatorConflict',
      'another program gives out blocks to CiliumNodes, so Headwater gives out none until it has been quiet for 5 min: run one allocator only',
    );
  if (refused !== undefined) return say('WriteRefused', `its blocks cannot be written: ${refused}`);
  // Why it gets no more of the others is said already.
  const waiting = wants.map(({ pool }) => pool).filter((pool) => !claims.unconfirmed.has(pool));
  const pools = [...new Set(waiting)].slice(0, maxNamed);
  return pools.map((pool) => {
    const own = wants.filter((want) => want.pool === pool);
    const families = own.map(({ family }) => familyNames[family]).join(' and ');
    const standing = standingOf(pool);
    const hasBlocks = standing.kind === 'works' || standing.kind === 'unchanged';
    if (hasBlocks && maxCidrs !== undefined) return tooMany(maxCidrs);
    const largest = [...new Set(own.flatMap(largestOf))];
    return unserved(pool, `${families} block of pool ${pool} is free${heldBy(largest)}`, standing);
  });
}

function ofDropped({ look }: PoolFacts): readonly BlockCondition[] {
  if (look?.problem !== undefined)
    return say(
      'PodsUnreadable',
      `the pods of this node cannot be read, so the blocks that its agent no longer lists stay its own: ${look.problem}`,
    );
  if (look === undefined || look.kept.length === 0) return [];
  return say(
    'ReleasedAddressesInUse',
    `its agent no longer lists blocks of which running pods have addresses: ${namedPods(look.kept)}. No other node gets them before the pods are gone: restart the Cilium agent of this node, or delete the pods`,
  );
}

function tooMany(maxCidrs: number): BlockCondition {
  return {
    reason: 'PoolExhausted',
    message: `its list has ${maxCidrs} CIDRs, which is the maximum: create pools with bigger blocks, a smaller maskSize`,
  };
}

function unserved(pool: string, nothing: string, standing: PoolStanding): BlockCondition {
  if (standing.kind === 'missing')
    return {
      reason: 'PoolMissing',
      message: `its agent asks pool ${pool} for addresses, and there is no CiliumPodIPPool of that name: create it, or correct what names it`,
    };
  if (standing.kind === 'stopped')
    return {
      reason: 'PoolInvalid',
      message: `pool ${pool} gives out no blocks until it is corrected: ${standing.problem}`,
    };
  return {
    reason: 'PoolExhausted',
    message: `no ${nothing}: add a network to the pool, or delete the CiliumNodes of machines that are gone${refusedChange(standing)}`,
  };
}

function refusedChange(standing: PoolStanding): string {
  return standing.kind === 'unchanged'
    ? `. Its last change is refused until it is corrected: ${standing.problem}`
    : '';
}

function ofOrphans({ faults: { orphans } }: PoolFacts): readonly BlockCondition[] {
  if (orphans.length === 0) return [];
  const some = orphans.slice(0, maxNamed).map(named);
  const more = orphans.length > some.length ? ' and others' : '';
  return say(
    'BlockOrphaned',
    `it has ${some.join(', ')}${more}, which the pool does not have any longer. It keeps them until its agent returns them: restart the pods that use them, or bring the network of the pool back`,
  );
}

export interface PoolClaims {
  /** The most blocks of a pool and family that a node has without a Node. */
  readonly bound: number;
  /** Pools of which the node does not hold all blocks that it lists, or gets no more. */
  readonly unconfirmed: ReadonlySet<string>;
  /** Pools of which the node has more than `bound` blocks beyond what it asks for. */
  readonly excessive: ReadonlySet<string>;
}

export interface ClaimFacts {
  readonly claims: Pick<NodeClaims, 'bound' | 'room'>;
  /** Blocks that the node holds. */
  readonly counts: readonly BlockCount[];
  /** Blocks that the node lacks. */
  readonly wants: readonly PoolWant[];
  readonly definitionOf: (pool: string) => PoolDefinition | undefined;
}

/** Finds the pools of which a node claims more blocks than it gets without a Node of its name. */
export function poolClaims(
  { holder, listed, unconfirmed }: Pick<Known, 'holder' | 'listed' | 'unconfirmed'>,
  { claims, counts, wants, definitionOf }: ClaimFacts,
): PoolClaims {
  const { bound } = claims;
  const above = listed.filter(({ cidr }) => isAmong(unconfirmed, cidr));
  const full = wants.filter((want) => claims.room(holder, want) === 0);
  const excessive = counts.filter(
    (count) =>
      count.blocks > bound && count.blocks > bound + blocksAsked(holder, count, definitionOf(count.pool)),
  );
  return {
    bound,
    unconfirmed: new Set([...above, ...full].map(({ pool }) => pool)),
    excessive: new Set(excessive.map(({ pool }) => pool)),
  };
}

/** How many blocks hold what an agent asks of a pool, for one family. */
function blocksAsked(
  { requested }: Pick<PoolNodeHolder, 'requested'>,
  { pool, family }: Pick<PoolWant, 'family' | 'pool'>,
  definition: PoolDefinition | undefined,
): number {
  const [rules, asked] = [definition?.[family], requested.find((each) => each.pool === pool)];
  if (rules === undefined || asked === undefined) return 0;
  return Math.ceil(asked[family] / usableAddresses({ family, length: rules.maskSize }, rules));
}
