import { describe, expect, test } from '@jest/globals';
import { Inventory } from '../../../../src/providers/inventory/inventory.ts';
import { attachment, networkInterface } from '../interfaces.ts';
import { addressless, ended, eni, further, instance, inventoryRig, unreadable } from '../inventory-rig.ts';

describe('a tracked instance', () => {
  test('is known, and other instances are not', () => {
    const { inventory, refresh } = inventoryRig();

    refresh(0, eni('a'));
    inventory.applyRefresh({ startedAt: 0, endedAt: 0, instanceIds: ['i-2'], observations: [] });
    inventory.contest({ address: 'a', networkId: 'vpc-1', instanceIds: ['i-2'] }, 0);
    inventory.invalidate('i-2', 0);

    expect(inventory.view('i-1')?.read).toBe(true);
    expect(inventory.view('i-2')).toBeUndefined();
  });

  test('keeps what is known when it is tracked again', () => {
    const { inventory, refresh, holdings } = inventoryRig();
    refresh(0, eni('a'));

    inventory.track('i-1', [eni('b')]);

    expect(holdings()).toEqual(['a']);
  });

  test('is forgotten a consistency window after it was untracked', () => {
    const { inventory, refresh } = inventoryRig();
    refresh(0, eni('a'));

    inventory.untrack('i-1', 10);
    inventory.track('i-1', [], 40);

    expect(inventory.view('i-1')).toMatchObject({ read: false, interfaces: [] });
  });

  test('is restored when it is tracked again within the window, with what our own calls brought', () => {
    const { inventory, refresh, answer, holdings } = inventoryRig();
    refresh(0, eni('a'));
    answer(9, {
      kind: 'allocated',
      interfaceId: 'eni-1',
      instanceId: 'i-1',
      addresses: ['b'],
      prefixes: [],
    });

    inventory.untrack('i-1', 10);
    inventory.track('i-1', [], 39);
    const due = inventory.view('i-1')?.refreshDue;
    refresh(38, eni('a'));

    expect(due).toBe(39);
    expect(holdings()).toEqual(['a', 'b']);
  });

  test('is restored without an interface that our own call deleted while it was untracked', () => {
    const { inventory, refresh } = inventoryRig();
    refresh(0, eni('a'), further(1));

    inventory.untrack('i-1', 10);
    inventory.applyAnswer({ kind: 'deleted', interfaceId: further(1).id }, 15);
    inventory.track('i-1', [further(1)], 20);

    expect(inventory.view('i-1')?.interfaces.map(({ id }) => id)).toEqual(['eni-1']);
  });

  test.each<{ what: string; shown: readonly string[]; kept: readonly string[] }>([
    { what: 'is of another instance, by its primary interface', shown: ['eni-7'], kept: ['eni-7'] },
    { what: 'is of this instance', shown: ['eni-1', 'eni-2'], kept: ['eni-1', 'eni-2'] },
    { what: 'may be of this instance', shown: [], kept: ['eni-1', 'eni-2'] },
  ])('has what was restored and $what', ({ shown, kept }) => {
    const { view, list } = inventoryRig([eni('a'), further(1)]);
    const all = [eni('a'), further(1), networkInterface({ id: 'eni-7', primaryAddress: '10.0.0.9' })];

    list(0, ...all.filter(({ id }) => shown.includes(id)));

    expect(view().interfaces.map(({ id }) => id)).toEqual(kept);
  });

  test('is updated by an answer about several instances', () => {
    const { inventory } = inventoryRig();
    inventory.track('i-2');
    inventory.track('i-3');
    const other = networkInterface({ id: 'eni-2', attachment: attachment({ instanceId: 'i-2' }) });

    const changed = inventory.applyRefresh({
      startedAt: 0,
      endedAt: 0,
      instanceIds: ['i-1', 'i-2'],
      observations: [
        { kind: 'interface', interface: eni('a') },
        { kind: 'interface', interface: other },
      ],
    });

    expect([...changed].sort()).toEqual(['i-1', 'i-2']);
    expect(inventory.view('i-2')?.interfaces.map(({ id }) => id)).toEqual(['eni-2']);
    expect(inventory.view('i-3')?.read).toBe(false);
  });
});

