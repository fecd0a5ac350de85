// Records who called EC2, with what and when, as the EC2 model saw it.
import type { Clock } from '../../../src/runtime/clock.ts';
import type { Ec2Gateway } from '../../../src/simulator/ec2/ec2-gateway.ts';

export interface CloudCall {
  /** The time of arrival, in monotonic ms. */
  readonly at: number;
  readonly user: string;
  readonly action: string;
}

const takingAway: ReadonlySet<string> = new Set([
  'DeleteNetworkInterface',
  'DetachNetworkInterface',
  'UnassignPrivateIpAddresses',
]);

/** The calls that change the cloud, from its construction on. */
export class CloudCalls {
  /** Called for each request when it arrives, before it has any effect. */
  onChange: ((call: CloudCall) => void) | undefined;
  readonly #changes: CloudCall[] = [];

  constructor(gateway: Ec2Gateway, clock: Clock) {
    gateway.onCall = ({ arn }, action) => {
      if (action.startsWith('Describe')) return;
      const call = { at: clock.monotonic(), user: arn.slice(arn.lastIndexOf('/') + 1), action };
      this.#changes.push(call);
      this.onChange?.(call);
    };
  }

  /** Changes since then, of that user or of every user, oldest first. */
  changes(since: number, user?: string): readonly CloudCall[] {
    return this.#changes.filter((call) => call.at >= since && (user === undefined || call.user === user));
  }

  /** The changes that take something away. */
  takenAway(since: number, user?: string): readonly CloudCall[] {
    return this.changes(since, user).filter(({ action }) => takingAway.has(action));
  }
}
