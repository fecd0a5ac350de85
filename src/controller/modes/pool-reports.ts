// What is told of pools: a wrong one in the log and as an Event on it, and their gauges.
import type { PoolTotal } from '../../cidr/allocation/block-ledger.ts';
import type { PoolAllotment } from '../../cidr/multi-pool/pool-allotment.ts';
import type { PoolBook } from '../../cidr/multi-pool/pool-book.ts';
import { families } from '../../cidr/set/cidr.ts';
import type { ModeDeps } from './mode.ts';

/** The label of blocks whose pool this process never knew: nodes may name any. */
const unknownPool = 'unknown';

export class PoolReports {
  readonly #deps: Pick<ModeDeps, 'host' | 'events'>;
  /** By uid of the pool. */
  #told: ReadonlyMap<string, string> = new Map();
  readonly #names = new Set<string>();

  constructor(deps: Pick<ModeDeps, 'host' | 'events'>) {
    this.#deps = deps;
  }

  /** Tells of each pool that is wrong, once. */
  tell(book: PoolBook): void {
    const { host, events } = this.#deps;
    const { log } = host;
    const told = new Map<string, string>();
    for (const { raw, definition, problem } of book.states()) {
      const { name, uid } = raw;
      this.#names.add(name);
      if (problem === undefined) {
        if (this.#told.has(uid)) log.info('a pool works again', { pool: name });
        continue;
      }
      told.set(uid, problem);
      if (this.#told.get(uid) === problem) continue;
      const isServing = definition !== undefined;
      log.warn(isServing ? 'the change of a pool is refused' : 'a pool gives out no blocks', {
        pool: name,
        reason: 'PoolInvalid',
        why: problem,
      });
      const effect = isServing
        ? 'its change is refused, and it serves as before'
        : 'it gives out no blocks until it is corrected';
      const message = `${effect}: ${problem}`;
      events.record(
        { kind: 'CiliumPodIPPool', name, uid },
        { type: 'Warning', reason: 'PoolInvalid', message },
      );
    }
    this.#told = told;
  }

  /** Sets the gauges of pools. */
  show(allotment: PoolAllotment, totals: readonly PoolTotal[]): void {
    const { metrics } = this.#deps.host.registry;
    const orphans = this.#orphans(allotment);
    for (const pool of [...this.#names, unknownPool])
      for (const family of families) {
        const state = 'orphaned';
        metrics.headwater_cidr_blocks.set({ pool, family, state }, orphans.get(`${family} ${pool}`) ?? 0);
        const total = totals.find((each) => each.pool === pool && each.family === family);
        metrics.cilium_operator_ipam_multipool_total_blocks.set({ pool, family }, total?.capacity ?? 0);
      }
  }

  #orphans(allotment: PoolAllotment): ReadonlyMap<string, number> {
    const counts = new Map<string, number>();
    for (const { pool, cidr } of allotment.orphans()) {
      const key = `${cidr.family} ${this.#names.has(pool) ? pool : unknownPool}`;
      counts.set(key, (counts.get(key) ?? 0) + 1);
    }
    return counts;
  }
}
