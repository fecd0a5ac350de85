// A fleet needs half of its addresses no longer. Its agents are not asked: they drop what they do not need.
import { callsBetween } from '../call-figures.ts';
import type { CloudName } from '../clouds/bench-cloud.ts';
import { cloudOf } from '../clouds/clouds.ts';
import { clusterOf, withCluster } from '../rig/bench-cluster.ts';
import type { CallCounts } from '../rig/cloud-process.ts';
import { join } from './scale-up.ts';
import type { Harness } from './scenarios.ts';
import { settled } from './settled.ts';

export interface ShrinkagePlan {
  readonly cloud: CloudName;
  readonly nodes: number;
  readonly scale: number;
}

/** Without a call, in ms: longer than the quarantine, and than clouds ask to wait between looks at a change that goes on. */
export const quiet = 15_000;

/** Options with which nodes give back, soon. */
export const releasing: Readonly<Partial<Record<CloudName, readonly string[]>>> = {
  azure: ['--azure-release-excess-ips=true', '--excess-ip-release-delay=1s', '--release-quarantine=5s'],
};

/** Resolves to the calls from the first agent that needs less until no call comes any more. */
export function shrinkage(plan: ShrinkagePlan, harness: Harness): Promise<CallCounts> {
  harness.say(`${plan.nodes} nodes that need half of their addresses no longer`);
  const { usual } = cloudOf(plan);
  const fleetPlan = { ...usual, wanted: 2 * usual.wanted };
  return withCluster(clusterOf(fleetPlan, plan, releasing[plan.cloud]), harness, async (cluster) => {
    const { fleet, machines } = cluster;
    await cluster.startController();
    await join(cluster, harness);
    const before = await settled(cluster, quiet);
    await fleet.keepOnly(usual.wanted);
    await fleet.until(() => machines.every(({ name }) => fleet.offered(name) <= usual.wanted));
    harness.say('  every node shows what it keeps');
    return callsBetween(before, await settled(cluster, quiet));
  });
}
