// What a seed has too little of: where nodes keep what they were given, or get it in large blocks, pods that come and go change
// little in the cloud. Then nodes are replaced, two at a time, and pods come to the new ones, until enough has happened.
import { applyFault } from './inject-fault.ts';
import type { Stage } from './harness.ts';

/** So long at most, in virtual time, in ms. */
const longest = 60 * 60_000;
/** Between two replacements, and from one until pods come to the node, in ms. */
const interval = 60_000;
const settling = 30_000;

/** Returns how many faults there were. Ends early once `isOver`. */
export async function encore(stage: Stage, isOver: () => boolean): Promise<number> {
  const { leastMutations = 0 } = stage.scenario;
  const random = stage.random.fork('encore');
  const end = stage.now + longest;
  let faults = 0;
  while (stage.mutations < leastMutations && stage.now < end && !isOver()) {
    for (const node of [random.next() / 2, 0.5 + random.next() / 2]) {
      const sameName = random.chance(0.5);
      applyFault(stage, { kind: 'replace-node', node, sameName, gap: 1000 });
      faults++;
    }
    await stage.clock.runUntil(isOver, settling);
    for (const name of stage.nodeNames.slice(-2)) stage.addPods(name, random.integer(4));
    await stage.clock.runUntil(isOver, interval - settling);
  }
  return faults;
}
