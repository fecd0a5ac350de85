// Measures the memory of the controller over start, scale-up and a full listing, and how long that listing holds up its
// event loop.
import { sleep } from '../../src/runtime/clock.ts';
import type { CloudName } from '../clouds/bench-cloud.ts';
import { cloudOf } from '../clouds/clouds.ts';
import { type BenchCluster, clusterOf, withCluster } from '../rig/bench-cluster.ts';
import type { ControllerProcess } from '../../rig/controller-process.ts';
import { metricIn } from '../../rig/metric-text.ts';
import { peakMemory } from '../rig/process-figures.ts';
import { join } from './scale-up.ts';
import type { Harness } from './scenarios.ts';
import { settled, totalOf } from './settled.ts';

export interface MemoryPlan {
  readonly cloud: CloudName;
  readonly nodes: number;
  readonly scale: number;
}

export interface Footprint {
  /** In bytes. */
  readonly peakMemory: number;
  /** How long a timer of 10 ms took in the event loop during the listing, in ms. Undefined without nodes. */
  readonly loopDelay: { readonly p99: number; readonly max: number } | undefined;
}

/** The interval of listings. */
const resyncFlag = '--resync-interval=20s';
/** How long the controller without nodes runs, in ms: as long as the other one takes to start and to list again. */
const emptyTime = 30_000;
/**
 * The time between two checks whether the listing has started, and the time without a call after which it has ended, in
 * ms.
 */
const pollInterval = 10;
const quiet = 1500;

export function memory(plan: MemoryPlan, harness: Harness): Promise<Footprint> {
  const { nodes } = plan;
  harness.say(`memory and event loop: ${nodes} nodes, then a listing of everything`);
  return withCluster(clusterOf(cloudOf(plan).large, plan, [resyncFlag]), harness, async (cluster) => {
    const { clock, signal } = cluster;
    const controller = await cluster.startController();
    if (nodes === 0) await sleep(clock, emptyTime, signal);
    else await join(cluster, harness);
    const loopDelay = nodes === 0 ? undefined : await delayOfNextListing(cluster, controller);
    return { peakMemory: await peakMemory(controller.child.pid), loopDelay };
  });
}

/** Each scrape resets the histogram of delays. */
async function delayOfNextListing(
  cluster: BenchCluster,
  controller: ControllerProcess,
): Promise<{ p99: number; max: number }> {
  const { cloud, clock, signal } = cluster;
  const before = totalOf(await settled(cluster, quiet));
  while (totalOf(await cloud.calls(signal)) === before) await sleep(clock, pollInterval, signal);
  await controller.scrape(signal);
  await settled(cluster, quiet);
  const text = await controller.scrape(signal);
  const ms = (name: string): number =>
    (metricIn(text, `nodejs_eventloop_lag_${name}_seconds`) ?? Infinity) * 1000;
  return { p99: ms('p99'), max: ms('max') };
}
