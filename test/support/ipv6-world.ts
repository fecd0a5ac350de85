// A cluster on EC2 whose subnets have IPv6 blocks, and what its nodes have of them.
import { parseIpv6Block } from '../../src/simulator/cloud/ipv6.ts';
import { isObject, type JsonObject, numberAt, textsAt } from '../../src/simulator/workload/json.ts';
import type { NodeFacts } from '../../src/simulator/workload/node-facts.ts';
import { ids, instance, subnets, testBlock, testCloud } from './test-cloud.ts';
import { World, type WorldOptions } from './world.ts';
import type { WorldController } from './world-controller.ts';

const ipv6Block = '2600:1f14:100::/56';
/** IPv6 blocks of the subnets, by name. */
const blocks: Readonly<Record<string, string>> = {
  nodes: '2600:1f14:100::/64',
  pods: '2600:1f14:100:1::/64',
  morePods: '2600:1f14:100:2::/64',
};

/** A world in which these subnets have IPv6 blocks. */
export function worldOf(
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

/** Reserves every IPv6 prefix of a subnet for requests that name theirs; the result opens them. */
export function reserveIpv6(world: World, name: 'nodes' | 'pods' | 'morePods'): () => void {
  const [space, block] = [world.cluster.ec2.network.ipv6Space(ids[name]), parseIpv6Block(blocks[name] ?? '')];
  if (space === undefined || block === undefined) throw new Error(`${name} has no IPv6 block`);
  space.reserveExplicitly(block);
  return () => space.open(block);
}

/** What an agent with IPv6 asks for. */
export function asking(ipv6: unknown = 9): JsonObject {
  const requested = [{ pool: 'default', needed: { 'ipv4-addrs': 8, 'ipv6-addrs': ipv6 } }];
  return { spec: { ipam: { pools: { requested } } } } as JsonObject;
}

/** IPv6 prefixes of the machine in the cloud. */
export function held(world: World, machine: NodeFacts): readonly string[] {
  return world.interfaces(machine).flatMap(({ ipv6Prefixes }) => ipv6Prefixes);
}

/** IPv6 prefixes that its CiliumNode shows. */
export function shown(world: World, machine: NodeFacts): readonly string[] {
  return Object.values(world.enis(machine)).flatMap((eni) =>
    isObject(eni) ? textsAt(eni, 'ipv6-prefixes') : [],
  );
}

/** Changes of the controller: `AssignIpv6Addresses 1`, or `CreateNetworkInterface 1` if an interface is created with a prefix. */
export function changes({ changes: made }: WorldController): readonly string[] {
  return made.map(({ action, input, result }) => {
    const prefixes = numberAt(input, 'Ipv6PrefixCount');
    return `${action}${prefixes > 0 ? ` ${prefixes}` : ''}${result === 'OK' ? '' : ` ${result}`}`;
  });
}

export const podSubnets = { eni: { subnetTags: { purpose: 'pods' }, firstInterfaceIndex: 1 } };
