// Kills the process at every call that changes anything, one at a time and in three ways, while a node grows and shrinks.
// Another process takes over; in every case nothing is lost, doubled or leaked.
import { describe, expect, test } from '@jest/globals';
import { changingCalls, expectWell, growAndShrink } from '../../support/growing-and-shrinking.ts';

const ways = ['before it is sent', 'once it is sent', 'before its answer is taken in'] as const;

for (const protocol of ['crd-allocator', 'multi-pool'] as const) {
  const undisturbed = await growAndShrink(protocol);
  const started = [...undisturbed.controller.started];

  describe(`a controller beside an agent of ${protocol}`, () => {
    test('makes every kind of call in the history in which it is killed', () => {
      expect([...new Set(started)].sort()).toEqual(changingCalls);
      expectWell(undisturbed);
    });

    describe.each(ways)('killed at a call, %s,', (when) => {
      test.each(started.map((name, at) => ({ name, at })))(
        'loses, doubles and leaks nothing: call $at, $name',
        async ({ at }) => expectWell(await growAndShrink(protocol, { death: { at, when } })),
      );
    });
  });
}
