// The cloud of the demonstration: mixed instance types over three zones, with the rate limits, delays and lag of EC2.
import { readTopology, type Topology } from '../../simulator/cloud/topology.ts';

const zones = ['eu-central-1a', 'eu-central-1b', 'eu-central-1c'] as const;

/** In turn, so that a fleet of any size is mixed. */
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

export function demoTopology(nodes: number, seed: string): Topology {
  const instances = Array.from({ length: nodes }, (_, index) => ({
    name: `node-${index}`,
    type: types[index % types.length],
    subnet: `nodes-${'abc'.charAt(index % zones.length)}`,
    securityGroups: ['nodes'],
  }));
  const read = readTopology(
    JSON.stringify({
      region: 'eu-central-1',
      seed,
      vpcs: [{ name: 'production', blocks: ['10.20.0.0/16'] }],
      subnets: zones.flatMap((zone, index) => [
        { name: `nodes-${zone.at(-1)}`, zone, block: `10.20.${index * 4}.0/23` },
        {
          name: `pods-${zone.at(-1)}`,
          zone,
          block: `10.20.${128 + index * 8}.0/21`,
          tags: { purpose: 'pods' },
        },
      ]),
      routeTables: zones.map((zone) => ({
        name: `private-${zone.at(-1)}`,
        subnets: [`nodes-${zone.at(-1)}`, `pods-${zone.at(-1)}`],
      })),
      securityGroups: [{ name: 'nodes' }, { name: 'pods', tags: { purpose: 'pods' } }],
      instances,
    }),
  );
  if ('problems' in read)
    throw new Error(`the topology of the demonstration is wrong: ${read.problems.join('; ')}`);
  return read.topology;
}
