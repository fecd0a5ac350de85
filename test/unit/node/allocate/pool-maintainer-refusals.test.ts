import { words } from '../../providers/scripted-implementation.ts';
import { describe, expect, test } from '@jest/globals';
import { planCondition } from '../../../../src/node/conditions/plan-condition.ts';
import type { CloudFailure, CloudFailureKind } from '../../../../src/providers/contract/cloud-failure.ts';
import type { Operation, Outcome } from '../../../../src/providers/contract/operations.ts';
import { eni } from '../allocation-facts.ts';
import { failed } from '../outcomes.ts';
import { always, PoolRig, timesOf, untimed } from '../pool-rig.ts';

const full = eni(0, 9);
const twoSubnets = { 'subnet-1': 50, 'subnet-2': 40 };

function refused(kind: CloudFailureKind, about?: CloudFailure['about']): Outcome {
  const outcome = failed(kind);
  if (outcome.kind === 'done' || about === undefined) return outcome;
  return { ...outcome, failure: { ...outcome.failure, about } };
}

function whileIn(subnetId: string, outcome: Outcome) {
  return (operation: Operation): Outcome | undefined =>
    operation.kind === 'createInterface' && operation.subnetId === subnetId ? outcome : undefined;
}

describe('a refusal', () => {
  test.each(['notAuthorized', 'invalid', 'unknown', 'limitReached', 'conflict'] as const)(
    'leads to a new interface in the same run when it is of an assignment (%s)',
    async (kind) => {
      const rig = new PoolRig({ target: 5, outcome: always('allocateIPs', refused(kind)) });

      await rig.run(1);

      expect(rig.calls).toEqual(['allocate eni-0+5@0', 'create subnet-1+5@0', 'attach eni-new10 1@0']);
      expect(rig.available).toBe(5);
    },
  );

  test.each(['notAuthorized', 'invalid', 'unknown'] as const)(
    'leads to an interface in another subnet in the same run when it is of a creation (%s)',
    async (kind) => {
      const rig = new PoolRig({
        interfaces: [full],
        target: 12,
        free: twoSubnets,
        outcome: whileIn('subnet-1', refused(kind)),
      });

      await rig.run(1);

      expect(untimed(rig.calls)).toEqual(['create subnet-1+3', 'create subnet-2+3', 'attach eni-new10 1']);
      expect(rig.available).toBe(12);
    },
  );

  test('leads to the deletion of the interface and to one in another subnet when it is of an attachment', async () => {
    const rig = new PoolRig({
      interfaces: [full],
      target: 12,
      free: twoSubnets,
      outcome: (operation) =>
        operation.kind === 'attachInterface' && operation.interfaceId === 'eni-new10'
          ? refused('invalid')
          : undefined,
    });

    await rig.run(1);

    expect(untimed(rig.calls)).toEqual([
      'create subnet-1+3',
      'attach eni-new10 1',
      'delete eni-new10',
      'create subnet-2+3',
      'attach eni-new11 1',
    ]);
  });

  test('leads to full existing interfaces when a quota forbids new ones', async () => {
    const rig = new PoolRig({
      target: 12,
      outcome: always('createInterface', refused('limitReached', 'action')),
    });

    await rig.run(1);

    expect(untimed(rig.calls)).toEqual(['allocate eni-0+9', 'create subnet-1+3']);
    expect(
      planCondition(rig.plan ?? { isStuck: false, obstacle: undefined, refusals: [] }, words)?.message,
    ).toBe(
      'raise the quota, or wait until interfaces or addresses are released: call answers code of limitReached: message of limitReached',
    );
  });

  test('leads to single addresses when it is of prefixes', async () => {
    const rig = new PoolRig({
      target: 5,
      node: { prefixDelegation: true },
      outcome: always('allocatePrefixes', refused('invalid', 'prefixes')),
    });

    await rig.run(1);

    expect(untimed(rig.calls)).toEqual(['allocate eni-0+1x16', 'allocate eni-0+5']);
  });

  test('leads to an alternative at most three times, and then the node is left alone for a moment', async () => {
    const free = Object.fromEntries([1, 2, 3, 4, 5, 6].map((place) => [`subnet-${place}`, 90 - place]));
    const rig = new PoolRig({
      interfaces: [full],
      target: 12,
      free,
      outcome: (operation) => (operation.kind === 'attachInterface' ? refused('invalid') : undefined),
    });

    await rig.run(400);
    const first = untimed(rig.calls).filter((call) => call.startsWith('create'));
    await rig.run(1000);

    expect(first).toEqual([
      'create subnet-1+3',
      'create subnet-2+3',
      'create subnet-3+3',
      'create subnet-4+3',
    ]);
    expect(untimed(rig.calls).filter((call) => call.startsWith('create'))[4]).toBe('create subnet-5+3');
  });
});

