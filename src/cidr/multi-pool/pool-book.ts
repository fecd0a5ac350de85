// Which pools count, and what is wrong with the others. A pool is checked whole before anything of it holds. A wrong change is
// refused whole, and what the pool was before stays in force: it serves on. What nodes list is no reason to refuse a network, or
// one line in one object could stop every pool.
import type { CiliumPodIpPool } from '../../kubernetes/ciliumpodippool/cilium-pod-ip-pool.ts';
import type { PoolCidr } from '../allocation/block-ledger.ts';
import { type Cidr, cidrText, families, overlaps } from '../set/cidr.ts';
import { type FamilyRules, type PoolDefinition, readPool } from './pool-definition.ts';

/** A block that a node has under the name of a pool. */
export interface ListedBlock {
  readonly pool: string;
  readonly cidr: Cidr;
}

/** What nodes have, for a check. */
export interface HeldBlocks {
  /** Whether any node has a block of the pool. */
  isUsed(pool: string): boolean;
}

/** A pool as it stands. */
export interface PoolState {
  readonly raw: CiliumPodIpPool;
  /** What is in force; undefined if nothing ever was. */
  readonly definition: PoolDefinition | undefined;
  /** Why its newest form is not in force, and what to do; undefined if it is. */
  readonly problem: string | undefined;
}

export class PoolBook {
  readonly #held: HeldBlocks;
  readonly #pools = new Map<string, PoolState>();

  constructor(held: HeldBlocks) {
    this.#held = held;
  }

  get(name: string): PoolState | undefined {
    return this.#pools.get(name);
  }

  states(): Iterable<PoolState> {
    return this.#pools.values();
  }

  get hasProblems(): boolean {
    for (const { problem } of this.#pools.values()) if (problem !== undefined) return true;
    return false;
  }

  /** The networks in force. No two overlap. */
  cidrs(): readonly PoolCidr[] {
    return [...this.#pools.values()].flatMap(({ definition }) => definition?.cidrs ?? []);
  }

  /** Takes in a pool as it is now. */
  set(raw: CiliumPodIpPool): void {
    const known = this.#pools.get(raw.name);
    // Another pool of the same name owes the blocks of the one before nothing.
    const before = known?.raw.uid === raw.uid ? known.definition : undefined;
    this.#pools.set(raw.name, this.#judge(raw, before));
  }

  delete(name: string): void {
    this.#pools.delete(name);
  }

  /** Judges again every pool with a problem: what was in its way may be gone. Returns whether the networks in force changed. */
  recheck(): boolean {
    let isChanged = false;
    for (const { raw, definition, problem } of this.#pools.values()) {
      if (problem === undefined) continue;
      const next = this.#judge(raw, definition);
      this.#pools.set(raw.name, next);
      isChanged ||= next.problem === undefined;
    }
    return isChanged;
  }

  #judge(raw: CiliumPodIpPool, before: PoolDefinition | undefined): PoolState {
    const reading = readPool(raw);
    if (reading.kind === 'invalid') return { raw, definition: before, problem: reading.why };
    const { pool } = reading;
    const problem = this.#reshaping(pool, before) ?? this.#overlap(pool);
    return { raw, definition: problem === undefined ? pool : before, problem };
  }

  /** Nodes count with the size of the blocks that they have. */
  #reshaping(pool: PoolDefinition, before: PoolDefinition | undefined): string | undefined {
    if (before === undefined || !this.#held.isUsed(pool.name)) return undefined;
    for (const family of families) {
      const [now, earlier] = [pool[family], before[family]];
      if (now === undefined || earlier === undefined) continue;
      if (now.maskSize !== earlier.maskSize)
        return `spec.${family}.maskSize changed from ${earlier.maskSize} to ${now.maskSize} while nodes have blocks of it: set it back, and create another pool`;
      const end = changedEnd(now, earlier);
      if (end !== undefined)
        return `spec.${end} while nodes have blocks of it: set it back, and create another pool`;
    }
    return undefined;
  }

  #overlap(pool: PoolDefinition): string | undefined {
    for (const [name, { definition }] of this.#pools) {
      if (name === pool.name) continue;
      const other = firstOverlap(pool.cidrs, definition?.cidrs ?? []);
      if (other !== undefined)
        return `${namedOf(other.own)} overlaps ${cidrText(other.their)} of pool ${name}: remove it from one of them`;
    }
    return undefined;
  }
}

function namedOf(cidr: Cidr): string {
  return `${cidrText(cidr)} of spec.${cidr.family}.cidrs`;
}

function changedEnd(now: FamilyRules, earlier: FamilyRules): string | undefined {
  if (now.allowFirstIp !== earlier.allowFirstIp)
    return `allowFirstIP changed from ${earlier.allowFirstIp} to ${now.allowFirstIp}`;
  if (now.allowLastIp !== earlier.allowLastIp)
    return `allowLastIP changed from ${earlier.allowLastIp} to ${now.allowLastIp}`;
  return undefined;
}

function firstOverlap(
  own: readonly PoolCidr[],
  theirs: readonly PoolCidr[],
): { readonly own: Cidr; readonly their: Cidr } | undefined {
  for (const { cidr } of own) {
    const other = theirs.find((each) => overlaps(each.cidr, cidr));
    if (other !== undefined) return { own: cidr, their: other.cidr };
  }
  return undefined;
}