describe('the view of an instance', () => {
  test('is in order of device index, then id', () => {
    const { refresh, view } = inventoryRig();

    refresh(
      0,
      further(2),
      networkInterface({ id: 'eni-b', attachment: undefined }),
      further(1, { id: 'eni-9' }),
      further(1, { id: 'eni-8' }),
      eni(),
    );

    // An interface without an attachment belongs to no instance.
    expect(view().interfaces.map(({ id }) => id)).toEqual(['eni-1', 'eni-8', 'eni-9', 'eni-3']);
  });

  test('is the same object while nothing changes', () => {
    const { refresh, list, view } = inventoryRig();
    refresh(0, eni('a'), instance());
    const before = view();

    const changed = [
      refresh(10, eni('a'), instance()),
      list(20, eni('a')),
      refresh(40, networkInterface({ addresses: ['a'] }), instance()),
    ];

    expect(changed).toEqual([false, false, false]);
    expect(view()).toBe(before);
  });

  test('is the same object while a possibly gone address stays the same', () => {
    const { refresh, view } = inventoryRig();
    refresh(0, eni('a', 'b'));
    refresh(10, eni('a'));
    const before = view();

    const changed = refresh(20, eni('a'));

    expect(changed).toBe(false);
    expect(view()).toBe(before);
    expect(before.refreshDue).toBe(40);
  });

  test.each([
    ['an address', [eni('a', 'b')]],
    ['a tag', [networkInterface({ addresses: ['a'], tags: { x: '1' } })]],
    ['a public address', [networkInterface({ addresses: ['a'], publicAddress: '3.3.3.3' })]],
    ['security groups', [networkInterface({ addresses: ['a'], securityGroupIds: [] })]],
    ['another interface', [eni('a'), further(1)]],
    ['an unreadable interface', [eni('a'), unreadable()]],
    ['a state of the instance', [eni('a'), instance({ state: 'stopped' })]],
    ['whether it is ours to serve', [eni('a'), instance({ managed: false })]],
  ])('is a new object once the cloud shows %s', (_, shown) => {
    const { refresh, view } = inventoryRig();
    refresh(0, eni('a'));
    const before = view();

    const changed = refresh(10, ...shown);

    expect(changed).toBe(true);
    expect(view()).not.toBe(before);
  });
});

describe('an instance', () => {
  test('is read once a refresh has covered it, even one that shows nothing', () => {
    const { refresh, view } = inventoryRig();

    const changed = [refresh(0), refresh(1)];

    expect(changed).toEqual([true, true]);
    expect(view()).toMatchObject({ read: true, refreshDue: 2 });
  });

  test.each([
    ['is not found', [], [1, 2, 4, 8, 16, 30, undefined]],
    ['is pending without an interface', [instance({ state: 'pending' })], [1, 2, 4, 8, 16, 30, 60, 90]],
  ])('is refreshed again soon, and then less and less often, when it %s', (_, shown, expected) => {
    const { refresh, view } = inventoryRig();
    const due: (number | undefined)[] = [];

    for (let at: number | undefined = 0; at !== undefined && due.length < 8; at = due.at(-1)) {
      refresh(at, ...shown);
      due.push(view().refreshDue);
    }

    expect(due).toEqual(expected);
  });

  test('is refreshed again soon when it is no longer found, however long it was pending without an interface', () => {
    const { refresh, view } = inventoryRig();
    for (const at of [0, 1, 2, 4, 8, 16, 30, 60]) refresh(at, instance({ state: 'pending' }));

    refresh(90, instance({ state: 'unknown' }));

    expect(view().refreshDue).toBe(91);
  });

  test('is not refreshed again once it is found', () => {
    const { refresh, view } = inventoryRig();
    refresh(0, instance({ state: 'pending' }));

    refresh(1, instance({ state: 'pending' }), eni('a'));

    expect(view()).toMatchObject({ read: true, refreshDue: undefined });
  });

  test('is refreshed once more after it was not found, and then no more', () => {
    const { refresh, view } = inventoryRig();

    refresh(0);
    refresh(30);

    expect(view()).toMatchObject({ read: true, refreshDue: undefined });
  });

  test('is read once a listing that shows it has ended, not by its pages', () => {
    const { inventory, view } = inventoryRig();
    const listing = inventory.beginListing(0);

    listing.apply([{ kind: 'interface', interface: eni('a') }], 0);
    const during = view().read;
    const changed = ended(listing);

    expect([during, view().read]).toEqual([false, true]);
    expect([...changed]).toEqual(['i-1']);
  });

  test('is not read by a listing that does not show it: a refresh must decide', () => {
    const { list, view } = inventoryRig();

    const changed = list(7);

    expect(changed).toBe(true);
    expect(view()).toMatchObject({ read: false, refreshDue: 7 });
  });

  test('is read when a listing ends that pauses, unless something else became known about it in a pause', () => {
    const inventory = new Inventory({ consistencyWindow: 30 });
    const ids = Array.from({ length: 120 }, (_, index) => `i-${index}`);
    for (const id of ids) inventory.track(id, [networkInterface({ id: `eni of ${id}` })]);
    const listing = inventory.beginListing(0);

    const end = listing.end();
    const first = end.next();
    const readFirst = ids.filter((id) => inventory.view(id)?.refreshDue === 0);
    inventory.untrack('i-118', 5);
    const seen = networkInterface({ id: 'eni of i-119', attachment: attachment({ instanceId: 'i-119' }) });
    const observations = [{ kind: 'interface', interface: seen } as const];
    inventory.applyRefresh({ startedAt: 5, endedAt: 5, instanceIds: ['i-119'], observations });
    const rest = [...end];

    expect([first.done, rest.length, readFirst.length]).toEqual([false, 1, 49]);
    expect(inventory.view('i-117')).toMatchObject({ read: false, refreshDue: 0 });
    expect(inventory.view('i-119')).toMatchObject({ read: true, refreshDue: undefined });
  });

  test('is not read by a listing that started before it was tracked', () => {
    const inventory = new Inventory({ consistencyWindow: 30 });
    const listing = inventory.beginListing(0);

    inventory.track('i-1');
    const covered = listing.covers('i-1');
    listing.apply([{ kind: 'interface', interface: eni('a') }], 0);
    ended(listing);

    expect(covered).toBe(false);
    expect(inventory.view('i-1')).toMatchObject({ read: false, interfaces: [eni('a')] });
  });

  test('is not read by a listing that started before it was tracked again', () => {
    const { inventory } = inventoryRig();
    const listing = inventory.beginListing(0);

    inventory.untrack('i-1', 0);
    inventory.track('i-1', [eni('a')]);
    const changed = ended(listing);

    expect(listing.covers('i-1')).toBe(false);
    expect(changed.size).toBe(0);
    expect(inventory.view('i-1')).toMatchObject({ read: false, refreshDue: undefined });
  });
});

