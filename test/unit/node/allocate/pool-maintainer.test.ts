import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { Random } from '../../../../src/runtime/random.ts';
import { eni } from '../allocation-facts.ts';
import { failed } from '../outcomes.ts';
import { PoolRig, untimed } from '../pool-rig.ts';

const full = eni(0, 9);

describe('a pool', () => {
  test('is filled, and then left alone', async () => {
    const rig = new PoolRig({ target: 8 });

    await rig.run(60_000);
    await rig.run(60_000);

    expect(rig.available).toBe(8);
    expect(untimed(rig.calls)).toEqual(['allocate eni-0+8']);
    expect(rig.plan).toMatchObject({ steps: [], unmet: 0, obstacle: undefined });
  });

  test('is filled by as many steps at once as needed', async () => {
    const rig = new PoolRig({ target: 25, duration: 500 });

    await rig.run(400);
    const started = [...rig.calls];
    await rig.run(5000);

    expect(started).toEqual(['allocate eni-0+9@0', 'create subnet-1+9@0', 'create subnet-1+7@0']);
    expect(rig.calls.slice(3)).toEqual(['attach eni-new10 1@500', 'attach eni-new11 2@500']);
    expect(rig.available).toBe(25);
  });

  test('serves one need once, however often it is reconciled', async () => {
    const rig = new PoolRig({ target: 20, duration: 500 });

    for (let time = 0; time < 100; time++) await rig.run(13);

    expect(untimed(rig.calls).filter((call) => call.startsWith('allocate'))).toEqual(['allocate eni-0+9']);
    expect(untimed(rig.calls).filter((call) => call.startsWith('create'))).toEqual([
      'create subnet-1+9',
      'create subnet-1+2',
    ]);
    expect(rig.available).toBe(20);
  });

  test('requests what is needed beyond what is in flight', async () => {
    const rig = new PoolRig({ target: 4, duration: 500 });

    await rig.run(100);
    rig.target = 7;
    await rig.run(5000);

    expect(untimed(rig.calls)).toEqual(['allocate eni-0+4', 'allocate eni-0+3']);
    expect(rig.available).toBe(7);
  });

  test('is left alone while its need is unknown', async () => {
    const rig = new PoolRig();
    rig.served = false;

    await rig.run(1000);

    expect(rig.plan).toBeUndefined();
    expect(rig.calls).toEqual([]);
  });

  test('gets interfaces with the tags and the name of the instance', async () => {
    const requests: object[] = [];
    const rig = new PoolRig({
      interfaces: [full],
      target: 12,
      outcome: (operation) => {
        if (operation.kind === 'createInterface') requests.push(operation);
        return undefined;
      },
    });

    await rig.run(1000);

    expect(requests).toMatchObject([
      {
        instanceId: 'i-1',
        subnetId: 'subnet-1',
        securityGroupIds: ['sg-1'],
        addressCount: 3,
        description: 'Cilium-CNI (i-1)',
        tags: { owner: 'headwater' },
      },
    ]);
  });

  test('gets each interface with a token of its own', async () => {
    const tokens: string[] = [];
    const rig = new PoolRig({
      interfaces: [full],
      target: 25,
      outcome: (operation) => {
        if (operation.kind === 'createInterface') tokens.push(operation.token);
        return undefined;
      },
    });

    await rig.run(1000);

    expect(new Set(tokens).size).toBe(2);
  });

  test('says how many its interface may have then, with what is held and what is unconfirmed', async () => {
    const asked: unknown[] = [];
    const rig = new PoolRig({ max: 9, outcome: (operation) => void asked.push(operation) });
    const { inventory } = rig;
    inventory.untrack('i-1', -Infinity);
    inventory.track('i-1', [eni(0, 2)], 0, { pendingRelease: new Set() });
    const observations = [{ kind: 'interface', interface: eni(0, 5) } as const];
    inventory.applyRefresh({ startedAt: 0, endedAt: 0, instanceIds: ['i-1'], observations });

    await rig.run(1000);

    expect(asked).toMatchObject([{ kind: 'allocateIPs', count: 4, max: 9 }]);
  });

  test('reports each step that ended, with its duration', async () => {
    const rig = new PoolRig({ target: 12, duration: 500 });

    await rig.run(5000);

    expect(rig.steps).toMatchObject([
      {
        step: { kind: 'allocateIPs', count: 9 },
        result: { kind: 'done', interfaceId: 'eni-0' },
        duration: 500,
      },
      {
        step: { kind: 'createInterface', count: 3 },
        result: { kind: 'done', interfaceId: 'eni-new10' },
        duration: 1000,
      },
    ]);
  });
});

