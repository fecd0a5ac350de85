// The cloud of the tests on a real API server: two zones with subnets for pods, and the limits, delays and lag of EC2.
import { readTopology, type Topology } from '../../../src/simulator/cloud/topology.ts';

export const region = 'eu-central-1';
export const podSubnetTags = { purpose: 'pods' } as const;

const zones = ['a', 'b'] as const;
/** Used in turn, so that a fleet of any size is mixed. */
const types = ['m5.xlarge', 'c6i.xlarge', 'm5.2xlarge'] as const;

export interface CloudWish {
  readonly nodes: number;
  /** Factor on the rate limits; 1 by default. */
  readonly scale?: number;
  readonly seed?: string;
  /** Whether every subnet has a block of IPv6. */
  readonly ipv6?: boolean;
  /** What a second interface of each instance has from the start; by default there is none. */
  readonly held?: { readonly addresses: number; readonly ipv6Prefixes: number };
  /** Names of the users who may call EC2; one user by default. */
  readonly users?: readonly string[];
}

export function e2eTopology({
  nodes,
  scale = 1,
  seed = 'e2e',
  users,
  ipv6 = false,
  held,
}: CloudWish): Topology {
  const ipv6Of = (length: number, number = 0): { readonly ipv6Block?: string } =>
    ipv6 ? { ipv6Block: `2600:1f14:abc:de0${number}::/${length}` } : {};
  const plan = {
    region,
    seed,
    vpcs: [{ name: 'production', blocks: ['10.20.0.0/16', '10.21.0.0/16'], ...ipv6Of(56) }],
    subnets: zones.flatMap((zone, index) => [
      {
        name: `nodes-${zone}`,
        zone: `${region}${zone}`,
        block: `10.20.${index * 128}.0/17`,
        ...ipv6Of(64, index),
      },
      {
        name: `pods-${zone}`,
        zone: `${region}${zone}`,
        block: `10.21.${index * 128}.0/17`,
        ...ipv6Of(64, index + 2),
        tags: podSubnetTags,
      },
    ]),
    routeTables: zones.map((zone) => ({
      name: `private-${zone}`,
      subnets: [`nodes-${zone}`, `pods-${zone}`],
    })),
    securityGroups: [{ name: 'nodes' }],
    instances: Array.from({ length: nodes }, (_, index) => ({
      name: `node-${index}`,
      type: types[index % types.length],
      subnet: `nodes-${zones[index % zones.length]}`,
      securityGroups: ['nodes'],
      ...(held !== undefined && {
        interfaces: [{ ...held, subnet: `pods-${zones[index % zones.length]}`, deviceIndex: 1 }],
      }),
    })),
    limits: { scale },
    ...(users !== undefined && { credentials: users.map(credentialOf) }),
  };
  const read = readTopology(JSON.stringify(plan));
  if ('problems' in read) throw new Error(read.problems.join('\n'));
  return read.topology;
}

function credentialOf(user: string): Record<string, string> {
  const letters = user.toUpperCase().replaceAll(/\W/g, '_');
  return { accessKeyId: `AKIAEXAMPLE${letters}`.padEnd(16, '0'), secretAccessKey: `secret of ${user}`, user };
}
