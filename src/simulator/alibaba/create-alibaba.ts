// Builds an in-process Alibaba Cloud from a topology: a network with its gateway, on any clock.
import type { Clock } from '../../runtime/clock.ts';
import type { Random } from '../../runtime/random.ts';
import type { CloudNetwork } from '../cloud/cloud-network.ts';
import { PacedClock } from '../cloud/paced-clock.ts';
import { AlibabaGateway } from './alibaba-gateway.ts';
import type { AlibabaTopology } from './alibaba-topology-schema.ts';
import { buildAlibaba } from './build-alibaba.ts';

export interface Alibaba {
  readonly network: CloudNetwork;
  readonly gateway: AlibabaGateway;
  /** The cloud's clock, whose pace can change. */
  readonly clock: PacedClock;
}

/** Throws `CloudRefusal` if the topology needs more than its vSwitches hold. */
export function createAlibaba(options: {
  readonly topology: AlibabaTopology;
  readonly clock: Clock;
  readonly random: Random;
}): Alibaba {
  const { topology } = options;
  const clock = new PacedClock(options.clock);
  const random = options.random.fork('alibaba');
  const network = buildAlibaba({ topology, clock, random: random.fork('network') });
  const gateway = new AlibabaGateway({ network, clock, random: random.fork('gateway'), topology });
  return { network, gateway, clock };
}
