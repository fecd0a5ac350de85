import { describe, expect, test } from '@jest/globals';
import { Inventory } from '../../../../src/providers/inventory/inventory.ts';
import type { NetworkInterface } from '../../../../src/providers/contract/network-interface.ts';
import { eni, further, inventoryRig, window } from '../inventory-rig.ts';

/** An inventory that restored an older state at 0, and then gets a newer one. */
function rig(restored: readonly NetworkInterface[]) {
  const inventory = new Inventory({ consistencyWindow: window });
  inventory.track('i-1', restored, 0, { pendingRelease: new Set() });
  return {
    restoreAlso: (now: number, ...interfaces: readonly NetworkInterface[]) =>
      inventory.restoreAlso('i-1', { interfaces, pendingRelease: new Set() }, now),
    refresh: (startedAt: number, ...shown: readonly NetworkInterface[]) =>
      inventory.applyRefresh({
        startedAt,
        endedAt: startedAt,
        instanceIds: ['i-1'],
        observations: shown.map((item) => ({ kind: 'interface', interface: item })),
      }),
    allocated: (endedAt: number, ...addresses: readonly string[]) =>
      inventory.applyAnswer(
        { kind: 'allocated', interfaceId: 'eni-1', instanceId: 'i-1', addresses, prefixes: [] },
        endedAt,
      ),
    released: (endedAt: number, ...holdings: readonly string[]) =>
      inventory.applyAnswer({ kind: 'released', interfaceId: 'eni-1', instanceId: 'i-1', holdings }, endedAt),
    held: () => inventory.view('i-1')?.interfaces.map(({ id, addresses }) => [id, ...addresses]),
  };
}

describe('what a newer CiliumNode shows beyond the restored one', () => {
  test.each(['before a refresh', 'after one that shows it', 'after one that does not'])(
    'is there when it is reported %s',
    (when) => {
      const { restoreAlso, refresh, held } = rig([eni('a')]);
      const newest = eni('a', 'b');

      if (when !== 'before a refresh') refresh(1, when === 'after one that shows it' ? newest : eni('a'));
      restoreAlso(2, newest);

      expect(held()).toEqual([['eni-1', 'a', 'b']]);
    },
  );

  test('is there with its interface', () => {
    const { restoreAlso, held } = rig([eni('a')]);

    restoreAlso(2, further(1, { addresses: ['x'] }));

    expect(held()).toEqual([
      ['eni-1', 'a'],
      ['eni-2', 'x'],
    ]);
  });

  test.each<[string, readonly NetworkInterface[]]>([
    ['a known interface', [eni('a', 'b'), further(1)]],
    ['a new interface', [eni('a', 'b')]],
  ])('is on no other interface: an address that moved to %s', (_, restored) => {
    const { restoreAlso, refresh, held } = rig(restored);
    refresh(1, ...restored);

    restoreAlso(2, further(1, { addresses: ['b'] }));
    refresh(3, eni('a', 'b'), further(1));

    expect(held()).toEqual([
      ['eni-1', 'a'],
      ['eni-2', 'b'],
    ]);
  });

  test.each([
    ['b', { addresses: ['b'] }],
    ['10.0.1.3', { prefixes: ['10.0.1.0/28'] }],
  ])('stays where our own call assigned it since: %s', (address, newest) => {
    const { restoreAlso, allocated, held } = rig([eni('a'), further(1)]);
    allocated(1, address);

    restoreAlso(2, further(1, newest));

    expect(held()).toEqual([['eni-1', 'a', address], ['eni-2']]);
  });

  test('is withdrawn after two refreshes that do not show it', () => {
    const { restoreAlso, refresh, held } = rig([eni('a')]);
    restoreAlso(2, eni('a', 'b'));

    refresh(3, eni('a'));
    const between = held();
    refresh(3 + window, eni('a'));

    expect(between).toEqual([['eni-1', 'a', 'b']]);
    expect(held()).toEqual([['eni-1', 'a']]);
  });

  test('excludes what our own calls took away', () => {
    const { restoreAlso, refresh, released, held } = rig([eni('a', 'b')]);
    refresh(1, eni('a', 'b'));
    released(5, 'b');

    restoreAlso(6, eni('a', 'b'));

    expect(held()).toEqual([['eni-1', 'a']]);
  });

  test('is there however late it is reported, until two refreshes after that do not show it', () => {
    const { restoreAlso, refresh, held } = rig([eni('a')]);
    refresh(2 * window, eni('a'));

    restoreAlso(2 * window + 1, eni('a', 'b'));
    refresh(2 * window + 2, eni('a'));
    const between = held();
    refresh(3 * window + 2, eni('a'));

    expect(between).toEqual([['eni-1', 'a', 'b']]);
    expect(held()).toEqual([['eni-1', 'a']]);
  });
});

