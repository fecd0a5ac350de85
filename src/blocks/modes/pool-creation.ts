// Creates the pools that an option names, before the leader of the mode multi-pool gives out anything.
import type { PoolSpec } from '../../config/pool-specs.ts';
import {
  type CiliumPodIpPool,
  ciliumPodIpPoolsPath,
  readCiliumPodIpPool,
} from '../../kubernetes/ciliumpodippool/cilium-pod-ip-pool.ts';
import { ask } from '../../kubernetes/transport/api-reply.ts';
import { sleep } from '../../runtime/clock.ts';
import type { Json } from '../../runtime/json.ts';
import type { ModeDeps } from '../../controller/host.ts';
import { mayWrite } from './own-lease.ts';

/** Between two checks of whether anything may be written, in ms. */
const pause = 500;

/** Resolves once something may be written, or nothing ever will be. Rejects only with the signal's reason. */
export async function permissionToWrite(deps: ModeDeps, signal: AbortSignal): Promise<'dryRun' | undefined> {
  for (;;) {
    const why = deps.leadership.permission.refusal('allocate');
    if (why === 'dryRun') return why;
    if (why === undefined && mayWrite(deps)) return undefined;
    await sleep(deps.host.clock, pause, signal);
  }
}

/** A pool as it is once it is created. */
export function poolToCreate(name: string, spec: PoolSpec): CiliumPodIpPool {
  return readCiliumPodIpPool({ metadata: { name }, spec: JSON.parse(JSON.stringify(spec)) as Json });
}

/** Resolves once the pool is there, or cannot be created. Rejects only with the signal's reason. */
export async function createPool(
  deps: ModeDeps,
  name: string,
  spec: PoolSpec,
  signal: AbortSignal,
): Promise<void> {
  const { log } = deps.host;
  if ((await permissionToWrite(deps, signal)) === 'dryRun') {
    log.info('dry run: would create a pool if there is none', { pool: name });
    return;
  }
  const body = { apiVersion: 'cilium.io/v2alpha1', kind: 'CiliumPodIPPool', metadata: { name }, spec };
  const request = { method: 'POST', path: ciliumPodIpPoolsPath, contentType: 'application/json' } as const;
  const reply = await ask(deps.kubernetes, { ...request, body: JSON.stringify(body) }, signal);
  if (reply.kind === 'ok') log.info('created a pool', { pool: name });
  else if (reply.kind === 'conflict') log.debug('a pool is there already', { pool: name });
  else log.warn('cannot create a pool', { pool: name, why: reply.message });
}
