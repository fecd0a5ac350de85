// Pods that wait for an address longer than any fault of the scenario explains, although their node could have one
// more.
import { standings } from '../../../src/simulator/cluster/invariants.ts';
import type { Harness } from '../harness.ts';
import { mayStart } from './convergence.ts';

/** Between two checks, in ms. */
const interval = 5000;

export function watchForLatePods(harness: Harness, maxWait: number): void {
  /** By pod: since when it waits without a reason. */
  const waiting = new Map<string, number>();
  const check = (): void => {
    const now = waitingWithoutNeed(harness);
    for (const pod of waiting.keys()) if (!now.has(pod)) waiting.delete(pod);
    for (const [pod, node] of now) {
      const since = waiting.get(pod) ?? harness.now;
      waiting.set(pod, since);
      const ms = harness.now - since;
      if (ms > maxWait)
        harness.checker.report('late-pods', `${pod} has waited on ${node} for ${ms / 1000} s`);
    }
    if (harness.now < harness.scenario.minutes * 60_000) harness.clock.schedule(interval, check);
  };
  harness.clock.schedule(interval, check);
}

/** Node by pod. */
function waitingWithoutNeed(harness: Harness): ReadonlyMap<string, string> {
  // A Lease may outlast the longest wait: until it ends, no replica replaces a killed leader.
  if (harness.leader === undefined) return new Map();
  const byNode = new Map(standings(harness.cluster).map((standing) => [standing.node, standing]));
  const able = harness.cluster.workload.views.filter((view) => {
    const standing = byNode.get(view.nodeName);
    // A node at its limit may wait for what is leaving, and a lost answer delays that.
    if (standing === undefined || standing.held >= standing.max) return false;
    return harness.rig.roomFor(view) > 0 && mayStart(harness, view, standing);
  });
  return new Map(
    able.flatMap(({ nodeName, pendingPods }) =>
      [...pendingPods.keys()].map((pod) => [pod, nodeName] as const),
    ),
  );
}
