import { describe, expect, test } from '@jest/globals';
import type { CloudFailureKind } from '../../../../src/providers/contract/cloud-failure.ts';
import type { Operation, Outcome } from '../../../../src/providers/contract/operations.ts';
import { eni } from '../allocation-facts.ts';
import { failed, failure, lost } from '../outcomes.ts';
import { always, callTimeout, consistencyWindow, PoolRig, timesOf, untimed } from '../pool-rig.ts';

const full = eni(0, 9);

/** Operations of this kind have these outcomes, in order. */
function outcomes(kind: Operation['kind'], ...given: readonly (Outcome | undefined)[]) {
  return (operation: Operation, number: number): Outcome | undefined =>
    operation.kind === kind ? given[number] : undefined;
}

describe('an exhausted subnet', () => {
  test.each(['subnetExhausted', 'subnetGone'] as const)(
    'is skipped for the next best one at once (%s)',
    async (kind) => {
      const rig = new PoolRig({
        interfaces: [full],
        target: 12,
        duration: 100,
        free: { 'subnet-1': 50, 'subnet-2': 40 },
        outcome: outcomes('createInterface', failed(kind)),
      });

      await rig.run(5000);

      expect(rig.calls).toEqual(['create subnet-1+3@0', 'create subnet-2+3@100', 'attach eni-new10 1@200']);
      expect(rig.available).toBe(12);
      expect([...rig.ledger.blocked(rig.clock.monotonic()).keys()]).toEqual(['subnet-1']);
      expect(rig.ledger.isGone('subnet-1', rig.clock.monotonic())).toBe(kind === 'subnetGone');
    },
  );

  test('leads to a new interface in another subnet when an existing interface is in it', async () => {
    const rig = new PoolRig({
      target: 5,
      free: { 'subnet-1': 50, 'subnet-2': 40 },
      outcome: outcomes('allocateIPs', failed('subnetExhausted')),
    });

    await rig.run(5000);

    expect(untimed(rig.calls)).toEqual(['allocate eni-0+5', 'create subnet-2+5', 'attach eni-new10 1']);
  });

  test('is tried again after two minutes when there is no other', async () => {
    const rig = new PoolRig({ target: 5, outcome: outcomes('allocateIPs', failed('subnetExhausted')) });

    await rig.run(119_999);
    const before = rig.calls.length;
    const obstacle = rig.plan?.obstacle;
    await rig.clock.advance(2);
    await rig.run(0);

    expect(before).toBe(1);
    expect(obstacle).toMatchObject({ kind: 'subnetsExhausted', subnetIds: ['subnet-1'] });
    expect(rig.calls).toHaveLength(2);
  });

  test('is no failure of the node', async () => {
    const rig = new PoolRig({ target: 5, outcome: always('allocateIPs', failed('subnetExhausted')) });

    await rig.run(5000);

    expect(rig.maintainer.backoff.trouble).toBeUndefined();
  });
});

