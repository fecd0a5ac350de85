// Pods arrive in bursts on nodes that have what they need, while the whole cloud is listed and other nodes top up.
import { sleep } from '../../src/runtime/clock.ts';
import type { NodeFacts } from '../../src/simulator/workload/node-facts.ts';
import { latencies } from '../clouds/ec2-limits.ts';
import { aws } from '../clouds/aws.ts';
import { type BenchCluster, withCluster } from '../rig/bench-cluster.ts';
import type { Harness } from './scenarios.ts';
import { settled } from './settled.ts';

export interface BurstPlan {
  readonly bursts: number;
  /** Nodes beside those, each of which tops up by one address in every listing. */
  readonly buffering: number;
  /** Nodes that do nothing, to make the listing as large as a fleet's. */
  readonly others: number;
  /** The factor of the rate limits. The latencies are those of EC2. */
  readonly scale: number;
}

export interface Bursts {
  /** The delay of each burst, in ms: from the agent's write to the write of the pool in the API, less EC2's own latency. */
  readonly delays: readonly number[];
  /** Listings of everything that were in flight while bursts came. */
  readonly listings: number;
}

const { wanted: addressesWanted } = aws.usual;
/** The pods of a burst. An interface has room for as many beside its 8 addresses. */
export const podsPerBurst = 6;
/** The delay that is added to each page of a listing, in ms, so that bursts fit into the listing. */
export const slowness = 1000;
/** Bursts that come in one listing, and between two of them, in ms: 20 a second, less than half of what a bucket gains. */
export const burstsPerListing = 40;
export const betweenBursts = 50;
/** The time between two checks whether a listing has started, in ms. */
const pollInterval = 25;
/** The time without a call after which the run ends, in ms. */
const quiet = 3000;

export function bursts(plan: BurstPlan, harness: Harness): Promise<Bursts> {
  const nodes = plan.bursts + plan.buffering + plan.others;
  harness.say(`${plan.bursts} bursts on ${nodes} nodes that have what they need`);
  return withCluster(
    {
      cloud: {
        cloud: 'aws',
        machines: [{ type: 'm5.xlarge', count: nodes, addresses: addressesWanted }],
        scale: plan.scale,
        latencyScale: 1,
        spread: 0,
      },
      nodes: { firstInterfaceIndex: 0, preAllocate: addressesWanted },
      flags: [...aws.quotaFlags(plan.scale), '--resync-interval=10s'],
    },
    harness,
    (cluster) => play(cluster, plan, harness),
  );
}

async function play(cluster: BenchCluster, plan: BurstPlan, harness: Harness): Promise<Bursts> {
  const { fleet, cloud, machines, signal } = cluster;
  await fleet.create(machines);
  await cluster.startController();
  await fleet.until(() => machines.every(({ name }) => fleet.offered(name) >= addressesWanted));
  await settled(cluster, quiet);
  await cloud.slowListings(slowness, signal);
  const left = machines.slice(0, plan.bursts).values();
  const buffering = machines.slice(plan.bursts, plan.bursts + plan.buffering);
  const served: Served[] = [];
  let listings = 0;
  while (served.length < plan.bursts) {
    await listingStarted(cluster);
    listings++;
    const wanted = addressesWanted + listings;
    const [round] = await Promise.all([
      burstRound(cluster, left),
      fleet.requestAll(new Map(buffering.map(({ name }) => [name, wanted]))),
    ]);
    served.push(...round);
    harness.say(`  ${served.length} of ${plan.bursts} bursts served`);
  }
  const writtenAt = await cluster.api.writtenAt(signal);
  const at = (version: string): number => writtenAt.get(version) ?? NaN;
  const delays = served.map(
    ({ asked, offered }) => at(offered) - at(asked) - latencies.AssignPrivateIpAddresses * 1000,
  );
  return { delays, listings };
}

/** Resource versions: of what the agent asked for, and of the first state in which it is offered that. */
interface Served {
  readonly asked: string;
  readonly offered: string;
}

/** Starts one burst after another, without waiting for any. */
async function burstRound(cluster: BenchCluster, nodes: Iterator<NodeFacts>): Promise<readonly Served[]> {
  const inFlight: Promise<Served>[] = [];
  for (let count = 0; count < burstsPerListing; count++) {
    const { value: facts } = nodes.next() as { value: NodeFacts | undefined };
    if (facts === undefined) break;
    inFlight.push(burst(cluster, facts.name));
    await sleep(cluster.clock, betweenBursts, cluster.signal);
  }
  return Promise.all(inFlight);
}

/** The pods are there and wait; then their agent says what it needs. */
async function burst({ fleet }: BenchCluster, name: string): Promise<Served> {
  const wanted = addressesWanted + podsPerBurst;
  await fleet.addPods(name, podsPerBurst, `pod-${name}`);
  const offered = fleet.whenOffered(name, wanted);
  const asked = await fleet.request(name, wanted);
  return { asked, offered: (await offered).resourceVersion };
}

/** Resolves soon after the beginning of the next listing of everything, which reads the VPCs before anything else. */
async function listingStarted({ cloud, clock, signal }: BenchCluster): Promise<void> {
  const count = async (): Promise<number> => (await cloud.calls(signal))['DescribeVpcs']?.calls ?? 0;
  const before = await count();
  while ((await count()) === before) await sleep(clock, pollInterval, signal);
}
