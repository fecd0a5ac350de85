import { describe, expect, test } from '@jest/globals';
import type { CallContext } from '../../../../src/providers/contract/cloud.ts';
import { CloudError } from '../../../../src/providers/contract/cloud-failure.ts';
import { CallGate, type LeaseFence } from '../../../../src/providers/gate/call-gate.ts';
import {
  CallError,
  type CallEffect,
  type CloudCall,
  type Sending,
} from '../../../../src/providers/gate/cloud-call.ts';
import { MutationPermission, noPauses } from '../../../../src/providers/gate/mutation-permission.ts';
import { ConcurrencyLimiter } from '../../../../src/providers/rate-limit/concurrency-limiter.ts';
import type { BucketLimit } from '../../../../src/providers/rate-limit/limit-key.ts';
import { RateLimiter } from '../../../../src/providers/rate-limit/rate-limiter.ts';
import { VirtualClock } from '../../../support/virtual-clock.ts';

const context: CallContext = { caller: { priority: 'high' }, signal: new AbortController().signal };
const size: BucketLimit = { kind: 'bucket', capacity: 10, refill: 1 };

/** A call that spends from its own limit, one of its VM and one of the subscription. */
function callOf(name: string, effect: CallEffect, vm: string): CloudCall {
  return {
    name,
    effect,
    limits: [{ name }, { name: 'per-vm', resource: vm }, { name: 'subscription' }],
  };
}

interface Rig {
  readonly clock: VirtualClock;
  readonly gate: CallGate;
  readonly rateLimiter: RateLimiter;
}

function rigOf(fence: Partial<LeaseFence> = {}): Rig {
  const clock = new VirtualClock();
  const rateLimiter = new RateLimiter({
    clock,
    sizes: new Map<string, BucketLimit>([
      ['get', size],
      ['put', size],
      ['per-vm', { ...size, isPerThing: true }],
      ['subscription', size],
    ]),
    overall: undefined,
  });
  const gate = new CallGate({
    rateLimiter,
    concurrency: new ConcurrencyLimiter(50),
    clock,
    timeout: 10_000,
    fence: { leads: () => true, isInSafeLeaseWindow: () => true, ...fence },
    permission: new MutationPermission(noPauses),
    failureOf: ({ name }, { code, message, requestId }) => ({
      kind: code === 'TooManyRequests' ? 'throttled' : 'unknown',
      action: name,
      code,
      message,
      requestId,
    }),
    listener: { onCall: () => undefined, onWait: () => undefined },
  });
  return { clock, gate, rateLimiter };
}

const answered = ({ onSend, onConnected }: Sending): Promise<string> =>
  Promise.resolve().then(() => {
    onSend();
    onConnected?.();
    return 'fine';
  });

function tokensLeft({ rateLimiter }: Rig): Record<string, number> {
  return Object.fromEntries(rateLimiter.levels().map(({ action, tokens }) => [action, tokens]));
}

describe('a call through the gate', () => {
  test('spends from all of its limits', async () => {
    const rig = rigOf();

    const { output } = await rig.gate.read(callOf('get', 'reads', 'v1'), context, answered);

    expect(output).toBe('fine');
    expect(tokensLeft(rig)).toEqual({ get: 9, put: 10, 'per-vm': 9, subscription: 9 });
  });

  test('closes the limit that a 429 names, for every call that spends from it', async () => {
    const rig = rigOf();
    const refusal = new CallError({
      result: 'refused',
      code: 'TooManyRequests',
      message: 'slow down',
      status: 429,
      retryAfter: 5000,
      limit: { name: 'subscription' },
    });
    const refused = ({ onSend }: Sending): Promise<never> => {
      onSend();
      return Promise.reject(refusal);
    };

    const reading = rig.gate.read(callOf('get', 'reads', 'v1'), context, refused);
    await expect(reading).rejects.toThrow(CloudError);
    const admitted: number[] = [];
    void rig.gate
      .admit([callOf('put', 'adds', 'v2')], context)
      .then(() => admitted.push(rig.clock.monotonic()));
    await rig.clock.advance(10_000);

    expect(admitted).toEqual([5000]);
  });

  test('lowers a limit by what an answer says that remains', async () => {
    const rig = rigOf();

    await rig.gate.read(callOf('get', 'reads', 'v1'), context, (sending) => {
      rig.gate.limits.remaining({ name: 'subscription' }, 3);
      return answered(sending);
    });

    expect(tokensLeft(rig)['subscription']).toBeLessThanOrEqual(3);
  });

  test.each<[CallEffect, boolean]>([
    ['reads', true],
    ['adds', false],
    ['takesAway', false],
  ])('that %s is sent without our lease: %s', async (effect, isSent) => {
    const { gate } = rigOf({ leads: () => false });

    const result = await gate.write(callOf('put', effect, 'v1'), context, answered);

    expect(result.kind).toBe(isSent ? 'answered' : 'failed');
  });

  test.each<[CallEffect, boolean]>([
    ['adds', true],
    ['takesAway', false],
  ])('that %s is sent late in our lease: %s', async (effect, isSent) => {
    const { gate } = rigOf({ isInSafeLeaseWindow: () => false });

    const result = await gate.write(callOf('put', effect, 'v1'), context, answered);

    expect(result.kind).toBe(isSent ? 'answered' : 'failed');
  });

  test('that was not sent gives all of its tokens back', async () => {
    const rig = rigOf({ leads: () => false });
    const put = callOf('put', 'adds', 'v1');
    await rig.gate.admit([put], context);

    await rig.gate.write(put, context, answered);

    expect(tokensLeft(rig)).toEqual({ get: 10, put: 10, 'per-vm': 10, subscription: 10 });
  });
});