describe('a failed step', () => {
  test('is followed by longer and longer pauses', async () => {
    const rig = new PoolRig({ target: 5, outcome: always('allocateIPs', failed('unreachable')) });

    await rig.run(300_000);

    const times = timesOf(rig.calls, 'allocate');
    const waits = times.slice(1).map((time, index) => time - (times[index] ?? 0));
    for (const [index, wait] of waits.entries()) {
      const max = Math.min(60_000, 1000 * 2 ** index);
      expect(wait).toBeGreaterThanOrEqual(max / 2 - 1);
      expect(wait).toBeLessThanOrEqual(max + 1);
    }
    expect(waits.length).toBeGreaterThan(8);
  });

  test.each(['unreachable', 'notAuthorized'] as const)(
    'is repeated in time, although timers fire early, when it is a creation next to a successful assignment (%s)',
    async (kind) => {
      const rig = new PoolRig({
        target: 12,
        duration: 100,
        haste: 1.5,
        outcome: (operation, number) => {
          if (operation.kind === 'createInterface' && number < 3) return failed(kind);
          return undefined;
        },
      });

      await rig.run(kind === 'notAuthorized' ? 80_000 : 10_000);

      expect(rig.available).toBe(12);
    },
  );

  test('is repeated also if its pause ends within the pass that still found it pausing', async () => {
    const rig = new PoolRig({ outcome: outcomes('allocateIPs', failed('unreachable')) });
    await rig.run(0);
    rig.served = false;
    await rig.clock.advance(5000);

    const { requeueAfter = Infinity } = rig.maintainer.step(0);

    expect(requeueAfter).toBeLessThanOrEqual(1000);
  });

  test('is forgotten after a success', async () => {
    const fails = failed('unreachable');
    const rig = new PoolRig({
      target: 5,
      outcome: outcomes('allocateIPs', fails, fails, fails, undefined, fails),
    });
    await rig.run(60_000);

    const before = rig.calls.length;
    rig.target = 8;
    await rig.run(1100);

    expect(before).toBe(4);
    expect(rig.calls.slice(4)).toHaveLength(2);
    expect(rig.available).toBe(8);
  });

  test('counts once together with others at once', async () => {
    const rig = new PoolRig({
      target: 25,
      duration: 100,
      outcome: (operation) =>
        operation.kind === 'attachInterface' || operation.kind === 'deleteInterface'
          ? undefined
          : failed('unreachable'),
    });

    await rig.run(1200);

    const tries = rig.calls.filter((call) => !call.endsWith('@0'));
    expect(rig.calls).toHaveLength(6);
    expect(tries).toHaveLength(3);
  });

  test('holds back what still waits for the rate limits', async () => {
    const rig = new PoolRig({
      target: 25,
      crowded: true,
      outcome: (operation) => (operation.kind === 'allocateIPs' ? failed('instanceNotRunning') : undefined),
    });
    await rig.run(100);
    const waiting = rig.waiting;

    rig.admitNext();
    await rig.clock.advance(10);
    while (rig.waiting > 0) rig.admitNext();
    await rig.clock.advance(10);

    expect(waiting).toBe(3);
    expect(untimed(rig.calls)).toEqual(['allocate eni-0+9']);
    expect(rig.refunds).toEqual(['all', 'all']);
  });

  test('leaves the node alone for a minute when the instance is not running', async () => {
    const rig = new PoolRig({ target: 5, outcome: outcomes('allocateIPs', failed('instanceNotRunning')) });

    await rig.run(59_000);
    const before = rig.calls.length;
    await rig.run(2000);

    expect(before).toBe(1);
    expect(rig.calls).toHaveLength(2);
  });

  test.each<[CloudFailureKind, boolean]>([
    ['limitReached', true],
    ['instanceGone', true],
    ['instanceNotRunning', true],
    ['interfaceGone', true],
    ['deviceIndexTaken', true],
    ['conflict', true],
    ['throttled', false],
    ['notAuthorized', false],
    ['unknown', false],
  ])(
    'invalidates what is known of the instance, depending on its kind: %s, %s',
    async (kind, invalidates) => {
      const rig = new PoolRig({ target: 5, outcome: outcomes('allocateIPs', failed(kind)) });

      await rig.run(100);

      expect(rig.invalidations).toEqual(invalidates ? [0] : []);
    },
  );

  test.each<[CloudFailureKind, number]>([
    // Each call for an instance that is going is one too many.
    ['instanceGone', 60_000],
    ['unreachable', 1000],
  ])('becomes a condition when it lasts, depending on its kind: %s, after %i ms', async (kind, pause) => {
    const rig = new PoolRig({ target: 5, outcome: outcomes('allocateIPs', failed(kind), failed(kind)) });

    await rig.run(100);
    const early = rig.maintainer.backoff.trouble;
    await rig.run(pause + 100);
    const later = rig.maintainer.backoff.trouble;
    await rig.run(10 * pause);

    expect(early).toBeUndefined();
    expect(later).toEqual(failure(kind));
    expect(rig.maintainer.backoff.trouble).toBeUndefined();
    expect(rig.available).toBe(5);
  });

  test('frees the addresses of an interface that could not be attached once that is deleted', async () => {
    const rig = new PoolRig({
      interfaces: [full],
      target: 12,
      outcome: outcomes('attachInterface', failed('limitReached')),
    });

    await rig.run(400);

    expect(rig.steps[0]?.result).toMatchObject({ kind: 'failed', at: 'attach', taken: 0, left: undefined });
    expect(rig.ledger.free('subnet-1', rig.clock.monotonic())).toBe(100);
  });

  test('reports an orphaned interface, which holds its addresses, when the deletion fails as well', async () => {
    const rig = new PoolRig({
      interfaces: [full],
      target: 12,
      outcome: (operation, number) => {
        if (operation.kind === 'attachInterface' && number === 0) return failed('limitReached');
        return operation.kind === 'deleteInterface' ? failed('notAuthorized') : undefined;
      },
    });

    await rig.run(60_000);

    const results = rig.steps.map(({ result }) => result);
    expect(results).toContainEqual(
      expect.objectContaining({ kind: 'failed', at: 'attach', taken: 4, left: 'eni-new10' }),
    );
    // Those of the orphaned interface and of its successor.
    expect(rig.ledger.free('subnet-1', rig.clock.monotonic())).toBe(92);
  });

  test('leaves open whether addresses are taken when the answers to a creation are lost', async () => {
    const rig = new PoolRig({ interfaces: [full], target: 12, outcome: always('createInterface', lost) });

    await rig.run(20_000);

    expect(rig.steps[0]?.result).toMatchObject({ kind: 'failed', at: 'create', taken: 4, left: undefined });
    expect(rig.ledger.reserved('subnet-1')).toBeGreaterThanOrEqual(4);
  });
});

