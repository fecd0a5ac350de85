// Half of a fleet joins while the other half gives back half of what it has: agents that are not asked drop what they do
// not need at the moment at which the first new node comes.
import { callsBetween } from '../call-figures.ts';
import { cloudOf } from '../clouds/clouds.ts';
import type { Settings } from '../figure.ts';
import { percentile } from '../percentile.ts';
import { clusterOf, withCluster } from '../rig/bench-cluster.ts';
import type { CallCounts } from '../rig/cloud-process.ts';
import { peakMemory } from '../rig/process-figures.ts';
import { join } from './scale-up.ts';
import type { Harness } from './scenarios.ts';
import { settled } from './settled.ts';
import { quiet, releasing, type ShrinkagePlan } from './shrinkage.ts';

export interface BesideReleases {
  /** From the first new CiliumNode until the last of them was seen with its addresses. */
  readonly seconds: number;
  /** Calls for joining and shrinking nodes, until no further call came. */
  readonly calls: CallCounts;
  /** Peak memory of the controller, in bytes. */
  readonly peakMemory: number;
}

/** `nodes`: the number of nodes in both halves together. */
export function planOf({ cloud, nodes, scale }: Settings): ShrinkagePlan {
  return { cloud, nodes: Math.min(nodes, cloudOf({ cloud }).largestScaleUp), scale };
}

export function besideReleases(plan: ShrinkagePlan, harness: Harness): Promise<BesideReleases> {
  harness.say(
    `${plan.nodes} nodes, half of which join while the others need half of their addresses no longer`,
  );
  const { usual } = cloudOf(plan);
  return withCluster(clusterOf(usual, plan, releasing[plan.cloud]), harness, async (cluster) => {
    const { fleet, machines, clock } = cluster;
    const half = machines.length / 2;
    const shrinking = machines
      .slice(0, half)
      .map((each) => ({ ...each, ipam: { preAllocate: 2 * usual.wanted } }));
    const controller = await cluster.startController();
    await join({ ...cluster, machines: shrinking }, harness);
    const before = await settled(cluster, quiet);
    const start = clock.monotonic();
    const dropped = fleet.keepOnly(usual.wanted);
    const joined = await join({ ...cluster, machines: machines.slice(half) }, harness);
    const times = joined.map(({ seconds }) => seconds);
    await dropped;
    await fleet.until(() => machines.every(({ name }) => fleet.offered(name) === usual.wanted));
    harness.say(`  every node has what it keeps after ${((clock.monotonic() - start) / 1000).toFixed(0)} s`);
    return {
      seconds: percentile(times, 1),
      calls: callsBetween(before, await settled(cluster, quiet)),
      peakMemory: await peakMemory(controller.child.pid),
    };
  });
}

/** The scenario in which all figures are measured. */
export const inWords = (settings: Settings): string => {
  const { nodes } = planOf(settings);
  return `${nodes / 2} nodes join and want 8 addresses each, while ${nodes / 2} others with 16 need 8 of them no longer, with releases on. One update serves each.`;
};