describe('the next CiliumNode of an instance that was untracked a moment ago', () => {
  const primary = eni('a');

  /** The former state showed `eni-2`, and on `eni-1` an address that the cloud never showed. */
  function handedOver(...shown: readonly NetworkInterface[]) {
    const inventory = new Inventory({ consistencyWindow: window });
    inventory.track('i-1', [eni('a', 'made-up'), further(1, { addresses: ['x'] })], 0, {
      pendingRelease: new Set(),
    });
    const observations = [{ kind: 'interface', interface: primary } as const];
    inventory.applyRefresh({ startedAt: 100, endedAt: 100, instanceIds: ['i-1'], observations });
    inventory.untrack('i-1', 110);
    inventory.track('i-1', shown, 111, { pendingRelease: new Set() });
    return inventory.view('i-1')?.interfaces.map(({ id, addresses }) => [id, ...addresses]);
  }

  test('keeps what it shows itself, although the cloud has not shown it', () => {
    const held = handedOver(eni('a', 'b'), further(2, { addresses: ['y'] }));

    expect(held).toEqual([
      ['eni-1', 'a', 'b'],
      ['eni-3', 'y'],
    ]);
  });

  test('inherits nothing that only the former one showed', () => {
    expect(handedOver()).toEqual([['eni-1', 'a']]);
  });
});

test('a held interface that is shown again stays, also if its primary address was not known', () => {
  let isOpen = false;
  const restored = further(1, { primaryAddress: '', addresses: ['b'] });
  const rig = inventoryRig([restored], 0, { admit: () => isOpen, ofNodes: () => undefined });
  for (const at of [40, 80]) rig.refresh(at, eni('a'));
  const held = rig.inventory.heldWithdrawals();

  isOpen = true;
  rig.refresh(120, eni('a'), further(1, { addresses: ['b'] }));

  expect(held).toEqual(new Set(['i-1']));
  expect(
    rig
      .view()
      .interfaces.map(({ id }) => id)
      .toSorted(),
  ).toEqual(['eni-1', 'eni-2']);
});

describe('what a read shows beyond the restored state within the consistency window', () => {
  const shown = [eni('a', 'b'), further(1, { prefixes: ['10.0.1.0/28'] })];

  test('is unconfirmed, and confirmed by a read that begins later', () => {
    const { refresh, view, holdings } = inventoryRig([eni('a'), further(1)], 0);

    refresh(1, ...shown);
    const early = [Object.fromEntries(view().unconfirmed), view().refreshDue, holdings()];
    refresh(window, ...shown);

    expect(early).toEqual([{ 'eni-1': ['b'], 'eni-2': ['10.0.1.0/28'] }, window, ['a']]);
    expect([view().unconfirmed.size, view().refreshDue, holdings()]).toEqual([0, undefined, ['a', 'b']]);
  });

  test('is none of its pod addresses if it is its public address', () => {
    const { refresh, view } = inventoryRig([eni('a')], 0);

    refresh(1, { ...eni('a'), publicAddress: '203.0.113.1' });

    expect(view().interfaces[0]?.publicAddress).toBe('203.0.113.1');
    expect([view().unconfirmed.size, view().refreshDue]).toEqual([0, undefined]);
  });

  test('goes with its interface', () => {
    const { refresh, view } = inventoryRig([eni('a'), further(1)], 0);
    refresh(1, eni('a'), further(1, { addresses: ['b'] }));

    for (const at of [2, 3]) refresh(at * window, eni('a'));

    expect(view().interfaces.map(({ id }) => id)).toEqual(['eni-1']);
    expect(view().unconfirmed.size).toBe(0);
  });
});

test.each<[string, number | undefined, number]>([
  ['names', undefined, window],
  ['does not name', 60, window + 60],
])(
  'an address that a former leader may be releasing, as its CiliumNode %s it, is shown no earlier',
  (_, openFor, at) => {
    const inventory = new Inventory({ consistencyWindow: window });
    inventory.track('i-1', [eni('a')], 0, { pendingRelease: new Set(), ...(openFor && { openFor }) });
    const read = (startedAt: number): readonly string[] | undefined => {
      const observations = [{ kind: 'interface', interface: eni('a', 'b') }] as const;
      inventory.applyRefresh({ startedAt, endedAt: startedAt, instanceIds: ['i-1'], observations });
      return inventory.view('i-1')?.interfaces[0]?.addresses;
    };

    expect(read(at - 1)).toEqual(['a']);
    expect(read(at)).toEqual(['a', 'b']);
  },
);
