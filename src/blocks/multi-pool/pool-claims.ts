// Finds the pools of which a node claims more blocks than it gets without a Node of its name. Pure.
import type { BlockCount } from '../allocation/shelf.ts';
import type { NodeClaims } from '../allocation/node-claims.ts';
import { isAmong } from '../set/cidr.ts';
import type { Known } from './known-pool-node.ts';
import { type PoolDefinition, usableAddresses } from './pool-definition.ts';
import type { PoolNodeHolder } from './pool-node-holder.ts';
import type { PoolWant } from './pool-want.ts';

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
