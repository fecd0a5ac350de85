import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import {
  exhaustedFor,
  fragmentedFor,
  SubnetLedger,
} from '../../../../src/providers/catalog/subnet-ledger.ts';
import { Random } from '../../../../src/runtime/random.ts';
import { VirtualClock } from '../../../support/virtual-clock.ts';

function ledger(free: number, countedAt = 0): SubnetLedger {
  const made = new SubnetLedger();
  made.observe(new Map([['s', free]]), countedAt);
  return made;
}

describe('the free addresses of a subnet', () => {
  test.each([
    ['covers the subnet', true, 0],
    ['could not include the subnet', false, 10],
  ])('follow a count that does not show it and that %s', (_, isRead, left) => {
    const subnets = ledger(10);

    subnets.observe(new Map(), 5, () => isRead);

    expect(subnets.free('s', 6)).toBe(left);
  });

  test('are none while the subnet is unknown', () => {
    const empty = new SubnetLedger();

    empty.reserve('s', 5).settle(5, 10);
    empty.exhausted('s', 0);
    empty.released('s', 1, 0);

    expect([empty.free('s', 20), empty.reserved('s')]).toEqual([0, 0]);
    expect(empty.blocked(0).size).toBe(0);
  });

  test.each([
    ['a call in flight counts', 3, undefined, undefined, 7],
    ['a call that took all that it requested counts', 3, { taken: 3, at: 20 }, undefined, 7],
    ['a call that took less counts for what it took', 3, { taken: 1, at: 20 }, undefined, 9],
    ['a call that took nothing does not count', 3, { taken: 0, at: 20 }, undefined, 10],
    ['a count started before the call does not include it', 3, { taken: 3, at: 20 }, 5, 7],
    ['a count started while the call was in flight need not include it', 3, { taken: 3, at: 20 }, 19, 7],
    ['a count started after the call includes it', 3, { taken: 3, at: 20 }, 20, 10],
    ['a count does not end a call in flight', 3, undefined, 30, 7],
    ['never less than nothing', 30, undefined, undefined, 0],
  ])('count calls: %s', (_, asked, settled, recountedAt, left) => {
    const subnets = ledger(10);

    const reservation = subnets.reserve('s', asked);
    if (settled !== undefined) reservation.settle(settled.taken, settled.at);
    if (recountedAt !== undefined) subnets.observe(new Map([['s', 10]]), recountedAt);

    expect(subnets.free('s', 50)).toBe(left);
  });

  test.each<[string, readonly [taken: number, at: number] | undefined, number | undefined, number]>([
    ['counts', undefined, undefined, 7],
    ['is included in a count that was started after it', undefined, 30, 10],
    ['is not included in one that was started before', undefined, 19, 7],
    ['does not count once more when its step ends', [3, 40], 30, 10],
    ['counts once it gave back what a count includes', [0, 40], 30, 13],
    ['counts no more once it gave back what no count includes', [0, 40], undefined, 10],
  ])('are reduced by what a call took while its step goes on: it %s', (_, settled, recountedAt, left) => {
    const subnets = ledger(10);

    const reservation = subnets.reserve('s', 3);
    reservation.took(20);
    if (recountedAt !== undefined) subnets.observe(new Map([['s', 10]]), recountedAt);
    if (settled !== undefined) reservation.settle(...settled);

    expect(subnets.free('s', 50)).toBe(left);
  });

  test('get back no prefix of a space of their own when an interface with one is deleted', () => {
    const subnets = ledger(100);
    subnets.reserve('s', 32, 32).settle(32, 10);
    subnets.observe(new Map([['s', 100]]), 20);
    const reservation = subnets.reserve('s', 17, 16);
    reservation.took(30);
    subnets.observe(new Map([['s', 99]]), 31);

    reservation.settle(0, 40);

    expect(subnets.free('s', 41)).toBe(100);
  });

  test.each([
    ['did not fall, so they come out of a space of their own', 100, 100],
    ['fell by another address meanwhile', 99, 99],
    ['fell by them', 68, 52],
  ])('are reduced by prefixes until a count shows that it %s', (_, recounted, left) => {
    const subnets = ledger(100);

    subnets.reserve('s', 32, 32).settle(32, 10);
    expect(subnets.free('s', 11)).toBe(68);
    subnets.observe(new Map([['s', recounted]]), 20);
    subnets.reserve('s', 16, 16).settle(16, 30);

    expect(subnets.free('s', 40)).toBe(left);
  });

  test('are not reduced by reservations of another subnet', () => {
    const subnets = new SubnetLedger();
    subnets.observe(
      new Map([
        ['a', 10],
        ['b', 10],
      ]),
      0,
    );

    subnets.reserve('a', 4);

    expect([subnets.free('a', 0), subnets.free('b', 0)]).toEqual([6, 10]);
  });

  test('ignore a count that was requested earlier, however late it arrives', () => {
    const subnets = ledger(10, 100);
    subnets.reserve('s', 2).settle(2, 150);

    subnets.observe(new Map([['s', 99]]), 50);

    expect(subnets.free('s', 200)).toBe(8);
  });

  test('are forgotten when the cloud no longer shows the subnet', () => {
    const subnets = ledger(10);

    subnets.observe(new Map([['t', 5]]), 10);

    expect([subnets.free('s', 20), subnets.free('t', 20)]).toEqual([0, 5]);
  });

  test('are reduced by the calls made meanwhile when the subnet is shown again', () => {
    const subnets = ledger(10);
    const reservation = subnets.reserve('s', 4);
    subnets.exhausted('s', 0);
    subnets.observe(new Map(), 10);

    subnets.observe(new Map([['s', 10]]), 20);
    reservation.settle(3, 30);

    expect([subnets.free('s', 30), subnets.free('s', exhaustedFor)]).toEqual([0, 7]);
  });

  test('are not forgotten for a count that was requested before the subnet was first seen', () => {
    const subnets = ledger(10, 100);

    subnets.observe(new Map([['t', 5]]), 50);

    expect(subnets.free('s', 200)).toBe(10);
  });
});