describe('a pool while nothing may be assigned', () => {
  test('starts nothing and refunds the tokens of what waits, and is filled afterwards', async () => {
    const rig = new PoolRig({ target: 8, crowded: true });
    await rig.run(0);
    const waiting = rig.waiting;

    rig.permission.change({ pause: ['mutations'] });
    rig.admitNext();
    await rig.run(60_000);
    const whilePaused = [rig.calls.length, rig.waiting, rig.refunds.length, rig.plan?.steps.length];
    rig.permission.change({ pause: [] });
    await rig.run(0);
    rig.admitNext();
    await rig.run(1000);

    expect(waiting).toBe(1);
    expect(whilePaused).toEqual([0, 0, 1, 1]);
    expect(rig.available).toBe(8);
  });

  test('counts what the gate held back as no failure, and waits for nothing once it may go', async () => {
    const rig = new PoolRig({
      target: 8,
      outcome: (_, number) => (number === 0 ? failed('stopped') : undefined),
    });

    await rig.run(0);
    await rig.run(1);

    expect(untimed(rig.calls)).toEqual(['allocate eni-0+8', 'allocate eni-0+8']);
    expect(rig.maintainer.backoff.trouble).toBeUndefined();
    expect(rig.available).toBe(8);
  });
});

describe('a step that waits for the rate limits', () => {
  test('is decided again once it may go', async () => {
    const rig = new PoolRig({ target: 4, crowded: true });
    await rig.run(100);

    rig.target = 9;
    await rig.clock.advance(5000);
    rig.admitNext();
    await rig.clock.advance(100);

    expect(rig.calls).toEqual(['allocate eni-0+9@5100']);
  });

  test('takes another interface when its own is full by then', async () => {
    const rig = new PoolRig({ target: 4, crowded: true, interfaces: [eni(0), eni(1)] });
    await rig.run(100);

    const addresses = eni(0, 9).addresses;
    rig.inventory.applyAnswer(
      { kind: 'allocated', interfaceId: 'eni-0', instanceId: 'i-1', addresses, prefixes: [] },
      100,
    );
    rig.target = 13;
    rig.admitNext();
    await rig.clock.advance(100);

    expect(untimed(rig.calls)).toEqual(['allocate eni-1+4']);
  });

  test('takes another subnet when its own is exhausted by then', async () => {
    const rig = new PoolRig({
      target: 12,
      crowded: true,
      interfaces: [full],
      free: { 'subnet-1': 40, 'subnet-2': 30 },
    });
    await rig.run(100);

    rig.ledger.exhausted('subnet-1', rig.clock.monotonic());
    rig.admitNext();
    await rig.clock.advance(100);

    expect(untimed(rig.calls)[0]).toBe('create subnet-2+3');
  });

  test('is dropped when it is no longer needed, and its tokens are refunded', async () => {
    const rig = new PoolRig({ target: 12, crowded: true });
    await rig.run(100);

    rig.target = 0;
    const waiting = rig.waiting;
    while (rig.waiting > 0) rig.admitNext();
    await rig.clock.advance(1000);

    expect(waiting).toBe(2);
    expect(rig.refunds).toEqual(['all', 'all']);
    expect(rig.calls).toEqual([]);
  });

  test('does not grow with the time that it waits', async () => {
    const rig = new PoolRig({ target: 12, crowded: true });

    for (let time = 0; time < 50; time++) await rig.run(100);

    expect(rig.waiting).toBe(2);
  });

  test('grows with the need', async () => {
    const rig = new PoolRig({ target: 4, crowded: true });
    await rig.run(100);

    rig.target = 20;
    await rig.run(100);

    expect(rig.waiting).toBe(3);
  });
});

