// Builds an in-process EC2 from a topology: a network with its gateway, on any clock.
import type { Clock } from '../../runtime/clock.ts';
import type { Random } from '../../runtime/random.ts';
import { buildNetwork } from '../cloud/build-network.ts';
import type { CloudNetwork } from '../cloud/cloud-network.ts';
import { PacedClock } from '../cloud/paced-clock.ts';
import type { Topology } from '../cloud/topology.ts';
import { Ec2Gateway } from './ec2-gateway.ts';

export interface Ec2 {
  readonly network: CloudNetwork;
  readonly gateway: Ec2Gateway;
  /** The cloud's clock, whose pace can change. */
  readonly clock: PacedClock;
}

/** Throws `CloudRefusal` if the topology needs more than its subnets hold. */
export function createEc2(options: {
  readonly topology: Topology;
  readonly clock: Clock;
  readonly random: Random;
}): Ec2 {
  const { topology } = options;
  const clock = new PacedClock(options.clock);
  const random = options.random.fork('ec2');
  const network = buildNetwork({ topology, clock, random: random.fork('network') });
  const { limits, latency, credentials } = topology;
  const gateway = new Ec2Gateway({
    network,
    clock,
    random: random.fork('gateway'),
    limits,
    latency,
    credentials,
  });
  return { network, gateway, clock };
}
