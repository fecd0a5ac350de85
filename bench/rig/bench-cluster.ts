// Everything that one scenario runs on: the model of a cloud, the Kubernetes API and the controller in processes of their own,
// and the agents in this one.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Clock } from '../../src/runtime/clock.ts';
import type { NodeFacts } from '../../src/simulator/workload/node-facts.ts';
import type { CloudName, CloudPlan, FleetPlan } from '../clouds/bench-cloud.ts';
import { cloudOf } from '../clouds/clouds.ts';
import { ApiProcess } from './api-process.ts';
import { CloudProcess } from './cloud-process.ts';
import { ControllerProcess } from '../../rig/controller-process.ts';
import { machinesIn, NodeFleet, type NodePlan } from './node-fleet.ts';

export interface ClusterPlan {
  readonly cloud: CloudPlan;
  readonly nodes: NodePlan;
  /** Flags of the controller, besides those with which it finds the cloud and the API server. */
  readonly flags: readonly string[];
}

/** The cluster of one fleet, all of whose rate limits are the controller's. */
export function clusterOf(
  fleet: FleetPlan,
  { cloud, nodes, scale }: { readonly cloud: CloudName; readonly nodes: number; readonly scale: number },
  flags: readonly string[] = [],
): ClusterPlan {
  const { type, before, wanted, firstInterfaceIndex } = fleet;
  return {
    cloud: { cloud, machines: [{ type, count: nodes, addresses: before }], scale, spread: 0 },
    nodes: { firstInterfaceIndex, preAllocate: wanted },
    flags: [...cloudOf({ cloud }).quotaFlags(scale), ...flags],
  };
}

export interface BenchCluster {
  readonly cloud: CloudProcess;
  readonly api: ApiProcess;
  readonly fleet: NodeFleet;
  /** All that the cloud has; none has a CiliumNode yet. */
  readonly machines: readonly NodeFacts[];
  /** Starts the controller; resolves once it is ready. */
  readonly startController: () => Promise<ControllerProcess>;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

export interface ClusterEnvironment {
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Where a CPU profile of the controller is left, if one is wanted. */
  readonly profiles: string | undefined;
}

/** Rejects with ChildFailed if one of the processes ends meanwhile, and with the signal's reason once it is aborted. Whatever happens, none of them is left. */
export async function withCluster<T>(
  plan: ClusterPlan,
  { clock, signal: outer, profiles }: ClusterEnvironment,
  use: (cluster: BenchCluster) => Promise<T>,
): Promise<T> {
  const directory = await mkdtemp(join(tmpdir(), 'headwater-bench-'));
  const ending = new AbortController();
  const signal = AbortSignal.any([outer, ending.signal]);
  const processes: { child: CloudProcess['child'] }[] = [];
  const failed = Promise.withResolvers<never>();
  failed.promise.catch(() => undefined);
  const interrupt = (): void => failed.reject(outer.reason);
  outer.addEventListener('abort', interrupt, { once: true });
  const added = <P extends { child: CloudProcess['child'] }>(process: P): P => {
    processes.push(process);
    process.child.failure().catch(failed.reject);
    return process;
  };
  try {
    const cloud = added(await CloudProcess.start(plan.cloud, directory));
    const api = added(await ApiProcess.start(directory));
    const fleet = new NodeFleet(api.url, clock, signal);
    fleet.watching.catch((error: unknown) => {
      if (!signal.aborted) failed.reject(error);
    });
    const cluster: BenchCluster = {
      cloud,
      api,
      fleet,
      machines: machinesIn(await cloud.state(signal), cloudOf(plan.cloud), plan.nodes),
      startController: async () => {
        const v8Flags = process.env['HEADWATER_V8_FLAGS'];
        const controller = added(
          await ControllerProcess.start({
            kubeconfig: api.kubeconfig,
            cloud: cloud.access,
            flags: ['--cluster-name=bench', ...plan.flags],
            env: {
              ...(profiles !== undefined && { NODE_OPTIONS: `--cpu-prof --cpu-prof-dir=${profiles}` }),
              // A comparison of V8 flags means those of the controller.
              ...(v8Flags !== undefined && { HEADWATER_V8_FLAGS: v8Flags }),
            },
          }),
        );
        await controller.ready(clock, signal);
        return controller;
      },
      clock,
      signal,
    };
    const used = use(cluster);
    // Where the scenario ends for another reason, what it was in the middle of ends later, and has no listener.
    used.catch(() => undefined);
    return await Promise.race([used, failed.promise]);
  } finally {
    outer.removeEventListener('abort', interrupt);
    ending.abort(new Error('the scenario is over'));
    // A profile is written by a process that exits normally.
    await Promise.all(processes.map(({ child }) => (profiles === undefined ? child.kill() : child.stop())));
    await rm(directory, { recursive: true, force: true });
  }
}