describe('an exhausted subnet', () => {
  test('is skipped for a while, whatever the counts say meanwhile', () => {
    const subnets = ledger(10);

    subnets.exhausted('s', 1000);
    subnets.observe(new Map([['s', 10]]), 2000);

    const times = [1000, 1000 + exhaustedFor - 1, 1000 + exhaustedFor];
    expect(times.map((now) => subnets.free('s', now))).toEqual([0, 0, 10]);
    expect(times.map((now) => subnets.blocked(now).get('s'))).toEqual([
      1000 + exhaustedFor,
      1000 + exhaustedFor,
      undefined,
    ]);
  });

  test('is tried again as soon as addresses are released there', () => {
    const subnets = ledger(10);
    subnets.exhausted('s', 1000);

    subnets.released('s', 0, 0);

    expect(subnets.free('s', 1001)).toBe(10);
    expect(subnets.blocked(1001).size).toBe(0);
  });

  test.each([
    { what: 'before the cloud counts again, they add to its count', countedAt: 500, free: 13 },
    { what: 'once it has counted after that, they are in its count', countedAt: 3000, free: 10 },
  ])('has free addresses after a release: $what', ({ countedAt, free }) => {
    const subnets = ledger(10);
    subnets.released('s', 3, 2000);

    subnets.observe(new Map([['s', 10]]), countedAt);

    expect(subnets.free('s', 4000)).toBe(free);
    expect(subnets.reserved('s')).toBe(0);
  });

  test('is skipped for two minutes', () => {
    expect(exhaustedFor).toBe(120_000);
  });
});

describe('a subnet without whole blocks', () => {
  test.each([
    [1, 0],
    [2, 1],
    [9, 4],
  ])('is asked, after it refused %i prefixes, for %i at once, for two minutes', (asked, max) => {
    const subnets = ledger(10);

    subnets.fragmented('s', asked, 1000);

    const found = [1000, 120_999, 121_000].map((now) => subnets.maxPrefixes('s', now));
    expect(found).toEqual([max, max, Infinity]);
    expect(subnets.free('s', 1000)).toBe(10);
    expect(subnets.blocked(1000).size).toBe(0);
    expect(fragmentedFor).toBe(120_000);
  });

  test('is asked for fewer and fewer, and never for more because a larger request was refused later', () => {
    const subnets = ledger(10);

    const found = [9, 4, 9].map((asked) => {
      subnets.fragmented('s', asked, 1000);
      return subnets.maxPrefixes('s', 1000);
    });

    expect(found).toEqual([4, 2, 2]);
  });

  test('starts over once its refusals are forgotten', () => {
    const subnets = ledger(10);
    subnets.fragmented('s', 1, 1000);

    subnets.fragmented('s', 9, 121_000);

    expect(subnets.maxPrefixes('s', 121_000)).toBe(4);
  });

  test('may be asked for any number as soon as something was released there', () => {
    const subnets = ledger(10);
    subnets.fragmented('s', 1, 1000);

    subnets.released('s', 16, 2000);

    expect(subnets.maxPrefixes('s', 2001)).toBe(Infinity);
  });

  test('is remembered while the cloud does not show it', () => {
    const subnets = ledger(10);
    subnets.fragmented('s', 1, 1000);

    subnets.observe(new Map(), 2000);
    subnets.observe(new Map([['s', 40]]), 3000);

    expect([subnets.maxPrefixes('s', 3000), subnets.free('s', 3000)]).toEqual([0, 40]);
  });

  test('is not recorded while the subnet is unknown', () => {
    const empty = new SubnetLedger();

    empty.fragmented('s', 1, 0);

    expect(empty.maxPrefixes('s', 1)).toBe(Infinity);
  });
});

