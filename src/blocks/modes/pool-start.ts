// What a leader of the mode multi-pool does before it gives out anything: it creates the pools that an option names, and moves
// what cluster-pool gave to the default pool.
import type { PoolNodeHolder } from '../multi-pool/pool-node-holder.ts';
import type { PoolSpec } from '../../config/pool-specs.ts';
import { ciliumPodIpPoolsPath } from '../../kubernetes/ciliumpodippool/cilium-pod-ip-pool.ts';
import { ask } from '../../kubernetes/transport/api-reply.ts';
import type { BlockPorts } from './block-mode.ts';
import type { ModeDeps } from '../../controller/host.ts';
import { permissionToWrite, type PoolMigration } from './pool-migration.ts';

export interface PoolStartDeps extends Omit<ModeDeps, 'events'> {
  readonly migration: Pick<PoolMigration, 'open'>;
  readonly ports: Pick<BlockPorts<PoolNodeHolder>, 'mayWrite'>;
  /** Resolves once every pool is known that was there before this call. */
  readonly refreshPools: () => Promise<void>;
}

export class PoolStart {
  readonly #deps: PoolStartDeps;

  constructor(deps: PoolStartDeps) {
    this.#deps = deps;
  }

  /** Resolves once everything is done that can be done. Rejects only with the signal's reason. */
  async run(signal: AbortSignal): Promise<void> {
    const { host, migration, refreshPools } = this.#deps;
    const { options } = host;
    if (options.autoCreateCiliumPodIpPools.size > 0) {
      for (const [name, spec] of options.autoCreateCiliumPodIpPools) await this.#create(name, spec, signal);
      await refreshPools();
    }
    if (options.enableClusterPoolToMultiPoolMigration) await migration.open(signal);
  }

  async #create(name: string, spec: PoolSpec, signal: AbortSignal): Promise<void> {
    const { host, kubernetes } = this.#deps;
    const { log } = host;
    if ((await permissionToWrite(this.#deps, signal)) === 'dryRun') {
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
}
