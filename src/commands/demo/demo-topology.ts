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

/** The agent configuration of each machine. */
export function configureNode(facts: MachineFacts, index: number): NodeFacts {
  const keepsFirst = facts.zone === smallZone.name || index % 5 === 4;
  return {
    ...facts,
    protocol: index % 2 === 0 ? 'crd-allocator' : 'multi-pool',
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
      vpcs: [{ name: 'production', blocks: ['10.20.0.0/16'] }],
      subnets: subnetsOf(zones, smallZone.name),
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
