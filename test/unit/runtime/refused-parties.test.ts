import { describe, expect, test } from '@jest/globals';
import { RefusedParties } from '../../../src/runtime/refused-parties.ts';
import { VirtualClock } from '../../support/virtual-clock.ts';

function rig(): { clock: VirtualClock; parties: RefusedParties<string> } {
  const clock = new VirtualClock();
  return { clock, parties: new RefusedParties({ clock, remembered: 1000 }) };
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
