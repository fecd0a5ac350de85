import { describe, expect, test } from '@jest/globals';
import { eni, type InventoryRig, inventoryRig } from '../inventory-rig.ts';

const given = { kind: 'allocated', interfaceId: 'eni-1', instanceId: 'i-1', prefixes: [] } as const;

describe('an address that a listing does not show', () => {
  test.each<{ what: string; afterwards: (rig: InventoryRig) => unknown; doubted: readonly string[] }>([
    { what: 'until a read decides', afterwards: () => undefined, doubted: ['a'] },
    { what: 'until a reading shows it', afterwards: ({ list }) => list(60, eni('a', 'b')), doubted: [] },
    {
      what: 'no matter what an older listing shows',
      afterwards: ({ list }) => list(40, eni('a')),
      doubted: ['a'],
    },
    { what: 'also after a refresh without it', afterwards: ({ look }) => look(60, eni('b')), doubted: ['a'] },
    {
      what: 'until our own call assigns it again',
      afterwards: ({ answer }) => answer(60, { ...given, addresses: ['a'] }),
      doubted: [],
    },
  ])('is possibly gone $what', ({ afterwards, doubted }) => {
    const rig = inventoryRig();
    rig.look(0, eni('a', 'b'));
    rig.list(50, eni('b'));

    afterwards(rig);

    expect([...rig.view().doubted]).toEqual(doubted);
  });

  test('is not possibly gone when our own call assigned it a moment ago', () => {
    const { look, list, answer, view } = inventoryRig();
    look(0, eni('a'));
    answer(40, { ...given, addresses: ['b'] });

    list(50, eni('a'));

    expect([...view().doubted]).toEqual([]);
  });
});
