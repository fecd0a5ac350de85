// Nodes join whose agents are played whole, by the rules of their release: the first request is a PUT of what the watch
// showed, a cause within 15 s of the last look is dropped, and what a conflict refused follows a minute later.
import { handlerFor } from '../../rig/http.ts';
import { Random } from '../../src/runtime/random.ts';
import { sleep } from '../../src/runtime/clock.ts';
import { WorkloadFleet } from '../../src/simulator/workload/workload-fleet.ts';
import { cloudOf } from '../clouds/clouds.ts';
import { clusterOf, withCluster } from '../rig/bench-cluster.ts';
import { JoinJournal } from '../rig/join-journal.ts';
import type { Harness } from './scenarios.ts';

export interface JoinsPlan {
  readonly cloud: 'aws';
  readonly nodes: number;
  readonly scale: number;
}

export interface Joins {
  /** The time of each node from its CiliumNode until its agent serves pods, in seconds. */
  readonly seconds: readonly number[];
  /** Nodes whose agents met a write of ours before they served. */
  readonly conflicts: number;
}

/** The time between two nodes that join, in ms. */
export const betweenJoins = 100;

export function joins(plan: JoinsPlan, harness: Harness): Promise<Joins> {
  harness.say(`${plan.nodes} nodes join one after another, their agents played whole`);
  const { usual } = cloudOf(plan);
  const hasAddresses = { ...usual, firstInterfaceIndex: 0, before: usual.wanted } as const;
  return withCluster(clusterOf(hasAddresses, plan), harness, async (cluster) => {
    const { fleet, api, clock, signal, machines } = cluster;
    const journal = new JoinJournal();
    const workload = new WorkloadFleet({
      handler: handlerFor({ url: api.url }),
      clock,
      random: new Random('joins'),
      nodes: [],
      pace: 1,
      onEvent: (event) => journal.note(event),
    });
    try {
      await cluster.startController();
      for (const facts of machines) {
        await workload.addNode(facts);
        await sleep(clock, betweenJoins, signal);
      }
      await fleet.until(() => journal.seconds.length === machines.length);
      return { seconds: journal.seconds, conflicts: journal.conflicts };
    } finally {
      await workload.stop();
    }
  });
}
