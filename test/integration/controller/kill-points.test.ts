// The process is killed at every call that changes anything, in turn and in three ways, while a node grows and shrinks;
// another takes over, and whatever happened, nothing is lost, doubled or left over.
import { describe, expect, test } from '@jest/globals';
import { changingCalls, expectWell, growAndShrink } from '../../support/growing-and-shrinking.ts';

const ways = ['before it is sent', 'once it is sent', 'before its answer is taken in'] as const;

for (const protocol of ['crd-allocator', 'multi-pool'] as const) {
  const undisturbed = await growAndShrink(protocol);
  const started = [...undisturbed.controller.started];

  describe(`beside an agent of ${protocol}`, () => {
    test('the history that is cut short has every kind of call in it', () => {
      expect([...new Set(started)].sort()).toEqual(changingCalls);
      expectWell(undisturbed);
    });

    describe.each(ways)('a process that dies %s', (when) => {
      test.each(started.map((name, at) => ({ name, at })))('at call $at, $name', async ({ at }) => {
        const world = await growAndShrink(protocol, { death: { at, when } });

        expect(world.controller.controller.state).toBe('leading');
        expectWell(world);
      });
    });
  });
}
