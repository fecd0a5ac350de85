// What a leader of the mode multi-pool does before it gives out anything: it creates the pools that an option names, and moves
// what cluster-pool gave to the default pool.
import { moveOf, movePatch } from '../multi-pool/migration.ts';
import type { PoolAllotment } from '../multi-pool/pool-allotment.ts';
import { type PoolNodeHolder, poolNodeHolder } from '../multi-pool/pool-node-holder.ts';
import type { PoolSpec } from '../../config/pool-specs.ts';
import type { CiliumNodeWriter } from '../../kubernetes/cilium-node/cilium-node-writer.ts';
import { ciliumPodIpPoolsPath } from '../../kubernetes/ciliumpodippool/cilium-pod-ip-pool.ts';
import { ask } from '../../kubernetes/transport/api-reply.ts';
import type { JsonObject } from '../../kubernetes/transport/json.ts';
import { Backoff } from '../../runtime/backoff.ts';
import { sleep } from '../../runtime/clock.ts';
import type { CidrPorts } from './block-mode.ts';
import type { ModeDeps } from '../../controller/host.ts';

export interface PoolStartDeps extends Omit<ModeDeps, 'events'> {
  readonly writer: Pick<CiliumNodeWriter, 'get' | 'patchSpec'>;
  readonly allotment: PoolAllotment;
  /** Whether nothing may be written to the CiliumNode. */
  readonly isLeftAlone: (holder: PoolNodeHolder) => boolean;
  readonly ports: Pick<CidrPorts<PoolNodeHolder>, 'known' | 'observe' | 'mayWrite'>;
  /** Resolves once every pool is known that was there before this call. */
  readonly refreshPools: () => Promise<void>;
}

/** Tries of one CiliumNode, and the waits between them, in ms. */
const retries = { tries: 10, base: 10, cap: 30_000 };
/** Between two checks of whether anything may be written, in ms. */
const pause = 500;

export class PoolStart {
  readonly #deps: PoolStartDeps;

  constructor(deps: PoolStartDeps) {
    this.#deps = deps;
  }

  /** Resolves once everything is done that can be done. Rejects only with the signal's reason. */
  async run(signal: AbortSignal): Promise<void> {
    const { host, refreshPools } = this.#deps;
    const { options } = host;
    if (options.autoCreateCiliumPodIpPools.size > 0) {
      for (const [name, spec] of options.autoCreateCiliumPodIpPools) await this.#create(name, spec, signal);
      await refreshPools();
    }
    if (options.enableClusterPoolToMultiPoolMigration) await this.#moveAll(signal);
  }

  async #create(name: string, spec: PoolSpec, signal: AbortSignal): Promise<void> {
    const { host, kubernetes } = this.#deps;
    const { log } = host;
    if ((await this.#awaitPermission(signal)) === 'dryRun') {
      log.info('dry run: would create a pool if there is none', { pool: name });
      return;
    }
    const body = { apiVersion: 'cilium.io/v2alpha1', kind: 'CiliumPodIPPool', metadata: { name }, spec };
    const request = { method: 'POST', path: ciliumPodIpPoolsPath, contentType: 'application/json' } as const;
    const reply = await ask(kubernetes, { ...request, body: JSON.stringify(body) }, signal);
    if (reply.kind === 'ok') log.info('created a pool', { pool: name });
    else if (reply.kind === 'conflict') log.debug('a pool is there already', { pool: name });
    else log.warn('cannot create a pool', { pool: name, why: reply.message });
  }

  async #moveAll(signal: AbortSignal): Promise<void> {
    const { host, ports, isLeftAlone } = this.#deps;
    const { options, log } = host;
    const left = [...ports.known().values()]
      .filter((holder) => holder.podCidrs.length > 0 && !isLeftAlone(holder))
      .values();
    let moved = 0;
    const work = async (): Promise<void> => {
      for (const holder of left) if (await this.#move(holder, signal)) moved++;
    };
    await Promise.all(Array.from({ length: options.multiPoolMigrationWorkers }, work));
    if (moved > 0) log.info('moved the blocks of cluster-pool to the default pool', { nodes: moved });
  }

  async #move(first: PoolNodeHolder, signal: AbortSignal): Promise<boolean> {
    const { allotment } = this.#deps;
    const { options, log, clock, random } = this.#deps.host;
    const { name } = first;
    const backoff = new Backoff(retries, { clock, random });
    let holder: PoolNodeHolder | undefined = first;
    let why = 'it changed again and again';
    while (holder !== undefined && backoff.failures < retries.tries) {
      const pool = options.ipamDefaultIpPool;
      const move = moveOf(holder, pool, allotment.book.get(pool));
      if (move.kind === 'none') return false;
      if (move.kind === 'refused') {
        why = move.why;
        break;
      }
      if ((await this.#awaitPermission(signal)) === 'dryRun') {
        log.info('dry run: would move blocks to the default pool', {
          node: name,
          pool,
          podCIDRs: holder.podCidrs,
        });
        return false;
      }
      const done = await this.#write(holder, movePatch(move.draft), signal);
      if (done === undefined) return true;
      why = done;
      await sleep(clock, backoff.fail(), signal);
      holder = await this.#read(name, signal);
    }
    if (holder === undefined) return false;
    allotment.noteUnmoved(holder, why);
    log.warn('the blocks of a node cannot move to the default pool', { node: name, why });
    return false;
  }

  /** Undefined once it is written, else why not. */
  async #write(holder: PoolNodeHolder, spec: JsonObject, signal: AbortSignal): Promise<string | undefined> {
    const { writer, ports } = this.#deps;
    const { name, uid, version: resourceVersion } = holder;
    const outcome = await writer.patchSpec({ name, uid, resourceVersion }, spec, signal);
    if (outcome.kind === 'written') ports.observe(outcome.raw);
    if (outcome.kind === 'written' || outcome.kind === 'gone') return undefined;
    return outcome.message;
  }

  async #read(name: string, signal: AbortSignal): Promise<PoolNodeHolder | undefined> {
    const { writer, ports } = this.#deps;
    const reading = await writer.get(name, signal);
    if (reading.kind === 'gone') return undefined;
    if (reading.kind !== 'found') return ports.known().get(name);
    ports.observe(reading.raw);
    return poolNodeHolder(reading.raw);
  }

  async #awaitPermission(signal: AbortSignal): Promise<'dryRun' | undefined> {
    const { host, leadership, ports } = this.#deps;
    for (;;) {
      const why = leadership.permission.refusal('allocate');
      if (why === 'dryRun') return why;
      if (why === undefined && ports.mayWrite()) return undefined;
      await sleep(host.clock, pause, signal);
    }
  }
}
