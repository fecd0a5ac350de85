// Addresses that an agent asks of a pool and has no block for. Pure.
import type { Family } from '../set/cidr.ts';
import type { ListedBlock } from './pool-book.ts';
import { type PoolDefinition, usableAddresses } from './pool-definition.ts';
import { outermost, type PoolNodeHolder } from './pool-node-holder.ts';

/** Addresses of a pool. */
export interface PoolWant {
  readonly pool: string;
  readonly family: Family;
  readonly addresses: number;
}

/** `asked`: all that it asks for. Empty if it has as many, or can get none. */
export function wantOf(
  { listed, holder }: { readonly listed: readonly ListedBlock[]; readonly holder: PoolNodeHolder },
  { pool, family, addresses }: PoolWant,
  definition: PoolDefinition | undefined,
): readonly PoolWant[] {
  // A pool of one family serves nodes of both: they get what there is.
  if (definition !== undefined && definition[family] === undefined) return [];
  const ofPool = listed.filter((each) => each.pool === pool && each.cidr.family === family);
  // An address of two blocks serves one pod. A larger block of another pool takes none: all that the node is given could be in it.
  const own = outermost(ofPool);
  // The agent knows of the ends of blocks what its list says.
  const { allowFirstIp = false, allowLastIp = false } =
    holder.allocated.find((entry) => entry.pool === pool) ?? {};
  const ends = { allowFirstIp, allowLastIp };
  const usable = own.reduce((sum, { cidr }) => sum + usableAddresses(cidr, ends), 0);
  return usable >= addresses ? [] : [{ pool, family, addresses: addresses - usable }];
}
