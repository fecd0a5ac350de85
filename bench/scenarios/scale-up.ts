// A fleet joins a cluster all at once: CiliumNodes each of which is to have more pod addresses than it has, most often none.
import { sleep } from '../../src/runtime/clock.ts';
import { callsBetween } from '../call-figures.ts';
import type { CloudName, FirstInterfaceIndex } from '../clouds/bench-cloud.ts';
import { cloudOf } from '../clouds/clouds.ts';
import { percentile } from '../percentile.ts';
import { type BenchCluster, clusterOf, withCluster } from '../rig/bench-cluster.ts';
import type { CallCounts } from '../rig/cloud-process.ts';
import type { ControllerProcess } from '../../rig/controller-process.ts';
import { cpuTime, peakMemory } from '../rig/process-figures.ts';
import { OutsideClient } from './outside-client.ts';
import type { Harness } from './scenarios.ts';
import { settled } from './settled.ts';

export interface ScaleUpPlan {
  readonly cloud: CloudName;
  readonly nodes: number;
  readonly firstInterfaceIndex: FirstInterfaceIndex;
  /** Multiplies every rate limit and divides every delay. */
  readonly scale: number;
  /** Whether another client takes half of every rate limit. */
  readonly outsideClient: boolean;
}

export interface ScaleUp {
  /** From the first CiliumNode that was written until the last node was seen with its addresses. */
  readonly seconds: number;
  /** The time until half of the nodes were seen with their addresses. */
  readonly half: number;
  /** All calls of the cloud until the last one. */
  readonly calls: CallCounts;
  /** CPU time of the controller since its start, in seconds. */
  readonly cpuSeconds: number;
  /** Cores that each process kept busy until the last node was satisfied: whether the machine was the limit. */
  readonly cores: Readonly<Record<'controller' | 'cloud' | 'api' | 'agents', number>>;
  readonly peakMemory: number;
  /**
   * The lag of each node that got addresses by an assignment, in seconds: from its last answer until the node was seen
   * with them.
   */
  readonly lags: readonly number[];
}

/** The time before the fleet comes, in ms. The controller has done by then what it does after its start. */
const rest = 6000;
/** The time without a call after which no further call comes, in ms. */
const quiet = 4000;
const reportInterval = 10_000;

export function scaleUp(plan: ScaleUpPlan, harness: Harness): Promise<ScaleUp> {
  const { nodes, firstInterfaceIndex, scale, outsideClient } = plan;
  const beside = outsideClient ? ', beside another client' : '';
  harness.say(`${nodes} nodes, first interface index ${firstInterfaceIndex}, limits × ${scale}${beside}`);
  return withCluster(
    clusterOf({ ...cloudOf(plan).usual, firstInterfaceIndex }, plan),
    harness,
    async (cluster) => {
      const controller = await cluster.startController();
      await sleep(cluster.clock, rest, cluster.signal);
      const outside = new OutsideClient(cluster, scale);
      if (!outsideClient) return play(cluster, controller, harness);
      await outside.takeHalf();
      return Promise.race([play(cluster, controller, harness), outside.takeOn()]);
    },
  );
}

async function play(
  cluster: BenchCluster,
  controller: ControllerProcess,
  harness: Harness,
): Promise<ScaleUp> {
  const { cloud, signal } = cluster;
  const pids = {
    controller: controller.child.pid,
    cloud: cloud.child.pid,
    api: cluster.api.child.pid,
    agents: process.pid,
  };
  const before = await cloud.calls(signal);
  const cpuBefore = await cpuTimes(pids);
  const joined = await join(cluster, harness);
  const times = joined.map(({ seconds }) => seconds);
  const cpuAfter = await cpuTimes(pids);
  const busy = (name: keyof typeof pids): number => (cpuAfter[name] - cpuBefore[name]) / percentile(times, 1);
  const calls = callsBetween(before, await settled(cluster, quiet));
  return {
    seconds: percentile(times, 1),
    half: percentile(times, 0.5),
    calls,
    cores: { controller: busy('controller'), cloud: busy('cloud'), api: busy('api'), agents: busy('agents') },
    cpuSeconds: await cpuTime(controller.child.pid),
    peakMemory: await peakMemory(controller.child.pid),
    lags: await lagsOf(joined, cluster),
  };
}

async function cpuTimes<Name extends string>(
  pids: Readonly<Record<Name, number>>,
): Promise<Readonly<Record<Name, number>>> {
  const names = Object.keys(pids) as Name[];
  const times = await Promise.all(names.map(async (name) => [name, await cpuTime(pids[name])] as const));
  return Object.fromEntries(times) as Record<Name, number>;
}

/** From the last assignment that the cloud answered. Clocks of all processes are those of one machine. */
async function lagsOf(
  joined: readonly Joined[],
  { cloud, clock, signal }: BenchCluster,
): Promise<readonly number[]> {
  const { interfaces } = await cloud.state(signal);
  const instances = new Map<unknown, string | undefined>(
    interfaces.map(({ id, instanceId }) => [id, instanceId]),
  );
  const answeredAt = new Map<string | undefined, number>();
  for (const { action, parameters, at } of await cloud.answers(signal))
    if (action === 'AssignPrivateIpAddresses')
      answeredAt.set(instances.get(parameters['NetworkInterfaceId']), at);
  const sinceEpoch = clock.wall() - clock.monotonic();
  return joined.flatMap(({ instanceId, at }) => {
    const answered = answeredAt.get(instanceId);
    return answered === undefined ? [] : [(at + sinceEpoch - answered) / 1000];
  });
}

/** A node as it was first seen with its addresses. */
interface Joined {
  readonly instanceId: string;
  /** In monotonic ms, and in seconds since the fleet came. */
  readonly at: number;
  readonly seconds: number;
}

/** All machines of the cluster join at once. Resolves once each was seen with its addresses. */
export async function join(
  { fleet, machines, clock, signal }: BenchCluster,
  { say }: Pick<Harness, 'say'>,
): Promise<readonly Joined[]> {
  const start = clock.monotonic();
  let satisfied = 0;
  const all = Promise.all(
    machines.map(async ({ name, instanceId, ipam }) => {
      const { at } = await fleet.whenOffered(name, ipam?.preAllocate ?? 0);
      satisfied++;
      return { instanceId, at, seconds: (at - start) / 1000 };
    }),
  );
  const over = new AbortController();
  const report = reportEvery(reportInterval, { clock, signal: AbortSignal.any([signal, over.signal]) }, () =>
    say(
      `  ${satisfied} of ${machines.length} nodes satisfied after ${((clock.monotonic() - start) / 1000).toFixed(0)} s`,
    ),
  );
  try {
    const [joined] = await Promise.all([all, fleet.create(machines)]);
    return joined;
  } finally {
    over.abort();
    await report;
  }
}

async function reportEvery(
  ms: number,
  { clock, signal }: Pick<BenchCluster, 'clock' | 'signal'>,
  report: () => void,
): Promise<void> {
  for (;;) {
    await sleep(clock, ms, signal).catch(() => undefined);
    if (signal.aborted) return;
    report();
  }
}