describe('an assignment whose answer was lost', () => {
  const thawsAt = callTimeout + consistencyWindow;

  test('leaves its interface alone until it can no longer take effect unseen and a refresh after that', async () => {
    const rig = new PoolRig({
      target: 5,
      limits: { interfaces: 1, addressesPerInterface: 10, prefixes: true },
      outcome: outcomes('allocateIPs', lost),
      duration: 100,
      refreshDuration: 50,
    });

    await rig.run(600_000);

    expect(rig.invalidations).toEqual([100]);
    expect(rig.refreshes).toEqual([100 + thawsAt]);
    expect(rig.calls).toEqual(['allocate eni-0+5@0', `allocate eni-0+5@${100 + thawsAt + 50}`]);
  });

  test('is not repeated when a refresh shows what it brought', async () => {
    const rig = new PoolRig({
      target: 5,
      limits: { interfaces: 1, addressesPerInterface: 10, prefixes: true },
      outcome: outcomes('allocateIPs', lost),
      shown: () => [eni(0, 5)],
    });

    await rig.run(600_000);

    expect(untimed(rig.calls)).toEqual(['allocate eni-0+5']);
    expect(rig.available).toBe(5);
  });

  test('does not keep the node from other interfaces', async () => {
    const rig = new PoolRig({ target: 5, outcome: outcomes('allocateIPs', lost) });

    await rig.run(5000);

    expect(untimed(rig.calls)).toEqual(['allocate eni-0+5', 'create subnet-1+5', 'attach eni-new10 1']);
    expect(rig.available).toBe(5);
  });

  test('counts the addresses that it may bring towards the maximum of the node', async () => {
    const rig = new PoolRig({ target: 12, max: 12, outcome: outcomes('allocateIPs', lost) });

    await rig.run(thawsAt - 1);
    const before = untimed(rig.calls);
    await rig.run(1000);

    expect(before).toEqual(['allocate eni-0+9', 'create subnet-1+3', 'attach eni-new10 1']);
    expect(untimed(rig.calls).slice(before.length)).toEqual(['allocate eni-0+9']);
    expect(rig.available).toBe(12);
  });

  test('may have taken its addresses', async () => {
    const rig = new PoolRig({ target: 5, outcome: outcomes('allocateIPs', lost) });

    await rig.run(0);

    expect(rig.steps[0]?.result).toMatchObject({ kind: 'failed', at: 'allocate', taken: 5 });
    expect(rig.ledger.free('subnet-1', rig.clock.monotonic())).toBe(95);
  });

  test('has its own time: an earlier one on the same interface does not end it', async () => {
    const limits = { interfaces: 1, addressesPerInterface: 10, prefixes: true };
    const rig = new PoolRig({
      target: 2,
      limits,
      duration: 5000,
      outcome: outcomes('allocateIPs', lost, lost),
    });
    rig.evaluate();
    await rig.clock.advance(4000);
    rig.target = 5;

    await rig.run(600_000);

    expect(rig.calls.slice(0, 2)).toEqual(['allocate eni-0+2@0', 'allocate eni-0+3@4000']);
    expect(timesOf(rig.calls, 'allocate')[2]).toBeGreaterThanOrEqual(9000 + thawsAt);
  });
});

