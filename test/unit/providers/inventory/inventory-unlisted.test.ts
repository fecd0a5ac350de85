import { describe, expect, test } from '@jest/globals';
import { eni, type InventoryRig, inventoryRig } from '../inventory-rig.ts';

const given = { kind: 'allocated', interfaceId: 'eni-1', instanceId: 'i-1', prefixes: [] } as const;

describe('an address that a listing does not show', () => {
  test.each<{ what: string; afterwards: (rig: InventoryRig) => unknown; possiblyGone: readonly string[] }>([
    { what: 'until something tells', afterwards: () => undefined, possiblyGone: ['a'] },
    { what: 'until a reading shows it', afterwards: ({ list }) => list(60, eni('a', 'b')), possiblyGone: [] },
    {
      what: 'no matter what an older listing shows',
      afterwards: ({ list }) => list(40, eni('a')),
      possiblyGone: ['a'],
    },
    {
      what: 'also after a look without it',
      afterwards: ({ look }) => look(60, eni('b')),
      possiblyGone: ['a'],
    },
    {
      what: 'until our own call gives it anew',
      afterwards: ({ answer }) => answer(60, { ...given, addresses: ['a'] }),
      possiblyGone: [],
    },
  ])('is in doubt $what', ({ afterwards, possiblyGone }) => {
    const rig = inventoryRig();
    rig.look(0, eni('a', 'b'));
    rig.list(50, eni('b'));

    afterwards(rig);

    expect([...rig.view().possiblyGone]).toEqual(possiblyGone);
  });

  test('is in no doubt where our own call gave it a moment ago', () => {
    const { look, list, answer, view } = inventoryRig();
    look(0, eni('a'));
    answer(40, { ...given, addresses: ['b'] });

    list(50, eni('a'));

    expect([...view().possiblyGone]).toEqual([]);
  });
});
