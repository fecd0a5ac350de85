// Many pods come to one node that has what it needs. Its agent and its kubelet are played whole: what an agent asks for
// while pods get their addresses decides how many calls there are.
import { handlerFor } from '../../rig/http.ts';
import { Random } from '../../src/runtime/random.ts';
import { WorkloadFleet } from '../../src/simulator/workload/workload-fleet.ts';
import type { Protocol } from '../../src/simulator/workload/node-facts.ts';
import { callsBetween } from '../call-figures.ts';
import type { CloudName } from '../clouds/bench-cloud.ts';
import { cloudOf } from '../clouds/clouds.ts';
import { clusterOf, withCluster } from '../rig/bench-cluster.ts';
import type { CallCounts } from '../rig/cloud-process.ts';
import type { Harness } from './scenarios.ts';
import { settled } from './settled.ts';

export interface OneBurstPlan {
  readonly cloud: CloudName;
  readonly protocol: Protocol;
  /** The factor of the rate limits, and of the pace of agent and kubelet. */
  readonly scale: number;
}

export interface OneBurst {
  /** From the first pod until the last call of the cloud. */
  readonly calls: CallCounts;
  /** From the first pod until all had addresses, in s. */
  readonly seconds: number;
}

export const podsOfBurst = 30;
/** The time in which the pods of a burst come, in ms. */
export const burstTime = 1000;
/**
 * The addresses of the agent itself, for the router and for health checks. Together with the free addresses, it asks for
 * twice as many as are to be free.
 */
const ownAddresses = 2;
/**
 * The time without a call after which the burst has ended, in ms: clouds ask to wait 10 s between two polls of a change.
 */
const quiet = 15_000;

export function oneBurst(plan: OneBurstPlan, harness: Harness): Promise<OneBurst> {
  const { protocol, scale } = plan;
  harness.say(`${podsOfBurst} pods come to a node whose agent speaks ${protocol}`);
  const { usual } = cloudOf(plan);
  return withCluster(
    clusterOf({ ...usual, before: 2 * usual.wanted }, { ...plan, nodes: 1 }),
    harness,
    async (cluster) => {
      const { fleet, api, clock, signal } = cluster;
      const nodes = cluster.machines.map((facts) => ({ ...facts, protocol }));
      const random = new Random('burst');
      const handler = handlerFor({ url: api.url });
      const workload = new WorkloadFleet({ handler, clock, random, nodes, pace: scale });
      try {
        await workload.start();
        await cluster.startController();
        await fleet.until(() => workload.views.every(({ phase }) => phase === 'serving'));
        const before = await settled(cluster, quiet);
        const start = clock.monotonic();
        const inAll = podsOfBurst + ownAddresses;
        const over = burstTime / scale;
        await workload.run({ kind: 'burst', name: 'burst', at: 0, pods: podsOfBurst, over }, signal);
        await fleet.until(() => workload.views.every(({ addressesInUse }) => addressesInUse.size === inAll));
        const seconds = (clock.monotonic() - start) / 1000;
        return { calls: callsBetween(before, await settled(cluster, quiet)), seconds };
      } finally {
        await workload.stop();
      }
    },
  );
}
