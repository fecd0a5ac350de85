import { describe, expect, test } from '@jest/globals';
import { isObject, type JsonObject, numberAt, textsAt } from '../../../src/simulator/workload/json.ts';
import type { NodeFacts } from '../../../src/simulator/workload/node-facts.ts';
import { ids, instance, subnets, testBlock, testCloud } from '../../support/test-cloud.ts';
import { World, type WorldOptions } from '../../support/world.ts';
import { startController, type WorldController } from '../../support/world-controller.ts';

const ipv6Block = '2600:1f14:100::/56';
/** IPv6 blocks of the subnets, by name. */
const blocks: Readonly<Record<string, string>> = {
  nodes: '2600:1f14:100::/64',
  pods: '2600:1f14:100:1::/64',
  morePods: '2600:1f14:100:2::/64',
};

/** A world in which these subnets have IPv6 blocks. */
function worldOf(
  served: readonly string[],
  facts: Partial<NodeFacts> = {},
  { type = 'm5.large', count = 1 }: { type?: string; count?: number } = {},
  options: WorldOptions = {},
): World {
  const shown = Object.entries(subnets).map(([name, subnet]) =>
    served.includes(name) ? { ...subnet, ipv6Block: blocks[name] } : subnet,
  );
  return new World({
    cloud: testCloud({
      vpcs: [{ name: 'main', id: ids.vpc, blocks: [testBlock], ipv6Block }],
      subnets: shown,
      instances: [instance({ type, count })],
    }),
    configure: () => facts,
    ...options,
  });
}

/** What an agent with IPv6 asks for. */
function asking(ipv6: unknown = 9): JsonObject {
  const requested = [{ pool: 'default', needed: { 'ipv4-addrs': 8, 'ipv6-addrs': ipv6 } }];
  return { spec: { ipam: { pools: { requested } } } } as JsonObject;
}

/** IPv6 prefixes of the machine in the cloud. */
function held(world: World, machine: NodeFacts): readonly string[] {
  return world.interfaces(machine).flatMap(({ ipv6Prefixes }) => ipv6Prefixes);
}

/** IPv6 prefixes that its CiliumNode shows. */
function shown(world: World, machine: NodeFacts): readonly string[] {
  return Object.values(world.enis(machine)).flatMap((eni) =>
    isObject(eni) ? textsAt(eni, 'ipv6-prefixes') : [],
  );
}

/** Changes of the controller: `AssignIpv6Addresses 1`, or `CreateNetworkInterface 1` if an interface is created with a prefix. */
function changes({ changes: made }: WorldController): readonly string[] {
  return made.map(({ action, input, result }) => {
    const prefixes = numberAt(input, 'Ipv6PrefixCount');
    return `${action}${prefixes > 0 ? ` ${prefixes}` : ''}${result === 'OK' ? '' : ` ${result}`}`;
  });
}

const podSubnets = { eni: { subnetTags: { purpose: 'pods' }, firstInterfaceIndex: 1 } };

describe('a node whose agent asks for IPv6', () => {
  test('gets one prefix on the interface that it has, which its status shows', async () => {
    const world = worldOf(['nodes']);
    const machine = world.machine();
    const controller = startController(world);
    await world.announce(machine, asking());
    await world.until('a prefix is shown', () => shown(world, machine).length > 0);
    await world.patch(machine, asking(400));
    await world.advance(600_000);

    expect(shown(world, machine)).toEqual(held(world, machine));
    expect(held(world, machine)).toHaveLength(1);
    expect(changes(controller)).toEqual(['AssignPrivateIpAddresses', 'AssignIpv6Addresses 1']);
    expect([...world.pool(machine).keys()].filter((address) => address.includes(':'))).toEqual([]);
    expect(world.operatorError(machine)).toBe('');
    expect(controller.controller.status().inDeficit).toEqual([]);
    expect(world.broken()).toEqual([]);
  });

  test('gets it with the interface that is created for its pods, without a further call', async () => {
    const world = worldOf(['pods', 'morePods'], podSubnets);
    const machine = world.machine();
    const controller = startController(world);
    await world.announce(machine, asking());
    await world.until('a prefix is shown', () => shown(world, machine).length > 0);
    await world.advance(600_000);

    expect(shown(world, machine)).toEqual(held(world, machine));
    expect(held(world, machine)).toHaveLength(1);
    expect(world.pool(machine).size).toBe(8);
    expect(changes(controller).filter((change) => !change.includes('NotFound'))).toEqual([
      'CreateNetworkInterface 1',
      'AttachNetworkInterface',
      'ModifyNetworkInterfaceAttribute',
    ]);
    expect(world.broken()).toEqual([]);
  });
});