describe('a subnet ledger beside a cloud', () => {
  /** Calls take effect, and counts are true, at some time between their start and end. */
  function history(seed: string): { clock: VirtualClock; check: () => number; run: () => Promise<number> } {
    const clock = new VirtualClock();
    const random = new Random(seed);
    const subnets = new SubnetLedger();
    const cloud = { free: 500, coming: 0 };
    subnets.observe(new Map([['s', cloud.free]]), clock.monotonic());
    const allocate = (): void => {
      const count = Math.min(1 + random.integer(20), subnets.free('s', clock.monotonic()));
      const taken = random.chance(0.2) ? 0 : count;
      const reservation = subnets.reserve('s', count);
      const duration = random.integer(500);
      cloud.coming += taken;
      clock.schedule(random.integer(duration + 1), () => {
        cloud.coming -= taken;
        cloud.free -= taken;
      });
      clock.schedule(duration, () => reservation.settle(taken, clock.monotonic()));
    };
    const count = (): void => {
      const startedAt = clock.monotonic();
      const duration = random.integer(500);
      let counted = cloud.free;
      clock.schedule(random.integer(duration + 1), () => {
        counted = cloud.free;
      });
      clock.schedule(duration, () => subnets.observe(new Map([['s', counted]]), startedAt));
    };
    const check = (): number => cloud.free - cloud.coming - subnets.free('s', clock.monotonic());
    const run = async (): Promise<number> => {
      let worst = Infinity;
      for (let step = 0; step < 60; step++) {
        if (random.chance(0.6)) allocate();
        else count();
        await clock.advance(random.integer(300));
        worst = Math.min(worst, check());
      }
      await clock.advance(2000);
      subnets.observe(new Map([['s', cloud.free]]), clock.monotonic());
      return worst;
    };
    return { clock, check, run };
  }

  test('never promises more than there is, and is right again once the cloud has counted', async () => {
    await fc.assert(
      fc.asyncProperty(fc.string(), async (seed) => {
        const { run, check } = history(seed);

        const worst = await run();

        expect(worst).toBeGreaterThanOrEqual(0);
        expect(check()).toBe(0);
      }),
      { numRuns: 60 },
    );
  });
});

test('addresses that the cloud counts in a subnet that it called full are known by its next count', () => {
  const subnets = ledger(4000);
  subnets.exhausted('s', 10);
  const counted = [subnets.countedThoughFull('s', 11)];
  subnets.observe(new Map([['s', 4000]]), 20);
  counted.push(subnets.countedThoughFull('s', 21), subnets.countedThoughFull('s', 10 + exhaustedFor));
  subnets.exhausted('s', 30 + exhaustedFor);
  counted.push(subnets.countedThoughFull('s', 31 + exhaustedFor));

  expect(counted).toEqual([0, 4000, 0, 4000]);
});

test.each<[string, number, (subnets: SubnetLedger) => void, number]>([
  ['awaits a count for a while', 4000, () => undefined, 15_010],
  ['awaits none once it is counted', 4000, (subnets) => subnets.observe(new Map([['s', 0]]), 20), -Infinity],
  ['awaits none if it was counted as empty before', 0, () => undefined, -Infinity],
  ['awaits none if all was requested', 8, (subnets) => void subnets.reserve('s', 8), -Infinity],
  ['awaits none if it is gone', 4000, (subnets) => subnets.exhausted('s', 10, true), -Infinity],
])('a subnet that the cloud calls full %s', (_, free, change, until) => {
  const subnets = ledger(free);
  subnets.exhausted('s', 10);

  change(subnets);

  expect(subnets.countAwaitedUntil('s', 30)).toBe(until);
  expect([subnets.awaitsCount(30), subnets.awaitsCount(15_010)]).toEqual([until > 30, false]);
});

test.each([
  ['the cloud counts none', (subnets: SubnetLedger) => subnets.observe(new Map([['s', 0]]), 30)],
  ['it has assigned some', (subnets: SubnetLedger) => subnets.reserve('s', 8).settle(8, 30)],
])('a subnet is not known as counted though full once %s', (_, end) => {
  const subnets = ledger(4000);
  subnets.exhausted('s', 10);
  subnets.observe(new Map([['s', 4000]]), 20);
  end(subnets);
  subnets.exhausted('s', 40);

  expect(subnets.countedThoughFull('s', 41)).toBe(0);
});
