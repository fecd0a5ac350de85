// Adds churn to seeds that change the cloud too little: nodes that keep their addresses or get large blocks. Replaces
// two nodes at a time and adds pods to the new ones, until the cloud changed often enough.
import { injectFault } from './inject-fault.ts';
import type { Harness } from './harness.ts';

/** Limit in virtual time, in ms. */
const max = 60 * 60_000;
/** Between two replacements, and from a replacement until pods arrive, in ms. */
const interval = 60_000;
const settling = 30_000;

/** Returns the number of faults. Returns early once `isOver`. */
export async function injectExtraChurn(harness: Harness, isOver: () => boolean): Promise<number> {
  const { minMutations = 0 } = harness.scenario;
  const random = harness.random.fork('encore');
  const end = harness.now + max;
  let faults = 0;
  while (harness.mutations < minMutations && harness.now < end && !isOver()) {
    for (const node of [random.next() / 2, 0.5 + random.next() / 2]) {
      const sameName = random.chance(0.5);
      injectFault(harness, { kind: 'replace-node', node, sameName, gap: 1000 });
      faults++;
    }
    await harness.clock.runUntil(isOver, settling);
    for (const name of harness.nodeNames.slice(-2)) harness.addExtraPods(name, random.integer(4));
    await harness.clock.runUntil(isOver, interval - settling);
  }
  return faults;
}
