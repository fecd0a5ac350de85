// A rate limiter in virtual time, with a record of the grants.
import { RateLimiter } from '../../../src/providers/rate-limit/rate-limiter.ts';
import type { LimitedCall } from '../../../src/providers/rate-limit/limit-key.ts';
import type { BucketSize } from '../../../src/providers/rate-limit/token-bucket.ts';
import type { Caller, Priority } from '../../../src/providers/contract/priority.ts';
import { VirtualClock } from '../../support/virtual-clock.ts';

const never = new AbortController().signal;

export interface RateLimiterRig {
  readonly clock: VirtualClock;
  readonly rateLimiter: RateLimiter;
  /** `name@ms` of each grant of tokens, in order. */
  readonly granted: string[];
  /** Resolves to the function that refunds the tokens. */
  readonly ask: (
    name: string,
    actions: readonly (string | LimitedCall)[],
    how?: Asking,
  ) => Promise<() => void>;
}

export interface Asking {
  readonly priority?: Priority | (() => Priority);
  readonly signal?: AbortSignal;
  readonly inFlight?: boolean;
  /** Whether the calls are sent at once; true by default. */
  readonly sent?: boolean;
}

/** A call with one limit, of its own name. */
export function callOf(action: string): LimitedCall {
  return { limits: [{ name: action }] };
}

export function rateLimiterRig(sizes: {
  readonly buckets?: Readonly<Record<string, BucketSize & { readonly isPerThing?: true }>>;
  readonly overall?: BucketSize;
}): RateLimiterRig {
  const clock = new VirtualClock();
  const rateLimiter = new RateLimiter({
    clock,
    sizes: new Map(
      Object.entries(sizes.buckets ?? {}).map(([name, size]) => [name, { kind: 'bucket', ...size }]),
    ),
    overall: sizes.overall,
  });
  const granted: string[] = [];
  const ask: RateLimiterRig['ask'] = async (name, actions, how = {}) => {
    const { priority = 'high', signal = never, inFlight = false } = how;
    const calls = actions.map((action) => (typeof action === 'string' ? callOf(action) : action));
    const refund = await rateLimiter.tokens(calls, {
      caller: callerOf(priority),
      signal,
      inFlight,
    });
    if (how.sent !== false) for (const call of calls) rateLimiter.sent(call);
    granted.push(`${name}@${Math.round(clock.monotonic())}`);
    return refund;
  };
  return { clock, rateLimiter, granted, ask };
}

/** A caller with this priority, or with what the function says whenever it is asked. */
export function callerOf(priority: Priority | (() => Priority)): Caller {
  return {
    get priority() {
      return typeof priority === 'function' ? priority() : priority;
    },
  };
}

/** Calls that wait for a token of `action`. */
export function waitingFor(rateLimiter: RateLimiter, action: string): number {
  const level = rateLimiter.levels().find((each) => each.action === action);
  return Object.values(level?.waiting ?? {}).reduce((sum, count) => sum + count, 0);
}