describe('a refusal without an alternative', () => {
  test.each([
    { kind: 'notAuthorized', min: 5000, max: 10_000 },
    { kind: 'unknown', min: 500, max: 1000 },
  ] as const)('is tried again once, more and more rarely, at least once a minute ($kind)', async (row) => {
    const rig = new PoolRig({
      target: 5,
      limits: { interfaces: 1, addressesPerInterface: 10, prefixes: true },
      outcome: always('allocateIPs', refused(row.kind)),
    });

    await rig.run(600_000);

    const times = timesOf(rig.calls, 'allocate');
    const waits = times.slice(1).map((time, index) => time - (times[index] ?? 0));
    for (const [index, wait] of waits.entries()) {
      expect(wait).toBeGreaterThanOrEqual(Math.min(30_000, row.min * 2 ** index) - 1);
      expect(wait).toBeLessThanOrEqual(Math.min(60_000, row.max * 2 ** index) + 1);
    }
    expect(waits.length).toBeGreaterThan(8);
    expect(rig.bugs).toEqual([]);
  });

  test.each([
    [
      'notAuthorized',
      1,
      'AccessDenied',
      'for interface eni-0 check the credentials that Headwater uses: call answers code of notAuthorized: message of notAuthorized',
    ],
    ['unknown', 1, undefined, undefined],
    ['unknown', 2000, 'CallFailed', 'for interface eni-0 call answers code of unknown: message of unknown'],
  ] as const)(
    'is reported by the node with the name of what was refused (%s after %i ms)',
    async (kind, ms, reason, text) => {
      const rig = new PoolRig({
        target: 5,
        limits: { interfaces: 1, addressesPerInterface: 10, prefixes: true },
        outcome: always('allocateIPs', refused(kind)),
      });

      await rig.run(ms);

      const reported = rig.plan === undefined ? undefined : planCondition(rig.plan, words);
      if (text === undefined) expect(reported).toBeUndefined();
      else expect(reported?.message).toContain(text);
      expect(reported?.reason).toBe(reason);
    },
  );

  test('ends as soon as a try shows that it works again', async () => {
    const rig = new PoolRig({
      target: 5,
      limits: { interfaces: 1, addressesPerInterface: 10, prefixes: true },
      outcome: (operation, number) =>
        operation.kind === 'allocateIPs' && number < 2 ? refused('notAuthorized') : undefined,
    });

    await rig.run(31_000);

    expect(rig.available).toBe(5);
    expect(rig.blocked.list).toEqual([]);
    expect(rig.plan?.refusals).toEqual([]);
  });
});

test('after a try that was neither refused nor had an effect, any node makes the next one', async () => {
  const rig = new PoolRig({
    target: 5,
    limits: { interfaces: 1, addressesPerInterface: 10, prefixes: true },
    outcome: (operation, number) => {
      if (operation.kind !== 'allocateIPs') return undefined;
      return [refused('unknown'), refused('throttled')][number];
    },
  });

  await rig.run(2000);

  expect(rig.available).toBe(5);
});
