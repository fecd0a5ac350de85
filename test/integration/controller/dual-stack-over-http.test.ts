// Nodes with IPv6 and nodes without, beside a controller that reaches the API server over HTTP, as in a cluster.
import { afterEach, describe, expect, test } from '@jest/globals';
import { invariantViolations } from '../../../src/simulator/cluster/invariants.ts';
import { hasItsPrefix, ipv6Standings } from '../../../src/simulator/cluster/ipv6-prefixes.ts';
import { type JsonObject, objectAt } from '../../../src/simulator/workload/json.ts';
import { HttpCluster } from '../../support/http-cluster.ts';
import { ids, instance, subnets, testBlock, testCloud } from '../../support/test-cloud.ts';

const nodes = 6;

let world: HttpCluster;

afterEach(() => world.end());

async function start(): Promise<void> {
  world = new HttpCluster({
    cloud: testCloud({
      vpcs: [{ name: 'main', id: ids.vpc, blocks: [testBlock], ipv6Block: '2600:1f14:100::/56' }],
      subnets: [subnets.nodes, { ...subnets.pods, ipv6Block: '2600:1f14:100:1::/64' }, subnets.morePods],
      instances: [instance({ count: nodes })],
    }),
    configure: (index) => ({
      protocol: 'multi-pool',
      ipv6: index % 2 === 0,
      eni: { subnetTags: { purpose: 'pods' }, firstInterfaceIndex: 1 },
    }),
    flags: {},
    pace: 15,
  });
  await world.start();
  for (const machine of world.machines) await world.cluster.workload.addNode(machine);
}

/** Adds a pod to each node and waits until it has an address of each family of its agent. */
async function grow(prefix: string): Promise<void> {
  const { workload } = world.cluster;
  for (const { name } of world.machines)
    await workload.createPod({ name: `${prefix}-${name}`, nodeName: name });
  const isServed = ({ name, ipv6 }: HttpCluster['machines'][number]): boolean => {
    const { pendingPods, phase, ipv6InUse } = workload.view(name);
    return phase === 'serving' && pendingPods.size === 0 && (ipv6 !== true || ipv6InUse.size > 0);
  };
  await world.until(`the pods ${prefix} run`, () => world.machines.every(isServed));
}

/** The interfaces that the CiliumNodes show, without their IPv4 addresses, which grow. */
function shownOfIpv6(): readonly (readonly [string, unknown])[] {
  return world.machines.flatMap(({ name }) => {
    const node: JsonObject = world.cluster.kubernetes.get('ciliumnodes.cilium.io', name) ?? {};
    const enis = Object.entries(objectAt(node, 'status', 'eni', 'enis'));
    return enis.map(([id, eni]) => [`${name} ${id}`, objectAt({ eni }, 'eni')['ipv6-prefixes']] as const);
  });
}

describe('nodes with IPv6 over HTTP', () => {
  test('get one prefix each beside nodes without, and keep it under the next leader', async () => {
    await start();
    await grow('first');
    const standings = ipv6Standings(world.cluster);
    const before = shownOfIpv6();
    await world.changeLeader();
    await grow('second');

    expect(standings.map(hasItsPrefix)).toEqual([true, true, true]);
    expect(ipv6Standings(world.cluster)).toEqual(standings);
    expect(shownOfIpv6()).toEqual(before);
    expect(before.filter(([, prefixes]) => prefixes !== undefined)).toHaveLength(3);
    expect(invariantViolations(world.cluster)).toEqual([]);
    expect(world.taken).toEqual([]);
    expect(world.bugs).toEqual([]);
  });
});
