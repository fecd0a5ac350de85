import { describe, expect, test } from '@jest/globals';
import { OtherAllocators } from '../../../../src/blocks/allocation/other-allocators.ts';
import { VirtualClock } from '../../../support/virtual-clock.ts';

const minute = 60_000;

function rig(): { clock: VirtualClock; others: OtherAllocators; changes: boolean[] } {
  const clock = new VirtualClock();
  const changes: boolean[] = [];
  return {
    clock,
    changes,
    others: new OtherAllocators(clock, (isAtWork) => changes.push(isAtWork)),
  };
}

describe('another allocator', () => {
  test('shows in two objects within five minutes, until it has been quiet for five', async () => {
    const { clock, others, changes } = rig();
    others.note('a');
    await clock.advance(4 * minute);
    others.note('b');
    expect(others.last).toEqual({ node: 'b', quietIn: 5 * minute });

    await clock.advance(4 * minute);
    others.note('c');
    await clock.advance(5 * minute - 1);
    expect(changes).toEqual([true]);

    await clock.advance(1);
    expect([changes, others.last]).toEqual([[true, false], undefined]);
  });

  test('shows in one object, if it is known by its name', async () => {
    const { clock, others, changes } = rig();
    others.note('a', true);
    expect(others.last).toEqual({ node: 'a', quietIn: 5 * minute });

    // Whatever others write meanwhile counts, too.
    await clock.advance(4 * minute);
    others.note('a');
    await clock.advance(5 * minute - 1);
    expect(changes).toEqual([true]);

    await clock.advance(1);
    expect(changes).toEqual([true, false]);
  });

  test.each([
    ['one object, however often', ['a', 'a', 'a'], minute],
    ['two objects more than five minutes apart', ['a', 'b'], 5 * minute + 1],
  ])('does not show in %s', async (_, names, pause) => {
    const { clock, others, changes } = rig();
    for (const name of names) {
      others.note(name);
      await clock.advance(pause);
    }

    expect(changes).toEqual([]);
  });
});
