// Pods that wait for an address for longer than anything that goes wrong in a scenario can make them, although their node
// could have one more.
import { standings } from '../../../src/simulator/cluster/invariants.ts';
import type { Stage } from '../harness.ts';
import { mayStart, roomFor } from './convergence.ts';

/** From one look to the next, in ms. */
const interval = 5000;

export function watchForLatePods(stage: Stage, longestWait: number): void {
  /** By pod, since when it waits without need. */
  const waiting = new Map<string, number>();
  const look = (): void => {
    const now = waitingWithoutNeed(stage);
    for (const pod of waiting.keys()) if (!now.has(pod)) waiting.delete(pod);
    for (const [pod, node] of now) {
      const since = waiting.get(pod) ?? stage.now;
      waiting.set(pod, since);
      const ms = stage.now - since;
      if (ms > longestWait) stage.judge.note('late', `${pod} has waited on ${node} for ${ms / 1000} s`);
    }
    if (stage.now < stage.scenario.minutes * 60_000) stage.clock.schedule(interval, look);
  };
  stage.clock.schedule(interval, look);
}

/** Node by pod. */
function waitingWithoutNeed(stage: Stage): ReadonlyMap<string, string> {
  // A lease may be longer than the longest wait: until it ends, nobody follows a leader that was killed.
  if (stage.leader === undefined) return new Map();
  const byNode = new Map(standings(stage.cluster).map((standing) => [standing.node, standing]));
  const able = stage.cluster.workload.views.filter((view) => {
    const standing = byNode.get(view.nodeName);
    // One that has all that it may have may wait for what is on its way out, and cannot come back while an answer is lost.
    if (standing === undefined || standing.held >= standing.most) return false;
    return roomFor(stage, view) > 0 && mayStart(stage, view, standing);
  });
  return new Map(
    able.flatMap(({ nodeName, waitingPods }) =>
      [...waitingPods.keys()].map((pod) => [pod, nodeName] as const),
    ),
  );
}
