// Kills the process at every call that changes anything, one at a time and in three ways, while a node on Azure grows and
// shrinks.
import { describe, expect, test } from '@jest/globals';
import { changingCalls, expectWell, growOnAzure, type GrowingNode } from '../../support/growing-on-azure.ts';

const ways = ['before it is sent', 'once it is sent', 'before its answer is taken in'] as const;

const nodes: readonly GrowingNode[] = [
  { protocol: 'crd-allocator', mode: 'Uniform' },
  { protocol: 'multi-pool', mode: 'Uniform' },
  { protocol: 'crd-allocator', mode: 'Flexible' },
];

for (const node of nodes) {
  const undisturbed = await growOnAzure(node);
  const started = [...undisturbed.controller.started];

  describe(`a controller on Azure, beside an agent of ${node.protocol} in a scale set that is ${node.mode},`, () => {
    test('makes every kind of call in the history in which it is killed', () => {
      expect([...new Set(started)].sort()).toEqual(changingCalls(node));
      expectWell(undisturbed);
    });

    describe.each(ways)('killed at a call, %s,', (when) => {
      test.each(started.map((name, at) => ({ name, at })))(
        'loses, doubles and hides nothing: call $at, $name',
        async ({ at }) => {
          expectWell(await growOnAzure(node, { death: { at, when } }));
        },
      );
    });
  });
}
