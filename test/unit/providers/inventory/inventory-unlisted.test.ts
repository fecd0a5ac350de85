import { describe, expect, test } from '@jest/globals';
import { eni, type InventoryRig, inventoryRig } from '../inventory-rig.ts';

const given = { kind: 'allocated', interfaceId: 'eni-1', instanceId: 'i-1', prefixes: [] } as const;

describe('an address that a listing does not show', () => {
  test.each<{ what: string; afterwards: (rig: InventoryRig) => unknown; possiblyGone: readonly string[] }>([
    { what: 'until a read decides', afterwards: () => undefined, possiblyGone: ['a'] },
    { what: 'until a reading shows it', afterwards: ({ list }) => list(60, eni('a', 'b')), possiblyGone: [] },
    {
      what: 'no matter what an older listing shows',
      afterwards: ({ list }) => list(40, eni('a')),
      possiblyGone: ['a'],
    },
    {
      what: 'also after a refresh without it',
      afterwards: ({ refresh }) => refresh(60, eni('b')),
      possiblyGone: ['a'],
    },
    {
      what: 'also after a refresh without it',
      afterwards: ({ refresh }) => refresh(60, eni('b')),
      possiblyGone: ['a'],
    },
    {
      what: 'until our own call assigns it again',
      afterwards: ({ answer }) => answer(60, { ...given, addresses: ['a'] }),
      possiblyGone: [],
    },
  ])('is possibly gone $what', ({ afterwards, possiblyGone }) => {
    const rig = inventoryRig();
    rig.refresh(0, eni('a', 'b'));
    rig.list(50, eni('b'));

    afterwards(rig);

    expect([...rig.view().possiblyGone]).toEqual(possiblyGone);
  });

  test('is not possibly gone when our own call assigned it a moment ago', () => {
    const { refresh, list, answer, view } = inventoryRig();
    refresh(0, eni('a'));
    answer(40, { ...given, addresses: ['b'] });

    list(50, eni('a'));

    expect([...view().possiblyGone]).toEqual([]);
  });
});
