// Ten nodes on which pods wait come behind a whole fleet that only tops up.
import { sleep } from '../../src/runtime/clock.ts';
import { latencies } from '../clouds/ec2-limits.ts';
import { aws } from '../clouds/aws.ts';
import { percentile } from '../percentile.ts';
import { withCluster } from '../rig/bench-cluster.ts';
import type { Harness } from './scenarios.ts';
import { settled } from './settled.ts';

export interface WaitingPlan {
  readonly normal: number;
  readonly waiting: number;
}

export interface Waiting {
  /** From the first write of the ten until the first, and the last, of them was seen with its addresses, less EC2's latency, in s. */
  readonly first: number;
  readonly last: number;
  /** How many of the nodes that top up had been served when the ten came, and when the last of the ten was served. */
  readonly servedBefore: number;
  readonly servedAfter: number;
}

const { wanted: addressesWanted } = aws.usual;
/** Pods that come to each of the ten: more than it has free. */
export const podsPerNode = 12;
/** The time between the requests of the many and those of the few, in ms. The burst that EC2 allows is over by then. */
export const headStart = 5000;
/** The time without a call after which the run ends, in ms. */
const quiet = 3000;

export function waiting(plan: WaitingPlan, harness: Harness): Promise<Waiting> {
  harness.say(`${plan.waiting} waiting nodes behind ${plan.normal} that top up`);
  return withCluster(
    {
      cloud: {
        cloud: 'aws',
        machines: [
          { type: 'm5.xlarge', count: plan.normal, addresses: addressesWanted },
          { type: 'm5.4xlarge', count: plan.waiting, addresses: addressesWanted },
        ],
        scale: 1,
        spread: 0,
      },
      nodes: { firstInterfaceIndex: 0, preAllocate: addressesWanted },
      flags: [],
    },
    harness,
    async (cluster) => {
      const { fleet, machines, clock, signal } = cluster;
      await fleet.create(machines);
      await cluster.startController();
      await fleet.until(() => machines.every(({ name }) => fleet.offered(name) >= addressesWanted));
      await settled(cluster, quiet);
      const few = machines.filter(({ instanceType }) => instanceType === 'm5.4xlarge');
      const many = machines.filter((each) => !few.includes(each));
      const served = (): number => many.filter(({ name }) => fleet.offered(name) > addressesWanted).length;
      await fleet.requestAll(new Map(many.map(({ name }) => [name, addressesWanted + 1])));
      await sleep(clock, headStart, signal);
      const servedBefore = served();
      const start = clock.monotonic();
      const seen = await Promise.all(
        few.map(async ({ name }) => {
          const offered = fleet.whenOffered(name, addressesWanted + podsPerNode);
          await fleet.addPods(name, podsPerNode, `pod-${name}`);
          await fleet.request(name, addressesWanted + podsPerNode);
          return ((await offered).at - start) / 1000 - latencies.AssignPrivateIpAddresses;
        }),
      );
      return { first: Math.min(...seen), last: percentile(seen, 1), servedBefore, servedAfter: served() };
    },
  );
}
