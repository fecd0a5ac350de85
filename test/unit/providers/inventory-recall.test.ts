import { describe, expect, test } from '@jest/globals';
import { Inventory } from '../../../src/providers/inventory.ts';
import type { NetworkInterface } from '../../../src/providers/network-interface.ts';
import { eni, further, window } from './inventory-rig.ts';

/** An inventory that took up at 0 what an older state showed, and is told of a newer one. */
function rig(recalled: readonly NetworkInterface[]) {
  const inventory = new Inventory({ consistencyWindow: window });
  inventory.track('i-1', recalled, 0, new Set());
  return {
    recallAlso: (now: number, ...interfaces: readonly NetworkInterface[]) =>
      inventory.recallAlso('i-1', { interfaces, mentioned: new Set() }, now),
    look: (begunAt: number, ...shown: readonly NetworkInterface[]) =>
      inventory.foldLook({
        begunAt,
        endedAt: begunAt,
        instanceIds: ['i-1'],
        observations: shown.map((item) => ({ kind: 'interface', interface: item })),
      }),
    allocated: (endedAt: number, ...addresses: readonly string[]) =>
      inventory.foldAnswer(
        { kind: 'allocated', interfaceId: 'eni-1', instanceId: 'i-1', addresses, prefixes: [] },
        endedAt,
      ),
    released: (endedAt: number, ...holdings: readonly string[]) =>
      inventory.foldAnswer({ kind: 'released', interfaceId: 'eni-1', instanceId: 'i-1', holdings }, endedAt),
    held: () => inventory.view('i-1')?.interfaces.map(({ id, addresses }) => [id, ...addresses]),
  };
}

describe('what a newer state shows than the one that an instance was taken up with', () => {
  test.each(['before a look', 'after one that shows it', 'after one that does not'])(
    'is there, told %s',
    (when) => {
      const { recallAlso, look, held } = rig([eni('a')]);
      const newest = eni('a', 'b');

      if (when !== 'before a look') look(1, when === 'after one that shows it' ? newest : eni('a'));
      recallAlso(2, newest);

      expect(held()).toEqual([['eni-1', 'a', 'b']]);
    },
  );

  test('is there with its interface', () => {
    const { recallAlso, held } = rig([eni('a')]);

    recallAlso(2, further(1, { addresses: ['x'] }));

    expect(held()).toEqual([
      ['eni-1', 'a'],
      ['eni-2', 'x'],
    ]);
  });

  test.each<[string, readonly NetworkInterface[]]>([
    ['a known interface', [eni('a', 'b'), further(1)]],
    ['a new interface', [eni('a', 'b')]],
  ])('is on no other interface: an address that moved to %s', (_, recalled) => {
    const { recallAlso, look, held } = rig(recalled);
    look(1, ...recalled);

    recallAlso(2, further(1, { addresses: ['b'] }));
    look(3, eni('a', 'b'), further(1));

    expect(held()).toEqual([
      ['eni-1', 'a'],
      ['eni-2', 'b'],
    ]);
  });

  test.each([
    ['b', { addresses: ['b'] }],
    ['10.0.1.3', { prefixes: ['10.0.1.0/28'] }],
  ])('stays where our own call put it since: %s', (address, newest) => {
    const { recallAlso, allocated, held } = rig([eni('a'), further(1)]);
    allocated(1, address);

    recallAlso(2, further(1, newest));

    expect(held()).toEqual([['eni-1', 'a', address], ['eni-2']]);
  });

  test('is gone after two looks that do not show it', () => {
    const { recallAlso, look, held } = rig([eni('a')]);
    recallAlso(2, eni('a', 'b'));

    look(3, eni('a'));
    const between = held();
    look(3 + window, eni('a'));

    expect(between).toEqual([['eni-1', 'a', 'b']]);
    expect(held()).toEqual([['eni-1', 'a']]);
  });

  test('is not what our own calls took away', () => {
    const { recallAlso, look, released, held } = rig([eni('a', 'b')]);
    look(1, eni('a', 'b'));
    released(5, 'b');

    recallAlso(6, eni('a', 'b'));

    expect(held()).toEqual([['eni-1', 'a']]);
  });

  test('is there however late it is told, and until two looks after that do not show it', () => {
    const { recallAlso, look, held } = rig([eni('a')]);
    look(2 * window, eni('a'));

    recallAlso(2 * window + 1, eni('a', 'b'));
    look(2 * window + 2, eni('a'));
    const between = held();
    look(3 * window + 2, eni('a'));

    expect(between).toEqual([['eni-1', 'a', 'b']]);
    expect(held()).toEqual([['eni-1', 'a']]);
  });
});
