import { describe, expect, test } from '@jest/globals';
import type { NetworkInterface } from '../../../../src/providers/contract/network-interface.ts';
import type { Observation } from '../../../../src/providers/contract/facts.ts';
import { attachment, networkInterface } from '../interfaces.ts';
import { eni, further, instance, type InventoryRig, inventoryRig, window } from '../inventory-rig.ts';

const absent = instance({ state: 'unknown' });
const second = further(1, { addresses: ['a', 'b'] });

/** What the inventory keeps of the second interface. */
function keptBy({ view }: InventoryRig): readonly string[] | undefined {
  return view().interfaces.find(({ id }) => id === 'eni-2')?.addresses;
}

describe('an instance in the inventory', () => {
  test.each<[string, (rig: InventoryRig) => void, string]>([
    ['is unread at first', () => undefined, 'unread'],
    ['is shown by a listing', ({ list }) => list(0, eni()), 'shown'],
    ['is shown by a refresh', ({ refresh }) => refresh(0, eni()), 'shown'],
    ['is not found by the first refresh', ({ refresh }) => refresh(0, absent), 'notFound'],
    [
      'that was shown stays so after one refresh without it',
      ({ refresh }) => [refresh(0, eni()), refresh(40, absent)],
      'shown',
    ],
    [
      'that was shown is not found after two, a window apart',
      ({ refresh }) => [refresh(0, eni()), refresh(40, absent), refresh(70, absent)],
      'notFound',
    ],
    ['is found again', ({ refresh }) => [refresh(0, absent), refresh(40, eni())], 'shown'],
    ['is found again by a listing', ({ refresh, list }) => [refresh(0, absent), list(40, eni())], 'shown'],
    ['exists without any interface', ({ refresh }) => refresh(0, instance()), 'withoutPrimary'],
    ['exists without its primary interface', ({ refresh }) => refresh(0, second), 'withoutPrimary'],
    [
      'is terminated for good, also once the cloud has forgotten it',
      ({ refresh }) => [
        refresh(0, eni()),
        refresh(40, instance({ state: 'terminated' })),
        refresh(5000, absent),
      ],
      'terminated',
    ],
    [
      'that is terminated is not revived by a listing that lags',
      ({ refresh, list }) => [
        refresh(0, eni()),
        refresh(40, instance({ state: 'terminated' })),
        list(50, eni()),
      ],
      'terminated',
    ],
  ])('%s', (_, play, presence) => {
    const rig = inventoryRig();

    play(rig);

    expect(rig.view().presence).toBe(presence);
  });
});

