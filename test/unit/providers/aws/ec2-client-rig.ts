// The client of EC2 with scripted answers, in virtual time.
import type { CallContext } from '../../../../src/providers/contract/allocation-implementation.ts';
import {
  Ec2Client,
  type Ec2ClientOptions,
  type FinishedCall,
} from '../../../../src/providers/aws/ec2-client.ts';
import type { Ec2Action, Ec2Api, Ec2Output, Sending } from '../../../../src/providers/aws/ec2-api.ts';
import { quotaActions } from '../../../../src/providers/aws/quotas.ts';
import { ConcurrencyLimiter } from '../../../../src/providers/rate-limit/concurrency-limit.ts';
import { RateLimiter } from '../../../../src/providers/rate-limit/rate-limiter.ts';
import { CloudError, type CloudFailure } from '../../../../src/providers/contract/cloud-failure.ts';
import { MutationPermission, noPauses } from '../../../../src/providers/gate/mutation-permission.ts';
import type { BucketSize } from '../../../../src/providers/rate-limit/token-bucket.ts';
import { VirtualClock } from '../../../../src/runtime/virtual-clock.ts';

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
  readonly rateLimiter: RateLimiter;
  readonly sent: SentCall[];
  readonly finished: FinishedCall[];
  /** `actions:ms` of each wait for the rate limits. */
  readonly waits: string[];
}

export interface ClientChange {
  readonly options?: Partial<
    Pick<Ec2ClientOptions, 'timeout' | 'leads' | 'isInSafeLeaseWindow' | 'permission'>
  >;
  readonly bucket?: BucketSize;
  /** Requests in flight at once. */
  readonly most?: number;
  /** Runs while a request awaits a connection. */
  readonly connecting?: () => void;
  /** Work of the SDK before it sends. */
  readonly beforeSending?: (clock: VirtualClock) => Promise<void>;
}

export const context: CallContext = { priority: () => 'high', signal: new AbortController().signal };

export function ec2ClientRig(answering: Answering, change: ClientChange = {}): Ec2ClientRig {
  const clock = new VirtualClock();
  const sent: SentCall[] = [];
  const finished: FinishedCall[] = [];
  const waits: string[] = [];
  const rateLimiter = new RateLimiter({
    clock,
    sizes: new Map(quotaActions.map((action) => [action, change.bucket ?? { capacity: 1000, refill: 1000 }])),
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
  const client = new Ec2Client({
    api,
    rateLimiter,
    concurrency: new ConcurrencyLimiter(change.most ?? 50),
    clock,
    timeout: 10_000,
    leads: () => true,
    isInSafeLeaseWindow: () => true,
    permission: new MutationPermission(noPauses),
    onCall: (call) => finished.push(call),
    onWait: (actions, ms) => waits.push(`${actions.join()}:${ms}`),
    ...change.options,
  });
  return { clock, client, rateLimiter, sent, finished, waits };
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
