// Calls whose requests end late, never, or although they were given up: nothing may hang on them.
import { describe, expect, test } from '@jest/globals';
import type { CallContext } from '../../../../src/providers/contract/cloud.ts';
import { CallGate } from '../../../../src/providers/gate/call-gate.ts';
import { CallError, type CloudCall, type Sending } from '../../../../src/providers/gate/cloud-call.ts';
import { MutationPermission, noPauses } from '../../../../src/providers/gate/mutation-permission.ts';
import { ConcurrencyLimiter } from '../../../../src/providers/rate-limit/concurrency-limiter.ts';
import type { BucketLimit } from '../../../../src/providers/rate-limit/limit-key.ts';
import { RateLimiter } from '../../../../src/providers/rate-limit/rate-limiter.ts';
import { priorities } from '../../../../src/providers/contract/priority.ts';
import { sleep } from '../../../../src/runtime/clock.ts';
import { Random } from '../../../../src/runtime/random.ts';
import { TaskGroup } from '../../../../src/runtime/task-group.ts';
import { VirtualClock } from '../../../support/virtual-clock.ts';

const size: BucketLimit = { kind: 'bucket', capacity: 5, refill: 2 };
const never = new AbortController().signal;
const forEver = new Promise<never>(() => undefined);
const pressing: CallContext = { caller: { priority: 'high' }, signal: never };
const timeout = 2000;

interface Rig {
  readonly clock: VirtualClock;
  readonly gate: CallGate;
  readonly concurrency: ConcurrencyLimiter;
}

function rigOf(slots: number): Rig {
  const clock = new VirtualClock();
  const concurrency = new ConcurrencyLimiter(slots);
  const sizes = new Map<string, BucketLimit>([
    ['call', size],
    ['per-vm', { ...size, isPerThing: true }],
  ]);
  const gate = new CallGate({
    rateLimiter: new RateLimiter({ clock, sizes, overall: undefined }),
    concurrency,
    clock,
    timeout,
    fence: { leads: () => true, isInSafeLeaseWindow: () => true },
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
  return { clock, gate, concurrency };
}

function callOf(vm: string): CloudCall {
  return { name: 'call', effect: 'adds', limits: [{ name: 'call' }, { name: 'per-vm', resource: vm }] };
}

describe('a request that never settles', () => {
  test.each<[string, (sending: Sending) => Promise<string>, string]>([
    [
      'after it was sent',
      ({ onSend }) => {
        onSend();
        return forEver;
      },
      'ambiguous',
    ],
    ['before it was sent', () => forEver, 'failed'],
  ])('%s ends with its time-out and frees its slot', async (_, send, kind) => {
    const { clock, gate } = rigOf(1);
    const first = gate.write(callOf('v1'), pressing, send);
    const second = gate.write(callOf('v2'), pressing, ({ onSend }) => {
      onSend();
      return Promise.resolve('fine');
    });
    await clock.advance(timeout + 1000);

    expect((await first).kind).toBe(kind);
    expect((await second).kind).toBe('answered');
  });

  test('does not leave late, when it has been given up', async () => {
    const { clock, gate } = rigOf(1);
    const sent: string[] = [];
    const late = Promise.withResolvers<void>();

    const result = gate.write(callOf('v1'), pressing, async ({ onSend }) => {
      await late.promise;
      onSend();
      sent.push('it');
      return 'fine';
    });
    await clock.advance(timeout + 1000);
    late.resolve();
    await clock.advance(1000);

    expect((await result).kind).toBe('failed');
    expect(sent).toEqual([]);
  });
});

/** What a cloud does with one request. */
async function nonsense(random: Random, clock: VirtualClock, { onSend, signal }: Sending): Promise<string> {
  const moment = (): number => random.integer(2 * timeout);
  if (random.chance(0.2)) await sleep(clock, moment(), random.chance(0.5) ? signal : never);
  if (random.chance(0.05)) return forEver;
  onSend();
  if (random.chance(0.2)) return forEver;
  if (random.chance(0.5)) await sleep(clock, moment(), random.chance(0.7) ? signal : never);
  if (random.chance(0.3)) throw new Error('a bug of a library');
  const isThrottled = random.chance(0.3);
  const retryAfter = random.pick([undefined, 0, 1000, 3_600_000, Infinity, Number.NaN]);
  if (isThrottled)
    throw new CallError({
      result: 'refused',
      code: 'TooManyRequests',
      message: 'slow down',
      status: 429,
      ...(retryAfter !== undefined && { retryAfter }),
    });
  return 'fine';
}

describe('tasks of two groups, one above the other, that send calls to a cloud that answers nonsense', () => {
  test.each(Array.from({ length: 200 }, (_, seed) => seed))(
    'end soon after the deadline with seed %i, and no slot stays taken',
    async (seed) => {
      const random = new Random(`nonsense/${seed}`);
      const { clock, gate, concurrency } = rigOf(1 + random.integer(4));
      const onBug = (): void => undefined;
      const nodes = new TaskGroup({ clock, onBug });
      const manager = new TaskGroup({ clock, onBug });
      const deadline = new AbortController();
      const begin = (vm: number): void =>
        nodes.beginTask(async () => {
          const signal = random.chance(0.5) ? nodes.deadline : nodes.closing;
          const caller = {
            get priority() {
              return random.pick([...priorities]);
            },
          };
          const context = { caller, signal };
          const calls = Array.from({ length: 1 + random.integer(2) }, () => callOf(`v${vm}`));
          const refund = await gate.admit(calls, context);
          for (const call of calls) {
            if (random.chance(0.2)) refund([call]);
            else await gate.write(call, context, (sending) => nonsense(random, clock, sending));
          }
        });

      for (let round = 0; round < 40; round++) {
        for (let vm = 0; vm < 3; vm++) if (random.chance(0.7)) begin(vm);
        if (random.chance(0.3)) gate.reconsider();
        await clock.advance(random.integer(1500));
      }
      let hasEnded = false;
      manager.beginTask(() => nodes.stop(manager.deadline));
      void manager.stop(deadline.signal).then(() => {
        hasEnded = true;
      });
      await clock.advance(random.integer(3000));
      deadline.abort();
      // Work that ignores its end is given up a second later.
      await clock.advance(1000);

      expect(hasEnded).toBe(true);
      expect(nodes.isIdle).toBe(true);
      let free = 0;
      for (let slot = 0; slot < 4; slot++)
        concurrency.enter({ caller: { priority: 'critical' } }, () => free++);
      await clock.advance(2 * timeout);
      expect(free).toBeGreaterThan(0);
      expect(gate.inFlight).toBe(0);
    },
  );
});
