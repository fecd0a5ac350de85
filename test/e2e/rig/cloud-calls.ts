// Who called EC2, with what and when: recorded by the EC2 model, not by the caller.
import type { Clock } from '../../../src/runtime/clock.ts';
import type { Ec2Gateway } from '../../../src/simulator/ec2/ec2-gateway.ts';

export interface CloudCall {
  /** In monotonic ms, when it came. */
  readonly at: number;
  readonly user: string;
  readonly action: string;
}

const takingAway: ReadonlySet<string> = new Set([
  'DeleteNetworkInterface',
  'DetachNetworkInterface',
  'UnassignPrivateIpAddresses',
]);

/** What changes something in the cloud, from its making on. */
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

  /** Changes since then, of that user or of every user, the oldest first. */
  changes(since: number, user?: string): readonly CloudCall[] {
    return this.#changes.filter((call) => call.at >= since && (user === undefined || call.user === user));
  }

  /** Those of them that take something away. */
  takenAway(since: number, user?: string): readonly CloudCall[] {
    return this.changes(since, user).filter(({ action }) => takingAway.has(action));
  }
}
