// The client of EC2 with scripted answers, in virtual time.
import type { CallContext } from '../../../../src/providers/contract/cloud.ts';
import { Ec2Client } from '../../../../src/providers/aws/ec2-client.ts';
import { failureOf } from '../../../../src/providers/aws/errors.ts';
import {
  CallGate,
  type CallGateOptions,
  type LeaseFence,
  type FinishedCall,
} from '../../../../src/providers/gate/call-gate.ts';
import type { Sending } from '../../../../src/providers/gate/cloud-call.ts';
import type { Ec2Action, Ec2Api, Ec2Output } from '../../../../src/providers/aws/ec2-api.ts';
import { ec2Limits } from '../../../../src/providers/aws/quotas.ts';
import { ConcurrencyLimiter } from '../../../../src/providers/rate-limit/concurrency-limiter.ts';
import { RateLimiter } from '../../../../src/providers/rate-limit/rate-limiter.ts';
import { CloudError, type CloudFailure } from '../../../../src/providers/contract/cloud-failure.ts';
import { MutationPermission, noPauses } from '../../../../src/providers/gate/mutation-permission.ts';
import type { BucketSize } from '../../../../src/providers/rate-limit/token-bucket.ts';
import { VirtualClock } from '../../../support/virtual-clock.ts';

export interface SentCall {
  readonly action: Ec2Action;
  readonly input: object;
  /** In monotonic ms. */
  readonly at: number;
  readonly signal: AbortSignal;
}

/** The answer of EC2 to a call, the first of which is number 0; may throw. */
export type Answering = (call: SentCall, number: number) => unknown;

export interface Ec2ClientRig {
  readonly clock: VirtualClock;
  readonly client: Ec2Client;
  readonly gate: CallGate;
  readonly rateLimiter: RateLimiter;
  readonly sent: SentCall[];
  readonly finished: FinishedCall[];
  /** `actions:ms` of each wait for the rate limits. */
  readonly waits: string[];
}

export interface ClientChange {
  readonly options?: Partial<Pick<CallGateOptions, 'timeout' | 'permission'>>;
  readonly fence?: Partial<LeaseFence>;
  readonly bucket?: BucketSize;
  /** Requests in flight at once. */
  readonly max?: number;
  /** Runs while a request awaits a connection. */
  readonly connecting?: () => void;
  /** Work of the SDK before it sends. */
  readonly beforeSending?: (clock: VirtualClock) => Promise<void>;
}

export const context: CallContext = { caller: { priority: 'high' }, signal: new AbortController().signal };

export function ec2ClientRig(answering: Answering, change: ClientChange = {}): Ec2ClientRig {
  const clock = new VirtualClock();
  const sent: SentCall[] = [];
  const finished: FinishedCall[] = [];
  const waits: string[] = [];
  const { bucket = { capacity: 1000, refill: 1000 } } = change;
  const rateLimiter = new RateLimiter({
    clock,
    sizes: new Map([...ec2Limits.keys()].map((action) => [action, { kind: 'bucket', ...bucket }])),
    overall: undefined,
  });
  const api: Ec2Api = {
    async send<A extends Ec2Action>(
      action: A,
      input: object,
      { signal, onSend, onConnected }: Sending,
    ): Promise<Ec2Output<A>> {
      await change.beforeSending?.(clock);
      signal.throwIfAborted();
      onSend();
      change.connecting?.();
      onConnected?.();
      const call = { action, input, at: clock.monotonic(), signal };
      sent.push(call);
      return (await answering(call, sent.length - 1)) as Ec2Output<A>;
    },
  };
  const gate = new CallGate({
    rateLimiter,
    concurrency: new ConcurrencyLimiter(change.max ?? 50),
    clock,
    timeout: 10_000,
    fence: { leads: () => true, isInSafeLeaseWindow: () => true, ...change.fence },
    permission: new MutationPermission(noPauses),
    failureOf: ({ name }, error) => failureOf(name, error),
    listener: {
      onCall: (call) => finished.push(call),
      onWait: (calls, ms) => waits.push(`${calls.map(({ name }) => name).join()}:${ms}`),
    },
    ...change.options,
  });
  const client = new Ec2Client(api, gate);
  return { clock, client, gate, rateLimiter, sent, finished, waits };
}

/** The failure of a read; undefined if it succeeds. */
export async function failureOfRead(reading: Promise<unknown>): Promise<CloudFailure | undefined> {
  try {
    await reading;
    return undefined;
  } catch (error) {
    if (error instanceof CloudError) return error.failure;
    throw error;
  }
}

export async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const item of items) found.push(item);
  return found;
}
