// Reports of pools: a wrong one in the log and as an Event on it, and their gauges.
import type { PoolTotal } from '../allocation/block-ledger.ts';
import type { PoolPolicy } from '../multi-pool/pool-policy.ts';
import type { PoolBook, PoolState } from '../multi-pool/pool-book.ts';
import { families } from '../set/cidr.ts';
import { unknownPool } from './block-gauges.ts';
import type { ModeDeps } from '../../controller/host.ts';

export class PoolReports {
  readonly #deps: Pick<ModeDeps, 'host' | 'events'>;
  /** By name of the pool. */
  readonly #told = new Map<string, { readonly uid: string; readonly problem: string }>();
  readonly #names = new Set<string>();

  constructor(deps: Pick<ModeDeps, 'host' | 'events'>) {
    this.#deps = deps;
  }

  /** Reports each of these pools that is wrong, once. */
  tell(book: PoolBook, names: Iterable<string>): void {
    for (const name of names) {
      const state = book.get(name);
      if (state !== undefined) this.#names.add(name);
      if (state?.problem === undefined) this.#noteRight(name, state);
      else this.#noteWrong(state, state.problem);
    }
  }

  #noteRight(name: string, state: PoolState | undefined): void {
    const told = this.#told.get(name);
    this.#told.delete(name);
    if (told !== undefined && told.uid === state?.raw.uid)
      this.#deps.host.log.info('a pool works again', { pool: name });
  }

  #noteWrong(state: PoolState, problem: string): void {
    const { name, uid } = state.raw;
    const told = this.#told.get(name);
    if (told?.uid === uid && told.problem === problem) return;
    this.#told.set(name, { uid, problem });
    this.#tellOf(state, problem);
  }

  #tellOf({ raw: { name, uid }, definition }: PoolState, problem: string): void {
    const { host, events } = this.#deps;
    const isServing = definition !== undefined;
    host.log.warn(isServing ? 'the change of a pool is refused' : 'a pool gives out no blocks', {
      pool: name,
      reason: 'PoolInvalid',
      why: problem,
    });
    const effect = isServing
      ? 'its change is refused, and it serves as before'
      : 'it gives out no blocks until it is corrected';
    const message = `${effect}: ${problem}`;
    const subject = { kind: 'CiliumPodIPPool', name, uid } as const;
    events.record(subject, { type: 'Warning', reason: 'PoolInvalid', message });
  }

  /** Sets the gauges of pools. */
  show(policy: PoolPolicy, totals: readonly PoolTotal[]): void {
    const { metrics } = this.#deps.host.registry;
    const orphans = this.#orphans(policy);
    for (const pool of [...this.#names, unknownPool])
      for (const family of families) {
        const state = 'orphaned';
        metrics.headwater_cidr_blocks.set({ pool, family, state }, orphans.get(`${family} ${pool}`) ?? 0);
        const total = totals.find((each) => each.pool === pool && each.family === family);
        metrics.cilium_operator_ipam_multipool_total_blocks.set({ pool, family }, total?.capacity ?? 0);
      }
  }

  #orphans(policy: PoolPolicy): ReadonlyMap<string, number> {
    const counts = new Map<string, number>();
    for (const { pool, cidr } of policy.orphans()) {
      const key = `${cidr.family} ${this.#names.has(pool) ? pool : unknownPool}`;
      counts.set(key, (counts.get(key) ?? 0) + 1);
    }
    return counts;
  }
}
