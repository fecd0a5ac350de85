// Nodes with IPv6 join on a real API server: their prefix comes with the interface that they get anyway.
import { describe, expect, test } from '@jest/globals';
import { hasItsPrefix, ipv6Standings } from '../../../src/simulator/cluster/ipv6-prefixes.ts';
import { type JsonObject, objectAt, textAt, textsAt } from '../../../src/simulator/workload/json.ts';
import { e2eTopology, podSubnetTags } from '../rig/e2e-topology.ts';
import { sharedCluster } from '../rig/shared-cluster.ts';

const nodes = 50;
const changes = [
  'CreateNetworkInterface',
  'AttachNetworkInterface',
  'ModifyNetworkInterfaceAttribute',
  'AssignPrivateIpAddresses',
  'AssignIpv6Addresses',
] as const;

/** What the interfaces of a node show of IPv6, by id. */
function ipv6Of(node: JsonObject): Readonly<Record<string, unknown>> {
  const enis = Object.entries(objectAt(node, 'status', 'eni', 'enis'));
  return Object.fromEntries(enis.map(([id, eni]) => [id, objectAt({ eni }, 'eni')['ipv6-prefixes']]));
}

/** Whether it shows addresses for pods and no prefix. */
function lacksIpv6(node: JsonObject): boolean {
  return Object.values(objectAt(node, 'status', 'eni', 'enis')).some(
    (eni) => textsAt(eni, 'addresses').length > 1 && textsAt(eni, 'ipv6-prefixes').length === 0,
  );
}

describe(`${nodes} dual-stack nodes`, () => {
  const shared = sharedCluster({
    nodes,
    topology: e2eTopology({ nodes, scale: 5, ipv6: true }),
    configure: () => ({
      protocol: 'multi-pool',
      ipv6: true,
      eni: { subnetTags: podSubnetTags, firstInterfaceIndex: 1 },
      // What agents take for themselves would be a call more.
      agentAddresses: [],
    }),
  });
  const late = new Set<string>();

  async function untilServed(): Promise<void> {
    await shared().until(
      'every node serves with one prefix',
      async () => {
        for (const node of await shared().ciliumNodes())
          if (lacksIpv6(node)) late.add(textAt(node, 'metadata', 'name'));
        const all = await shared().ciliumNodes();
        const byName = new Map(all.map((node) => [textAt(node, 'metadata', 'name'), node]));
        const standings = ipv6Standings({
          network: shared().ec2.network,
          workload: shared().workload,
          kubernetes: { get: (_, name) => byName.get(name), list: () => all },
        });
        return shared().isSupplied() && standings.filter(hasItsPrefix).length === nodes;
      },
      { every: 200 },
    );
  }

  test('have one prefix each as soon as they have addresses of IPv4, for three calls a node', async () => {
    await shared().startReadyController();

    await untilServed();

    const { counters } = shared().ec2.gateway;
    const done = changes.map((action) => {
      // EC2 may not show a new interface yet when it is to be attached.
      const { calls, refused, throttled } = counters.get(action);
      return calls - refused - throttled;
    });
    expect([...late]).toEqual([]);
    expect(done).toEqual([nodes, nodes, nodes, 0, 0]);
  });

  test('keep what they show of IPv6, byte for byte, when another controller takes over', async () => {
    const before = (await shared().ciliumNodes()).map(ipv6Of);
    await shared().controllers[0]?.process.child.stop();

    const second = await shared().startReadyController();
    await shared().until('it leads', () => second.lines.some(({ text }) => text.includes('"leading"')));
    await untilServed();

    expect((await shared().ciliumNodes()).map(ipv6Of)).toEqual(before);
    expect(shared().ec2.gateway.counters.get('AssignIpv6Addresses').calls).toBe(0);
  });
});
