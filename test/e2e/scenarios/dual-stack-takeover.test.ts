// Nodes with IPv6 change from a cilium-operator of 1.20 to Headwater and back, on a real API server.
import { describe, expect, test } from '@jest/globals';
import { hasItsPrefix, ipv6Standings } from '../../../src/simulator/cluster/ipv6-prefixes.ts';
import { isObject, type JsonObject, objectAt, textAt } from '../../../src/simulator/workload/json.ts';
import { StandInOperator } from '../../support/stand-in-operator.ts';
import { e2eTopology, podSubnetTags } from '../rig/e2e-topology.ts';
import { sharedCluster } from '../rig/shared-cluster.ts';

const nodes = 6;

/** What the interfaces of a node show of IPv6, as one text. */
function ipv6Of(node: JsonObject): string {
  const enis = Object.entries(objectAt(node, 'status', 'eni', 'enis')).map(
    ([id, eni]): readonly [string, unknown] => [id, isObject(eni) ? eni['ipv6-prefixes'] : undefined],
  );
  const shown = enis.filter(([, prefixes]) => prefixes !== undefined);
  return JSON.stringify([textAt(node, 'metadata', 'name'), shown]);
}

describe('dual-stack nodes of a cilium-operator', () => {
  const shared = sharedCluster({
    nodes,
    topology: e2eTopology({ nodes, scale: 5, ipv6: true, held: { addresses: 12, ipv6Prefixes: 1 } }),
    configure: () => ({
      protocol: 'multi-pool',
      ipv6: true,
      eni: { subnetTags: podSubnetTags, firstInterfaceIndex: 1 },
    }),
  });

  /** What the nodes show of IPv6 and did not show before. */
  async function differences(before: readonly string[]): Promise<readonly string[]> {
    const now = (await shared().ciliumNodes()).map(ipv6Of);
    return now.filter((text) => !before.includes(text));
  }

  /** A cilium-operator of 1.20, as far as it writes. */
  function operator(): StandInOperator {
    const { clock, api, ec2 } = shared();
    return new StandInOperator(
      { clock, cluster: { kubernetes: { handle: api.handler }, ec2 } },
      { describes: false },
    );
  }

  async function haveTheirPrefix(): Promise<boolean> {
    const all = await shared().ciliumNodes();
    const byName = new Map(all.map((node) => [textAt(node, 'metadata', 'name'), node]));
    const standings = ipv6Standings({
      network: shared().ec2.network,
      workload: shared().workload,
      kubernetes: { get: (_, name) => byName.get(name), list: () => all },
    });
    return standings.filter(hasItsPrefix).length === nodes;
  }

  test('keep each byte of IPv6 under Headwater, and under the operator again', async () => {
    const { machines, workload } = shared();
    const first = operator();
    await shared().until('the operator has shown what the nodes have', async () => {
      await first.resync();
      const isServing = workload.views.every(({ phase }) => phase === 'serving');
      return isServing && (await haveTheirPrefix());
    });
    const before = (await shared().ciliumNodes()).map(ipv6Of);
    const changed: string[] = [];

    const headwater = await shared().startReadyController();
    // More pods than the operator left addresses for: Headwater writes the status of every node.
    for (const { name } of machines)
      for (let index = 0; index < 10; index++)
        await workload.createPod({ name: `pod-${index}-${name}`, nodeName: name });
    await shared().until('every pod has addresses', async () => {
      changed.push(...(await differences(before)));
      return shared().isSupplied();
    });
    await headwater.process.child.stop();
    await operator().resync();
    await operator().resync();
    changed.push(...(await differences(before)));

    expect(before).toHaveLength(nodes);
    expect(before.filter((text) => !text.includes('/80'))).toEqual([]);
    expect(changed).toEqual([]);
    expect(shared().ec2.gateway.counters.get('AssignIpv6Addresses').calls).toBe(0);
    expect(await haveTheirPrefix()).toBe(true);
  });
});
