import { describe, expect, test } from '@jest/globals';
import { Random } from '../../../src/runtime/random.ts';
import { Refusals } from '../../../src/runtime/refusals.ts';
import { mapVisits } from '../../support/map-visits.ts';
import { VirtualClock } from '../../support/virtual-clock.ts';

const bases: Readonly<Record<string, number>> = { brief: 1000, lasting: 4000 };

function policyOf(failure: string): { base: number; cap: number } {
  return { base: bases[failure] ?? 0, cap: 8000 };
}

function rig(random?: Random): { clock: VirtualClock; refusals: Refusals<string> } {
  const clock = new VirtualClock();
  const deps = { clock, remembered: 60_000, ...(random !== undefined && { random }) };
  return { clock, refusals: new Refusals(deps) };
}

describe('a refusal', () => {
  test('lasts longer each time, as long as its last failure says', () => {
    const { refusals } = rig();

    const untils = ['brief', 'brief', 'lasting', 'lasting'].map((failure) => {
      refusals.refused('a', failure, { policy: policyOf(failure) });
      return refusals.of('a')?.until;
    });

    expect(untils).toEqual([1000, 2000, 8000, 8000]);
  });

  test('ends at a random time in the upper half of that', () => {
    const { refusals } = rig(new Random('refusals'));

    refusals.refused('a', 'lasting', { policy: policyOf('lasting') });

    expect(refusals.of('a')?.until).toBeGreaterThan(2000);
    expect(refusals.of('a')?.until).toBeLessThan(4000);
  });

  test('is news unless the call started before the refusal that is known', async () => {
    const { clock, refusals } = rig();
    await clock.advance(100);

    const news = [50, 50, 100].map((startedAt) =>
      refusals.refused('a', 'brief', { policy: policyOf('brief'), startedAt }),
    );

    expect(news).toEqual([true, false, true]);
    expect(refusals.list).toMatchObject([['a', { failures: 2, failure: 'brief' }]]);
  });

  test('counts no longer once it has been over for a while, unless somebody waits for it or tries it', async () => {
    const { clock, refusals } = rig();
    for (const key of ['a', 'b', 'c']) refusals.refused(key, 'brief', { policy: policyOf('brief') });
    refusals.awaitChange(['b'], () => undefined, 0);
    refusals.beginTry(['c']);

    await clock.advance(61_000);

    expect(refusals.list.map(([key]) => key)).toEqual(['b', 'c']);
    refusals.refused('a', 'brief', { policy: policyOf('brief') });
    expect(refusals.of('a')).toMatchObject({ failures: 1, until: 62_000 });
  });

  test('ends with a success, which says whether there was one', () => {
    const { refusals } = rig();
    refusals.refused('a', 'brief', { policy: policyOf('brief') });

    expect([refusals.worked('a'), refusals.worked('a'), refusals.isEmpty]).toEqual([true, false, true]);
  });

  test.each([
    ['wakes who found it not due, although it is due by now', 999, 1],
    ['leaves who found it due to the end of the attempt that follows', 1000, 0],
  ])('%s', async (_, since, expected) => {
    const { clock, refusals } = rig();
    refusals.refused('a', 'brief', { policy: policyOf('brief') });
    await clock.advance(1000);
    let wakes = 0;

    refusals.awaitChange(['a'], () => wakes++, since);
    await clock.advance(60_000);

    expect(wakes).toBe(expected);
  });
});

test('one more refusal costs the same however many keys were refused', () => {
  const { refusals } = rig();
  const count = 2000;

  const visited = mapVisits(() => {
    for (let index = 0; index < count; index++)
      refusals.refused(`key-${index}`, 'brief', { policy: policyOf('brief') });
  });

  expect(visited).toBeLessThan(10 * count);
  expect(refusals.list).toHaveLength(count);
});

test('a refusal that is over counts no longer for the next one, and is forgotten with all others within minutes', async () => {
  const { clock, refusals } = rig();
  refusals.refused('b', 'brief', { policy: policyOf('brief') });
  refusals.refused('a', 'brief', { policy: policyOf('brief') });
  await clock.advance(61_000);

  refusals.refused('a', 'brief', { policy: policyOf('brief') });
  const failures = refusals.of('a')?.failures;
  await clock.advance(61_000 + 6000);
  const isNews = refusals.refused('b', 'brief', { policy: policyOf('brief') });
  refusals.worked('b');

  expect([failures, isNews, refusals.isEmpty]).toEqual([1, true, true]);
});