describe('an unreadable interface', () => {
  test('is shown with what is wrong with it', () => {
    const { refresh, view } = inventoryRig();

    refresh(0, eni(), unreadable());

    expect(view().unreadable).toEqual([
      { id: 'eni-9', instanceId: 'i-1', deviceIndex: 5, networkCard: 0, problem: 'MacAddress is missing' },
    ]);
  });

  test('keeps what was read before', () => {
    const { refresh, view, holdings } = inventoryRig();
    refresh(0, eni('a'));

    refresh(10, unreadable('eni-1'));
    refresh(50, unreadable('eni-1'));

    expect(holdings()).toEqual(['a']);
    expect(view().unreadable).toEqual([]);
  });

  test('is no longer unreadable once it can be read again', () => {
    const { refresh, view } = inventoryRig();
    refresh(0, unreadable('eni-1'));

    refresh(10, eni('a'));

    expect(view()).toMatchObject({ unreadable: [], interfaces: [{ id: 'eni-1' }] });
  });

  test('is reported apart from the others if it was known before, and stays as it was known', () => {
    const { refresh, view } = inventoryRig();
    refresh(0, eni());

    refresh(1, unreadable(eni().id));
    const between = view();
    refresh(2, eni());

    expect(between).toMatchObject({
      unreadable: [],
      obscured: [{ id: eni().id }],
      interfaces: [{ id: eni().id }],
    });
    expect(view().obscured).toEqual([]);
  });

  test('is reported again when something else is wrong with it', () => {
    const { refresh, view } = inventoryRig();
    refresh(0, unreadable('eni-9', 'first', 5));

    const changed = [
      refresh(1, unreadable('eni-9', 'second', 5)),
      refresh(2, unreadable('eni-9', 'second', 6)),
    ];

    expect(changed).toEqual([true, true]);
    expect(view().unreadable).toMatchObject([{ problem: 'second', deviceIndex: 6 }]);
  });

  test('is reported once when it has no addresses, and is withdrawn once a refresh does not show it', () => {
    const { refresh, view } = inventoryRig();
    refresh(0, eni());

    const changed = [refresh(1, eni(), addressless('eni-9', 4)), refresh(2, eni(), addressless('eni-9', 4))];
    const between = view();
    refresh(3, eni());

    expect(changed).toEqual([true, false]);
    expect(between).toMatchObject({ unreadable: [], addressless: [{ id: 'eni-9', networkCard: 4 }] });
    expect(view().addressless).toEqual([]);
  });

  test('is withdrawn once a refresh does not show it, and a listing that lacks it requests a refresh', () => {
    const { refresh, list, view } = inventoryRig();
    refresh(0, eni(), unreadable());

    const possiblyGone = list(10, eni());
    const between = view();
    refresh(11, eni());

    expect(possiblyGone).toBe(true);
    expect(between).toMatchObject({ unreadable: [{ id: 'eni-9' }], refreshDue: 10 });
    expect(view()).toMatchObject({ unreadable: [], refreshDue: undefined });
  });
});
