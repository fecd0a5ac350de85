// Builds an in-process Azure from a topology: its resources with their gateway, on any clock.
import type { Clock } from '../../runtime/clock.ts';
import type { Random } from '../../runtime/random.ts';
import { PacedClock } from '../cloud/paced-clock.ts';
import type { ArmCloud } from './arm-cloud.ts';
import { ArmGateway } from './arm-gateway.ts';
import type { ArmTopology } from './arm-topology-schema.ts';
import { buildArm } from './build-arm.ts';

export interface Arm {
  readonly cloud: ArmCloud;
  readonly gateway: ArmGateway;
  /** The cloud's clock, whose pace can change. */
  readonly clock: PacedClock;
}

/** Throws `ArmRefusal` if the topology needs more than its subnets hold. */
export function createArm(options: {
  readonly topology: ArmTopology;
  readonly clock: Clock;
  readonly random: Random;
}): Arm {
  const { topology } = options;
  const clock = new PacedClock(options.clock);
  const random = options.random.fork('arm');
  const cloud = buildArm({ topology, clock, random: random.fork('cloud') });
  const now = (): number => options.clock.wall();
  const gateway = new ArmGateway({ cloud, clock, random: random.fork('gateway'), topology, now });
  return { cloud, gateway, clock };
}
