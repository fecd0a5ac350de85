// Defines the cloud of the demonstration: mixed instance types in three zones, with the rate limits, latency and
// eventual consistency of EC2. One zone has two nodes and too few addresses.
import { subnetsOf, validTopology } from './demo-cloud.ts';
import { readTopology, type Topology } from '../../simulator/cloud/topology.ts';
import type { MachineFacts } from '../../simulator/cluster/embedded-cluster.ts';
import type { NodeFacts } from '../../simulator/workload/node-facts.ts';

const zones = ['eu-central-1a', 'eu-central-1b', 'eu-central-1c'] as const;

/** The zone with 59 pod addresses, and its number of nodes: the first ones. */
export const smallZone = { name: 'eu-central-1c', subnet: 'pods-c', nodes: 2 } as const;
const smallZoneType = 'm5.4xlarge';

export function isInSmallZone({ zone }: Pick<NodeFacts, 'zone'>): boolean {
  return zone === smallZone.name;
}

/** Cycled, so that a fleet of any size is mixed. */
const types = [
  'm5.large',
  'm5.xlarge',
  'c6i.xlarge',
  't3.medium',
  'm6g.large',
  'r5.large',
  'm5.2xlarge',
  'c5.large',
  'm4.xlarge',
  't3.large',
] as const;

/** The agent configuration of each machine: half of the nodes are dual stack. */
export function configureNode(facts: MachineFacts, index: number): NodeFacts {
  const isNewer = index % 2 === 1;
  const keepsFirst = isInSmallZone(facts) || index % 5 === 4;
  return {
    ...facts,
    protocol: isNewer ? 'multi-pool' : 'crd-allocator',
    ...(isNewer && { ipv6: true }),
    eni: { subnetTags: { purpose: 'pods' }, firstInterfaceIndex: keepsFirst ? 1 : 0 },
  };
}

export function demoTopology(nodes: number, seed: string): Topology {
  const instances = Array.from({ length: nodes }, (_, index) => {
    const isSmall = index < smallZone.nodes;
    return {
      name: `node-${index}`,
      type: isSmall ? smallZoneType : types[index % types.length],
      subnet: isSmall ? 'nodes-c' : `nodes-${'ab'.charAt(index % 2)}`,
      securityGroups: ['nodes'],
    };
  });
  const read = readTopology(
    JSON.stringify({
      region: 'eu-central-1',
      seed,
      vpcs: [{ name: 'production', blocks: ['10.20.0.0/16'], ipv6Block: '2600:1f14:abc:de00::/56' }],
      subnets: subnetsOf(zones, smallZone.name).map((subnet, index) => ({
        ...subnet,
        ipv6Block: `2600:1f14:abc:de0${index}::/64`,
      })),
      routeTables: zones.map((zone) => ({
        name: `private-${zone.at(-1)}`,
        subnets: [`nodes-${zone.at(-1)}`, `pods-${zone.at(-1)}`],
      })),
      securityGroups: [{ name: 'nodes' }, { name: 'pods', tags: { purpose: 'pods' } }],
      instances,
    }),
  );
  return validTopology(read);
}