describe('a bug in a step', () => {
  test('is reported, backs off and leaks nothing', async () => {
    const rig = new PoolRig({
      target: 5,
      outcome: (_, number) => {
        if (number === 0) throw new TypeError('broken');
        return undefined;
      },
    });

    await rig.run(400);
    const before = { calls: rig.calls.length, bugs: rig.bugs.length };
    await rig.run(5000);

    expect(before).toEqual({ calls: 1, bugs: 1 });
    expect(rig.available).toBe(5);
    rig.ledger.observe(new Map([['subnet-1', 95]]), rig.clock.monotonic());
    expect(rig.ledger.free('subnet-1', rig.clock.monotonic())).toBe(95);
  });
});

describe('a pool maintainer that is stopped', () => {
  test('finishes steps in flight and starts none', async () => {
    const rig = new PoolRig({ interfaces: [full], target: 12, duration: 1000 });
    await rig.run(500);
    let stoppedAt: number | undefined;

    void rig.tasks.stop(new AbortController().signal).then(() => {
      stoppedAt = rig.clock.monotonic();
    });
    rig.target = 20;
    await rig.run(60_000);

    expect(untimed(rig.calls)).toEqual(['create subnet-1+3', 'attach eni-new10 1']);
    expect(stoppedAt).toBe(2000);
    expect(rig.plan).toBeUndefined();
  });

  test('drops what waits for the rate limits', async () => {
    const rig = new PoolRig({ crowded: true });
    await rig.run(100);

    await rig.tasks.stop(new AbortController().signal);

    expect(rig.waiting).toBe(0);
    expect([rig.calls, rig.bugs]).toEqual([[], []]);
  });

  test('leaves no timer behind', async () => {
    const rig = new PoolRig({ target: 5, duration: 100, outcome: always('allocateIPs', lost) });
    await rig.run(50);

    const stopping = rig.tasks.stop(new AbortController().signal);
    await rig.clock.advance(100);
    await stopping;
    const before = rig.clock.monotonic();

    await rig.clock.runUntil(() => false, 600_000);
    expect(rig.clock.monotonic()).toBe(before);
    expect(rig.refreshes).toEqual([]);
  });

  test('ends at its deadline, which is no bug', async () => {
    const rig = new PoolRig({
      interfaces: [full],
      target: 12,
      outcome: always('attachInterface', failed('notYetVisible')),
    });
    const deadline = new AbortController();
    await rig.run(500);

    const stopping = rig.tasks.stop(deadline.signal);
    deadline.abort(new Error('no time left'));
    await stopping;

    expect(rig.bugs).toEqual([]);
    expect(rig.steps[0]?.result).toMatchObject({ kind: 'failed', at: 'attach', left: 'eni-new10', taken: 4 });
  });

  test.each([
    ['an assignment', [eni(0)]],
    ['a creation', [full]],
  ])('gives up %s that was not sent by the deadline, which is no bug', async (_, interfaces) => {
    const rig = new PoolRig({ interfaces, target: 12, stuck: true });
    const deadline = new AbortController();
    await rig.run(100);

    const stopping = rig.tasks.stop(deadline.signal);
    deadline.abort(new Error('no time left'));
    await stopping;

    expect([rig.calls, rig.bugs]).toEqual([[], []]);
    rig.ledger.observe(new Map([['subnet-1', 100]]), rig.clock.monotonic());
    expect(rig.ledger.free('subnet-1', rig.clock.monotonic())).toBe(100);
  });

  test('starts nothing that was admitted meanwhile', async () => {
    const rig = new PoolRig({ target: 5, crowded: true });
    await rig.run(100);

    rig.admitNext();
    await rig.tasks.stop(AbortSignal.abort(new Error('no time left')));

    expect([rig.calls, rig.refunds]).toEqual([[], ['all']]);
  });
});

test('the index of an unreadable interface is not tried when another one is taken', async () => {
  const rig = new PoolRig({
    interfaces: [full],
    target: 12,
    limits: { interfaces: 5, addressesPerInterface: 10, prefixes: true },
    outcome: outcomes('attachInterface', failed('deviceIndexTaken')),
  });
  rig.inventory.applyRefresh({
    startedAt: 0,
    endedAt: 0,
    instanceIds: ['i-1'],
    observations: [
      { kind: 'interface', interface: full },
      {
        kind: 'unreadableInterface',
        interface: { id: 'eni-x', instanceId: 'i-1', deviceIndex: 2, networkCard: 0, problem: 'broken' },
      },
    ],
  });

  await rig.run(10_000);

  expect(untimed(rig.calls)).toEqual(['create subnet-1+3', 'attach eni-new10 1', 'attach eni-new10 3']);
});
