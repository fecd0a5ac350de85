// Waiting until the controller has nothing left to do.
import { sleep } from '../../src/runtime/clock.ts';
import type { CallCounts } from '../rig/cloud-process.ts';
import type { BenchCluster } from '../rig/bench-cluster.ts';

/** Between two reads of the counts, in ms. */
const pollInterval = 250;

/** Resolves to the counts once the cloud has not been called for `quiet` ms. */
export async function settled({ cloud, clock, signal }: BenchCluster, quiet: number): Promise<CallCounts> {
  let counts = await cloud.calls(signal);
  let since = clock.monotonic();
  while (clock.monotonic() - since < quiet) {
    await sleep(clock, pollInterval, signal);
    const next = await cloud.calls(signal);
    if (totalOf(next) !== totalOf(counts)) since = clock.monotonic();
    counts = next;
  }
  return counts;
}

export function totalOf(counts: CallCounts): number {
  return Object.values(counts).reduce((sum, { calls }) => sum + calls, 0);
}
