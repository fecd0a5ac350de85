// A small network in virtual time, for unit tests of its rules.
import { Random } from '../../../../src/runtime/random.ts';
import { VirtualClock } from '../../../support/virtual-clock.ts';
import { buildNetwork } from '../../../../src/simulator/cloud/build-network.ts';
import type { CloudNetwork } from '../../../../src/simulator/cloud/cloud-network.ts';
import { type CloudProblem, CloudRefusal } from '../../../../src/simulator/cloud/cloud-refusal.ts';
import { readTopology, type Topology } from '../../../../src/simulator/cloud/topology.ts';

export interface NetworkRig {
  readonly clock: VirtualClock;
  readonly network: CloudNetwork;
}

/** Subnets a and tiny in one zone and b in another; instances large (m5.large), small (t2.micro) and cards (p4d). */
const parts = {
  base: `
vpcs: [{ name: main, id: vpc-00000001, blocks: [10.0.0.0/16] }, { name: other, id: vpc-00000002, blocks: [10.9.0.0/16] }]
subnets:
  - { name: a, vpc: main, id: subnet-0000000a, zone: us-east-1a, block: 10.0.0.0/24, ipv6Block: '2001:db8:0:a::/64' }
  - { name: tiny, vpc: main, id: subnet-0000000f, zone: us-east-1a, block: 10.0.2.0/28 }
  - { name: b, vpc: main, id: subnet-0000000b, zone: us-east-1b, block: 10.0.1.0/24 }
securityGroups:
  - { name: nodes, vpc: main, id: sg-00000001 }
  - { name: strangers, vpc: other, id: sg-00000002 }
instances:
  - { name: large, id: i-00000001, type: m5.large, subnet: a, securityGroups: [nodes] }
  - { name: small, id: i-00000002, type: t2.micro, subnet: a, securityGroups: [nodes] }
  - { name: cards, id: i-00000003, type: p4d.24xlarge, subnet: b, securityGroups: [nodes] }
`,
  instant: `
consistency: { visibilityDelayMs: 0, listingLagMs: 0 }
times: { attachMs: 0, detachMs: 0, startMs: 0, stopMs: 0, terminateMs: 0 }
`,
};

export function topologyFrom(text: string): Topology {
  const result = readTopology(text);
  if ('problems' in result) throw new Error(result.problems.join('\n'));
  return result.topology;
}

/** The network; nothing in it takes time unless `behaviour` sets that. */
export function networkRig(behaviour = parts.instant): NetworkRig {
  const clock = new VirtualClock();
  const topology = topologyFrom(`${parts.base}\n${behaviour}`);
  const network = buildNetwork({ topology, clock, random: new Random('unit') });
  return { clock, network };
}

/** The problem of a refusal; fails if nothing is refused. */
export function problemOf(act: () => unknown): CloudProblem {
  try {
    act();
  } catch (error) {
    if (error instanceof CloudRefusal) return error.problem;
    throw error;
  }
  throw new Error('it was not refused');
}
