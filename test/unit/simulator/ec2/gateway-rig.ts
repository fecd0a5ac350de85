// An EC2 in virtual time without a socket, for unit tests of its gateway.
import { Random } from '../../../../src/runtime/random.ts';
import { VirtualClock } from '../../../support/virtual-clock.ts';
import { createEc2 } from '../../../../src/simulator/ec2/create-ec2.ts';
import type { Ec2Gateway } from '../../../../src/simulator/ec2/ec2-gateway.ts';
import { Ec2Refusal } from '../../../../src/simulator/ec2/ec2-refusal.ts';
import { topologyFrom } from '../cloud/network-rig.ts';

type Input = Readonly<Record<string, unknown>>;

export interface GatewayRig {
  readonly time: VirtualClock;
  readonly gateway: Ec2Gateway;
  /** Calls as a user; the answer has no type, as on the wire. */
  readonly call: (action: string, input?: Input) => Promise<Record<string, never>>;
  /** The error code of a call, or `none`. */
  readonly codeOf: (action: string, input?: Input) => Promise<string>;
}

export const subnet = 'subnet-0000000a';
export const instance = 'i-00000001';

const cloud = `
vpcs: [{ name: main, id: vpc-00000001, blocks: [10.0.0.0/16] }]
subnets: [{ name: a, id: subnet-0000000a, zone: us-east-1a, block: 10.0.0.0/20 }]
instances: [{ name: one, id: i-00000001, type: m5.4xlarge, subnet: a, tags: { role: node } }]
`;

const instant = `
limits: { throttle: false }
latency: { scale: 0 }
consistency: { visibilityDelayMs: 0, listingLagMs: 0 }
times: { attachMs: 0, detachMs: 0 }
`;

export function gatewayRig(behaviour = instant): GatewayRig {
  const time = new VirtualClock();
  const topology = topologyFrom(`${cloud}\n${behaviour}`);
  const { gateway } = createEc2({ topology, clock: time, random: new Random('gateway') });
  const call: GatewayRig['call'] = async (action, input = {}) =>
    (await gateway.call(action, input, { arn: 'arn:aws:iam::123456789012:user/tester' })) as Record<
      string,
      never
    >;
  const codeOf: GatewayRig['codeOf'] = async (action, input) => {
    try {
      await call(action, input);
      return 'none';
    } catch (error) {
      if (error instanceof Ec2Refusal) return error.code;
      throw error;
    }
  };
  return { time, gateway, call, codeOf };
}

/** Advances virtual time until the promise settles; returns the time of that. */
export async function settle<T>(time: VirtualClock, promise: Promise<T>): Promise<{ value: T; at: number }> {
  let ended = false;
  const watched = promise.finally(() => {
    ended = true;
  });
  watched.catch(() => undefined);
  await time.runUntil(() => ended, 3_600_000);
  return { value: await watched, at: time.monotonic() };
}