describe('what an instance has', () => {
  const often = [40, 80, 120, 160, 1000, 5000];

  test.each<[string, readonly Observation[], readonly NetworkInterface[]]>([
    ['is not found', [absent], []],
    ['is shown alive without any interface', [instance()], []],
    ['is shown with another interface, and not with its primary one', [], [further(2)]],
  ])('stays however often the instance %s', (_, observed, shown) => {
    const rig = inventoryRig();
    rig.refresh(0, eni(), second);

    for (const at of often) rig.refresh(at, ...observed, ...shown);

    expect(keptBy(rig)).toEqual(['a', 'b']);
    expect(rig.view().possiblyGone).toEqual(new Set(['eni-1', 'eni-2', 'a', 'b']));
  });

  test('stays when it was restored, and no reading ever showed the instance', () => {
    const rig = inventoryRig([eni(), second]);

    for (const at of often) rig.refresh(at, absent);
    for (const at of often) rig.list(at + 5000);

    expect(keptBy(rig)).toEqual(['a', 'b']);
  });

  test('is not counted as missing by refreshes before the instance was complete again', () => {
    const rig = inventoryRig();
    rig.refresh(0, eni(), second);

    rig.refresh(40, instance());
    rig.refresh(80, instance());
    rig.refresh(120, eni());
    const once = keptBy(rig);
    rig.refresh(150, eni());

    expect(once).toEqual(['a', 'b']);
    expect(keptBy(rig)).toBeUndefined();
  });

  test('is not missing on an interface that is shown with another primary address', () => {
    const rig = inventoryRig();
    rig.refresh(0, eni(), second);

    for (const at of [40, 80])
      rig.refresh(at, eni(), { ...second, primaryAddress: '10.9.9.9', addresses: ['a'] });

    expect(keptBy(rig)).toEqual(['a', 'b']);
  });

  test('is not withdrawn when a prefix is shown as single addresses, or these as the prefix', () => {
    const prefix = '10.0.1.16/28';
    const members = Array.from({ length: 16 }, (_, index) => `10.0.1.${16 + index}`);
    const rig = inventoryRig();
    rig.refresh(0, eni(), further(1, { prefixes: [prefix] }));

    for (const at of [40, 80]) rig.refresh(at, eni(), further(1, { addresses: members.slice(0, 15) }));
    const single = rig.view().interfaces[1];
    rig.refresh(120, eni(), further(1, { prefixes: [prefix] }));

    expect(single).toMatchObject({ prefixes: [], addresses: members.slice(0, 15) });
    expect(rig.view().interfaces[1]).toMatchObject({ prefixes: [prefix], addresses: [] });
  });

  test('stays when a prefix of the same range was released and it was assigned again on its own', () => {
    const rig = inventoryRig();
    rig.refresh(0, networkInterface({ prefixes: ['10.0.1.16/28'] }));
    rig.answer(2, { kind: 'released', interfaceId: 'eni-1', instanceId: 'i-1', holdings: ['10.0.1.16/28'] });
    rig.refresh(100, eni());
    rig.answer(180, {
      kind: 'allocated',
      interfaceId: 'eni-1',
      instanceId: 'i-1',
      addresses: ['10.0.1.17'],
      prefixes: [],
    });
    rig.refresh(240, eni('10.0.1.17'));

    for (const at of [300, 340, 380]) rig.refresh(at, absent);

    const { presence, withdrawn } = rig.view();
    expect(presence).toBe('notFound');
    expect(rig.holdings()).toEqual(['10.0.1.17']);
    expect(withdrawn).toContain('10.0.1.18');
    expect(withdrawn).not.toContain('10.0.1.17');
    expect(withdrawn).not.toContain('10.0.1.16/28');
  });

  test('is withdrawn when it is shown on another instance and a refresh of its own does not show it', () => {
    const rig = inventoryRig([eni(), second]);
    const moved = networkInterface({
      ...second,
      attachment: attachment({ instanceId: 'i-9', deviceIndex: 1 }),
    });
    rig.list(50, moved);
    const between = { kept: keptBy(rig), due: rig.view().refreshDue };

    rig.refresh(60, absent);

    expect(between).toEqual({ kept: ['a', 'b'], due: 50 });
    expect(keptBy(rig)).toBeUndefined();
    expect(rig.view().withdrawn).toEqual(new Set(['eni-2']));
    expect(rig.view().interfaces.map(({ id }) => id)).toEqual(['eni-1']);
  });

  test('is withdrawn when it is shown detached and a refresh of its instance does not show it, found or not', () => {
    const rig = inventoryRig([eni(), second]);

    rig.inventory.seenDetached('eni-2', 50);
    rig.refresh(60, absent);

    expect(keptBy(rig)).toBeUndefined();
  });
});

describe('what is known to be gone of an instance that is not found', () => {
  test('spares what came back since, even an interface that we attached again', () => {
    const rig = inventoryRig([eni(), second]);
    rig.inventory.seenDetached('eni-2', 50);
    rig.refresh(60, absent);
    const gone = [...rig.view().withdrawn];

    rig.inventory.adopt({ ...second, attachment: undefined });
    rig.answer(100, {
      kind: 'attached',
      interfaceId: 'eni-2',
      instanceId: 'i-1',
      deviceIndex: 1,
      attachmentId: 'attach-9',
    });
    for (const at of [200, 240]) rig.refresh(at, absent);

    expect(gone).toEqual(['eni-2']);
    expect(rig.view().presence).toBe('notFound');
    expect(rig.view().withdrawn).toEqual(new Set());
    expect(keptBy(rig)).toEqual(['a', 'b']);
  });

  test('spares an address that moved to another of its interfaces', () => {
    const rig = inventoryRig();
    rig.refresh(0, eni('a', 'b'), further(1));

    rig.refresh(40, eni('a'), further(1, { addresses: ['b'] }));
    for (const at of [80, 120]) rig.refresh(at, absent);

    expect(rig.view().presence).toBe('notFound');
    expect(rig.view().withdrawn).toEqual(new Set());
  });

  test('names the newest 100 of the interfaces that our own calls deleted', () => {
    const rig = inventoryRig();
    const deleted = Array.from({ length: 150 }, (_, index) => further(index + 1));
    rig.refresh(0, eni(), ...deleted);
    for (const [index, { id }] of deleted.entries())
      rig.answer(10 + index * window, { kind: 'deleted', interfaceId: id });

    for (const at of [5000, 5050]) rig.refresh(at, absent);

    expect([...rig.view().withdrawn]).toEqual(deleted.slice(-100).map(({ id }) => id));
  });
});
