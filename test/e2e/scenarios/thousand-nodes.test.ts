import { describe, expect, test } from '@jest/globals';
import { objectAt } from '../../../src/simulator/workload/json.ts';
import { withPools } from '../../../src/simulator/workload/pool-demand.ts';
import type { NodeFacts } from '../../../src/simulator/workload/node-facts.ts';
import { sharedCluster } from '../rig/shared-cluster.ts';
import { e2eTopology } from '../rig/e2e-topology.ts';

const count = 1000;
/** Factor on EC2's rate limits: this test is about Kubernetes. */
const scale = 20;

async function inParallel(
  machines: readonly NodeFacts[],
  act: (facts: NodeFacts) => Promise<void>,
): Promise<void> {
  const left = machines.values();
  const work = async (): Promise<void> => {
    for (const facts of left) await act(facts);
  };
  await Promise.all(Array.from({ length: 24 }, work));
}

describe('1,000 CiliumNodes', () => {
  const shared = sharedCluster({
    nodes: count,
    topology: e2eTopology({ nodes: count, scale }),
    flags: [`--cloud-quota-overrides=AssignPrivateIpAddresses=${100 * scale}:${5 * scale}`],
    withoutAgents: true,
  });

  test('are listed in pages and served', async () => {
    const cluster = shared();
    await inParallel(cluster.machines, (facts) => cluster.announce(facts, (node) => withPools(node, 4, [])));

    const controller = await cluster.startReadyController();
    const isServed = async (): Promise<boolean> => {
      const nodes = await cluster.ciliumNodes();
      const served = nodes.filter((node) => Object.keys(objectAt(node, 'spec', 'ipam', 'pool')).length >= 4);
      return served.length === count;
    };
    await cluster.until('every node is offered what it asks for', isServed, { limit: 180_000, every: 5000 });

    const lists = 'headwater_kubernetes_requests_total{verb="list",resource="ciliumnodes",code="200"}';
    // Three pages: the first of 50, which shows their size, and the others of at most 500. The same again once it leads,
    // and 20 s later a list of a single object, to learn which writes came before.
    const isListed = async (): Promise<boolean> => (await controller.metric(lists, cluster.signal)) === 7;
    await cluster.until('CiliumNodes are listed seven times', isListed, { limit: 40_000, every: 1000 });
    expect(
      await controller.metric('headwater_watch_relists_total{resource="ciliumnodes"}', cluster.signal),
    ).toBe(0);
    expect([...controller.at('warn'), ...controller.at('error')]).toEqual([]);
  });
});