describe('the addresses of a subnet', () => {
  test('are reserved while they are requested, the primary one included', async () => {
    const rig = new PoolRig({ interfaces: [full], target: 12, duration: 500 });

    await rig.run(100);
    const during = rig.ledger.free('subnet-1', rig.clock.monotonic());
    await rig.run(5000);

    expect(during).toBe(96);
    expect(rig.ledger.free('subnet-1', rig.clock.monotonic())).toBe(96);
    rig.ledger.observe(new Map([['subnet-1', 96]]), rig.clock.monotonic());
    expect(rig.ledger.free('subnet-1', rig.clock.monotonic())).toBe(96);
  });

  test('are free again when a call fails for good', async () => {
    const rig = new PoolRig({ target: 8, outcome: () => failed('notAuthorized') });

    await rig.run(100);

    expect(rig.ledger.free('subnet-1', rig.clock.monotonic())).toBe(100);
  });

  test('are not promised twice to steps that go together', async () => {
    const rig = new PoolRig({ interfaces: [full], target: 40, duration: 500, free: { 'subnet-1': 13 } });

    await rig.run(5000);

    expect(untimed(rig.calls).filter((call) => call.startsWith('create'))).toEqual([
      'create subnet-1+9',
      'create subnet-1+2',
    ]);
    expect(rig.plan).toMatchObject({ obstacle: { kind: 'subnetsExhausted', subnetIds: ['subnet-1'] } });
  });
});

test('a count of a subnet that includes a new interface leaves the rest free while that is attached', async () => {
  const rig = new PoolRig({ interfaces: [eni(0, 9)], target: 18, free: { 'subnet-1': 20 }, duration: 1000 });
  await rig.run(1500);
  const before = rig.ledger.free('subnet-1', 1500);

  rig.ledger.observe(new Map([['subnet-1', 10]]), 1200);
  const during = [rig.ledger.free('subnet-1', 1500), rig.ledger.reserved('subnet-1')];
  await rig.run(10_000);

  expect(untimed(rig.calls)).toEqual(['create subnet-1+9', 'attach eni-new10 1']);
  expect([before, during]).toEqual([10, [10, 0]]);
  expect(rig.ledger.free('subnet-1', 11_500)).toBe(10);
});

describe('a pool, in whatever order things happen,', () => {
  test('gets what it needs and no more', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.string(),
        fc.array(fc.record({ target: fc.nat(27), wait: fc.nat(1200) }), { minLength: 1, maxLength: 12 }),
        async (seed, changes) => {
          const random = new Random(seed);
          const rig = new PoolRig({ target: 0, crowded: true, duration: 1 + random.integer(900) });
          let highest = 0;

          for (const { target, wait } of changes) {
            rig.target = target;
            highest = Math.max(highest, target);
            await rig.run(wait);
            for (let grants = random.integer(3); grants > 0; grants--) rig.admitNext();
          }
          for (let round = 0; round < 40; round++) {
            await rig.run(1000);
            rig.admitNext();
          }

          expect(rig.bugs).toEqual([]);
          expect(rig.available).toBeLessThanOrEqual(highest);
          expect(rig.available).toBeGreaterThanOrEqual(rig.target);
          expect(rig.ledger.reserved('subnet-1')).toBeLessThanOrEqual(rig.available + 2);
        },
      ),
      { numRuns: 60 },
    );
  });
});

const detached = {
  ...eni(9),
  attachment: undefined,
  description: 'Cilium-CNI (i-1)',
  tags: { 'headwater/instance-id': 'i-1' },
};

test.each([
  { leaving: undefined, isAttached: true },
  { leaving: ['eni-9'], isAttached: false },
])(
  'the detached eni-9 is attached while $leaving is being deleted: $isAttached',
  async ({ leaving, isAttached }) => {
    const rig = new PoolRig({ interfaces: [eni(0)], target: 0, ...(leaving !== undefined && { leaving }) });
    rig.readOrphans([detached]);
    await rig.run(31_000);
    rig.readOrphans([detached]);
    rig.target = 12;

    await rig.run(1000);

    expect(rig.calls.some((call) => call.startsWith('attach eni-9'))).toBe(isAttached);
  },
);

test.each([
  ['stopped', true],
  ['fenced', true],
  ['unreadable', true],
  ['throttled', true],
  ['unknown', false],
  ['invalid', false],
] as const)(
  'an orphaned interface whose attachment fails once as %s is attached again: %s',
  async (kind, isAttached) => {
    const rig = new PoolRig({
      interfaces: [eni(0)],
      target: 0,
      outcome: ({ kind: operation }, number) =>
        operation === 'attachInterface' && number === 0 ? failed(kind) : undefined,
    });
    rig.readOrphans([detached]);
    await rig.run(31_000);
    rig.readOrphans([detached]);
    rig.target = 12;

    await rig.run(120_000);

    const attached = rig.steps.filter(({ result }) => result.kind === 'done').map(({ step }) => step.kind);
    expect(attached.includes('adoptInterface')).toBe(isAttached);
  },
);
