import { describe, expect, test } from '@jest/globals';
import { RefusedParties } from '../../../src/runtime/refused-parties.ts';
import { mapVisits } from '../../support/map-visits.ts';
import { VirtualClock } from '../../support/virtual-clock.ts';

function rig(): { clock: VirtualClock; parties: RefusedParties<string> } {
  const clock = new VirtualClock();
  return { clock, parties: new RefusedParties(clock, 1000) };
}

describe('parties that were refused what they share', () => {
  test('are suspects together until one is served', () => {
    const { parties } = rig();
    parties.refused('subnet', 'a', 'no', 'eni-1');
    parties.refused('subnet', 'b', 'no', 'eni-2');
    const before = [parties.suspects('subnet'), parties.hasWorked('subnet')];

    parties.worked('subnet', 'c');

    expect(before).toEqual([{ parties: 2, parts: 2 }, false]);
    expect([parties.suspects('subnet'), parties.hasWorked('subnet')]).toEqual([
      { parties: 0, parts: 0 },
      true,
    ]);
  });

  test('are alone once another is served, until they are served themselves', () => {
    const { parties } = rig();
    parties.refused('subnet', 'a', 'no');
    const states = [parties.isAlone('subnet', 'a')];
    parties.worked('subnet', 'b');
    states.push(parties.isAlone('subnet', 'a'));
    parties.refused('subnet', 'a', 'never');
    states.push(parties.isAlone('subnet', 'a'));
    const failure = parties.failureOf('subnet', 'a');
    parties.worked('subnet', 'a');
    states.push(parties.isAlone('subnet', 'a'));

    expect(states).toEqual([false, true, true, false]);
    expect([failure, parties.failureOf('subnet', 'a')]).toEqual(['never', undefined]);
  });

  test('are forgotten some time after their last refusal, once they are alone', async () => {
    const { clock, parties } = rig();
    parties.refused('subnet', 'a', 'no');
    parties.refused('subnet', 'b', 'no');
    parties.worked('subnet', 'c');
    await clock.advance(600);
    parties.refused('subnet', 'a', 'again');
    await clock.advance(400);

    expect(['a', 'b'].map((party) => parties.failureOf('subnet', party))).toEqual(['again', undefined]);
  });

  test('are remembered together while one of them asks for all', async () => {
    const { clock, parties } = rig();
    parties.refused('subnet', 'a', 'no');
    parties.refused('subnet', 'b', 'no');
    await clock.advance(600);
    parties.refused('subnet', 'a', 'again');
    await clock.advance(600);
    const during = parties.failureOf('subnet', 'b');
    await clock.advance(400);

    expect([during, parties.failureOf('subnet', 'b')]).toEqual(['no', undefined]);
    expect(parties.suspects('subnet').parties).toBe(0);
  });
});

test('a refusal after all were forgotten brings nobody else back', async () => {
  const { clock, parties } = rig();
  parties.refused('subnet', 'a', 'no', 'eni-1');
  parties.refused('subnet', 'b', 'no', 'eni-2');
  await clock.advance(1000);
  parties.refused('subnet', 'a', 'again', 'eni-1');

  expect(['a', 'b'].map((party) => parties.failureOf('subnet', party))).toEqual(['again', undefined]);
  expect(parties.suspects('subnet')).toEqual({ parties: 1, parts: 1 });
});

test('a party that is alone stays so while it is refused, whoever is refused besides', async () => {
  const { clock, parties } = rig();
  parties.refused('subnet', 'a', 'no');
  parties.worked('subnet', 'c');
  parties.refused('subnet', 'b', 'no');
  await clock.advance(600);
  parties.refused('subnet', 'a', 'again');
  parties.worked('subnet', 'c');
  await clock.advance(600);

  expect(['a', 'b'].map((party) => parties.isAlone('subnet', party))).toEqual([true, false]);
  expect(parties.failureOf('subnet', 'b')).toBeUndefined();
});

describe('the cost of one more answer does not grow with the parties', () => {
  const count = 2000;

  test.each<[string, (index: number) => string]>([
    ['a part of its own', (index) => `eni-${index}`],
    ['the same part', () => 'eni'],
  ])('when each is refused %s', (_, partOf) => {
    const { parties } = rig();

    const visited = mapVisits(() => {
      for (let index = 0; index < count; index++) {
        parties.refused('subnet', `i-${index}`, 'no', partOf(index));
        parties.suspects('subnet');
      }
    });

    expect(visited).toBeLessThan(10 * count);
    expect(parties.suspects('subnet').parties).toBe(count);
  });

  test('when others are served meanwhile', () => {
    const { parties } = rig();
    for (let index = 0; index < count; index++) parties.refused('subnet', `i-${index}`, 'no');

    const visited = mapVisits(() => {
      for (let index = 0; index < count; index++) {
        parties.worked('subnet', 'served');
        parties.refused('subnet', `i-${index}`, 'no');
        parties.suspects('subnet');
      }
    });

    expect(visited).toBeLessThan(10 * count);
    expect(parties.isAlone('subnet', 'i-0')).toBe(true);
  });
});
