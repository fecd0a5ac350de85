// Which pools count, and what is wrong with the others. A pool is checked whole before anything of it holds. A wrong change is
// refused whole, and what the pool was before stays in force: it serves on. What nodes list is no reason to refuse a network, or
// one line in one object could stop every pool.
import type { CiliumPodIpPool, PoolNetworks } from '../../kubernetes/ciliumpodippool/cilium-pod-ip-pool.ts';
import type { PoolCidr } from '../allocation/shelf.ts';
import { type Cidr, cidrText, families } from '../set/cidr.ts';
import { NetworkIndex } from '../set/network-index.ts';
import { type PoolDefinition, readPool } from './pool-definition.ts';

/** A block that a node has under the name of a pool. */
export interface ListedBlock {
  readonly pool: string;
  readonly cidr: Cidr;
}

/** The blocks of nodes, for a check. */
export interface HeldBlocks {
  /** Whether any node has a block of the pool. */
  isUsed(pool: string): boolean;
}

/** A pool as it stands. */
export interface PoolState {
  readonly raw: CiliumPodIpPool;
  /** The definition in force; undefined if none ever was. */
  readonly definition: PoolDefinition | undefined;
  /** Why its newest form is not in force, and what to do; undefined if it is. */
  readonly problem: string | undefined;
}

export class PoolBook {
  readonly #held: HeldBlocks;
  readonly #pools = new Map<string, PoolState>();
  /** The networks in force. No two overlap. */
  readonly #networks = new NetworkIndex<PoolCidr>();
  /** Names of pools whose newest form is not in force. */
  readonly #wrong = new Set<string>();
  /** Names of pools that were judged or deleted since the last call of `takeChanged`. */
  #changed = new Set<string>();

  constructor(held: HeldBlocks) {
    this.#held = held;
  }

  get(name: string): PoolState | undefined {
    return this.#pools.get(name);
  }

  get hasProblems(): boolean {
    return this.#wrong.size > 0;
  }

  /** Names of pools that may stand otherwise than at the last call. */
  takeChanged(): ReadonlySet<string> {
    const changed = this.#changed;
    this.#changed = new Set();
    return changed;
  }

  /** Takes in a pool as it is now. */
  set(raw: CiliumPodIpPool): void {
    const known = this.#pools.get(raw.name);
    // Another pool of the same name owes the blocks of the one before nothing.
    const before = known?.raw.uid === raw.uid ? known.definition : undefined;
    this.#enforce(raw.name, this.#judge(raw, before));
  }

  delete(name: string): void {
    this.#enforce(name, undefined);
  }

  #enforce(name: string, state: PoolState | undefined): void {
    this.#changeNetworks(this.#pools.get(name)?.definition?.cidrs, state?.definition?.cidrs);
    if (state === undefined) this.#pools.delete(name);
    else this.#pools.set(name, state);
    if (state?.problem === undefined) this.#wrong.delete(name);
    else this.#wrong.add(name);
    this.#changed.add(name);
  }

  #changeNetworks(before: readonly PoolCidr[] = [], now: readonly PoolCidr[] = []): void {
    if (before === now) return;
    for (const { cidr } of before) this.#networks.delete(cidr);
    for (const each of now) this.#networks.add(each.cidr, each);
  }

  /** Judges again every pool with a problem: what was in its way may be gone. Returns whether the networks in force changed. */
  recheck(): boolean {
    let isChanged = false;
    const names = [...this.#wrong];
    for (const name of names) {
      const state = this.#pools.get(name);
      if (state === undefined) continue;
      const next = this.#judge(state.raw, state.definition);
      this.#enforce(name, next);
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

  #overlap({ name, cidrs }: PoolDefinition): string | undefined {
    for (const { cidr } of cidrs) {
      const other = [...this.#networks.sharing(cidr)].find(({ pool }) => pool !== name);
      if (other !== undefined)
        return `${namedOf(cidr)} overlaps ${cidrText(other.cidr)} of pool ${other.pool}: remove it from one of them`;
    }
    return undefined;
  }
}

function namedOf(cidr: Cidr): string {
  return `${cidrText(cidr)} of spec.${cidr.family}.cidrs`;
}

function changedEnd(now: PoolNetworks, earlier: PoolNetworks): string | undefined {
  if (now.allowFirstIp !== earlier.allowFirstIp)
    return `allowFirstIP changed from ${earlier.allowFirstIp} to ${now.allowFirstIp}`;
  if (now.allowLastIp !== earlier.allowLastIp)
    return `allowLastIP changed from ${earlier.allowLastIp} to ${now.allowLastIp}`;
  return undefined;
}
