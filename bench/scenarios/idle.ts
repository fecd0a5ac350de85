// A fleet that has what it needs, while nothing happens.
import { sleep } from '../../src/runtime/clock.ts';
import { callFigures, callsBetween } from '../call-figures.ts';
import type { CloudName } from '../clouds/bench-cloud.ts';
import { cloudOf } from '../clouds/clouds.ts';
import { clusterOf, withCluster } from '../rig/bench-cluster.ts';
import type { CallCounts } from '../rig/cloud-process.ts';
import { cpuTime } from '../rig/process-figures.ts';
import { metricIn } from '../../rig/metric-text.ts';
import { join } from './scale-up.ts';
import type { Harness } from './scenarios.ts';
import { settled } from './settled.ts';

export interface IdlePlan {
  readonly cloud: CloudName;
  readonly nodes: number;
  readonly scale: number;
  readonly seconds: number;
  readonly flags: readonly string[];
}

export interface Idleness {
  readonly seconds: number;
  readonly calls: CallCounts;
  readonly mutating: number;
  readonly reads: number;
  /** Writes of the controller by resource, without renewals of its Lease. */
  readonly writes: ReadonlyMap<string, number>;
  /** CPU time of the controller, in seconds. */
  readonly cpu: number;
  /** How often any node was reconciled. */
  readonly wakeUps: number;
}

/** How often the remaining time is reported, in ms. */
const reportInterval = 60_000;
/** The runs in which nodes decide. */
const reconciled = 'cilium_operator_ipam_deficit_resolver_duration_seconds_count';
/** The time without a call after which the scale-up has ended, in ms. */
const quiet = 5000;

export function idle(plan: IdlePlan, harness: Harness): Promise<Idleness> {
  const { nodes, seconds } = plan;
  harness.say(`${nodes} nodes come to rest, then ${seconds} s of nothing`);
  return withCluster(clusterOf(cloudOf(plan).usual, plan, plan.flags), harness, async (cluster) => {
    const { cloud, api, clock, signal } = cluster;
    const controller = await cluster.startController();
    const { pid } = controller.child;
    const wakeUps = async (): Promise<number> => metricIn(await controller.scrape(signal), reconciled) ?? NaN;
    await join(cluster, harness);
    const before = await settled(cluster, quiet);
    const writesBefore = await api.writes(signal);
    const wakeUpsBefore = await wakeUps();
    const cpuBefore = await cpuTime(pid);
    const end = clock.monotonic() + seconds * 1000;
    while (clock.monotonic() < end) {
      const left = end - clock.monotonic();
      await sleep(clock, Math.min(left, reportInterval), signal);
      if (left > reportInterval)
        harness.say(`  idle: ${Math.round((end - clock.monotonic()) / 1000)} s left`);
    }
    const cpu = (await cpuTime(pid)) - cpuBefore;
    const calls = callsBetween(before, await cloud.calls(signal));
    const { mutating, modify, reads } = callFigures(calls);
    const writes = difference(await api.writes(signal), writesBefore);
    const woken = (await wakeUps()) - wakeUpsBefore;
    return { seconds, calls, mutating: mutating + modify, reads, writes, cpu, wakeUps: woken };
  });
}

function difference(
  after: ReadonlyMap<string, number>,
  before: ReadonlyMap<string, number>,
): ReadonlyMap<string, number> {
  return new Map(
    [...after]
      .map(([name, count]) => [name, count - (before.get(name) ?? 0)] as const)
      .filter(([, count]) => count > 0),
  );
}
