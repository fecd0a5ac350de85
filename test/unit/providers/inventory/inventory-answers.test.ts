import { describe, expect, test } from '@jest/globals';
import type { Answer } from '../../../../src/providers/contract/operations.ts';
import { attachment, networkInterface } from '../interfaces.ts';
import { attached, ended, eni, further, inventoryRig } from '../inventory-rig.ts';

function allocated(...addresses: string[]) {
  return {
    kind: 'allocated',
    interfaceId: 'eni-1',
    instanceId: 'i-1',
    addresses,
    prefixes: [],
  } satisfies Answer;
}

const created = {
  kind: 'created',
  interface: further(1, { attachment: undefined, addresses: ['x', 'y'] }),
} satisfies Answer;
const attaching = attachment({ id: 'attach-2', deviceIndex: 1, state: 'attaching' });

describe('an assignment of our own', () => {
  test('adds its addresses once, after the known ones', () => {
    const { refresh, answer, holdings } = inventoryRig();
    refresh(0, eni('a'));

    const changed = answer(10, allocated('b', 'a', 'c', '10.0.0.4', 'b'));

    expect(changed).toBe(true);
    expect(holdings()).toEqual(['a', 'b', 'c']);
  });

  test('takes the address off every other interface', () => {
    const { refresh, answer, view } = inventoryRig();
    refresh(0, eni('a'), further(1, { addresses: ['b'] }));

    answer(10, allocated('b'));

    expect(view().interfaces.map(({ addresses }) => addresses)).toEqual([['a', 'b'], []]);
  });

  test.each([
    ['an address of a prefix', { addresses: [], prefixes: ['10.0.1.0/28'] }, allocated('10.0.1.3')],
    ['a prefix with an address', { addresses: ['10.0.1.3'] }, { ...allocated(), prefixes: ['10.0.1.0/28'] }],
  ])('takes the address off every other interface, also when it is %s', (_, had, given) => {
    const { refresh, answer, view } = inventoryRig();
    refresh(0, eni('a'), further(1, had));

    answer(10, given);

    const [, other] = view().interfaces;
    expect([other?.addresses, other?.prefixes]).toEqual([[], []]);
  });

  test('takes the address off every other interface once an interface that was created with it is attached', () => {
    const { refresh, answer, view } = inventoryRig();
    const { primaryAddress } = created.interface;
    refresh(0, eni('a', 'x', 'b', primaryAddress));
    answer(10, created);

    answer(20, attached);

    expect(view().interfaces.map(({ addresses }) => addresses)).toEqual([
      ['a', 'b'],
      ['x', 'y'],
    ]);
  });

  test('is not undone by the attachment of an interface that was created before it', () => {
    const { refresh, answer, view } = inventoryRig();
    refresh(0, eni('a'));
    answer(10, created);
    // Another client took it from the new interface, and the cloud assigned it again.
    answer(15, allocated('x'));

    answer(20, attached);

    expect(view().interfaces.map(({ addresses }) => addresses)).toEqual([['a', 'x'], ['y']]);
  });

  test('is not undone by the attachment of an interface that a reading showed with the address', () => {
    const { refresh, list, answer, view } = inventoryRig();
    refresh(0, eni('a'));
    answer(5, created);
    answer(15, allocated('x'));
    list(6, eni('a'), further(1, { addresses: ['x', 'y'] }));

    answer(20, attached);

    expect(view().interfaces[0]?.addresses).toEqual(['a', 'x']);
  });

  test('takes the address off every other interface, also when its own is unknown', () => {
    const { refresh, answer, holdings } = inventoryRig();
    refresh(0, eni('a', 'b'));
    const before = holdings();

    const changed = answer(10, { ...allocated('b'), interfaceId: 'eni-9' });

    expect([before, changed, holdings()]).toEqual([['a', 'b'], true, ['a']]);
  });

  test.each([
    ['that started before its end', 9],
    ['that started within the window after its end', 39],
  ])('needs no refresh after one %s', (_, startedAt) => {
    const { refresh, answer, holdings, view } = inventoryRig();
    refresh(0, eni('a'));
    answer(10, allocated('b'));

    refresh(startedAt, eni('a'));

    expect(holdings()).toEqual(['a', 'b']);
    expect(view().refreshDue).toBeUndefined();
  });

  test('needs no refresh after a listing', () => {
    const { list, refresh, answer, view } = inventoryRig();
    refresh(0, eni('a'));
    answer(10, allocated('b'));

    list(39, eni('a'));

    expect(view().refreshDue).toBeUndefined();
  });

  test('is treated like any other address afterwards', () => {
    const { refresh, answer, holdings } = inventoryRig();
    refresh(0, eni('a'));
    answer(10, allocated('b'));

    refresh(40, eni('a'));
    const between = holdings();
    refresh(70, eni('a'));

    expect([between, holdings()]).toEqual([['a', 'b'], ['a']]);
  });

  test('shows that a possibly gone address is there', () => {
    const { refresh, answer, holdings } = inventoryRig();
    refresh(0, eni('a', 'b'));
    refresh(5, eni('a'));
    answer(20, allocated('b'));

    refresh(40, eni('a'));

    expect(holdings()).toEqual(['a', 'b']);
  });

  test('takes two refreshes to disprove when its address was possibly gone', () => {
    const { refresh, answer, holdings, view } = inventoryRig();
    refresh(0, eni('a', 'b'));
    refresh(5, eni('a'));
    answer(20, allocated('b'));

    refresh(60, eni('a'));

    expect(holdings()).toEqual(['a', 'b']);
    expect(view().refreshDue).toBe(90);
  });

  test('is not undone by a refresh that lacks the interface and started before the call ended', () => {
    const { refresh, answer, holdings } = inventoryRig();
    refresh(0, eni('a'), further(1));
    refresh(5, further(1));
    answer(40, allocated('b'));

    refresh(36, further(1));

    expect(holdings()).toEqual(['a', 'b']);
  });

  test('changes nothing at an unknown instance', () => {
    const { answer, inventory } = inventoryRig();

    const changed = [
      answer(10, allocated('b')),
      inventory.applyAnswer({ ...allocated('b'), instanceId: 'i-2' }, 10).size,
    ];

    expect(changed).toEqual([false, 0]);
  });

  test('lets a reading that started before it only add', () => {
    const { refresh, answer, view } = inventoryRig();
    refresh(0, networkInterface({ description: 'newer' }));
    answer(10, allocated('b'));

    refresh(5, networkInterface({ description: 'older', addresses: ['c'] }));

    expect(view().interfaces).toMatchObject([{ description: 'newer', addresses: ['b', 'c'] }]);
  });
});

describe('an interface of our own', () => {
  test('belongs to no instance until it is attached, and then has all that it was created with', () => {
    const { refresh, answer, view } = inventoryRig();
    refresh(0, eni());

    const before = [answer(10, created), view().interfaces.length];
    const changed = answer(20, attached);

    expect(before).toEqual([false, 1]);
    expect(changed).toBe(true);
    expect(view().interfaces[1]).toEqual(
      further(1, {
        addresses: ['x', 'y'],
        attachment: attachment({ id: 'attach-2', deviceIndex: 1, deleteOnTermination: false }),
      }),
    );
  });

  test.each([15, 20, 49])(
    'stays after a refresh that starts at %i, when its attachment ends at 20',
    (startedAt) => {
      const { refresh, answer, view } = inventoryRig();
      refresh(0, eni());
      answer(10, created);
      answer(20, attached);

      refresh(startedAt, eni());

      expect(view().interfaces).toHaveLength(2);
      expect(view().refreshDue).toBeUndefined();
    },
  );

  test('stays after a refresh within the window that lacks it, although an earlier one showed it', () => {
    const { refresh, answer, view } = inventoryRig();
    refresh(0, eni());
    answer(10, created);
    answer(20, attached);

    refresh(30, eni(), further(1, { addresses: ['x', 'y'] }));
    refresh(49, eni());

    expect(view().interfaces).toHaveLength(2);
    expect(view().refreshDue).toBeUndefined();
  });

  test('is treated like any other interface afterwards', () => {
    const { refresh, answer, view } = inventoryRig();
    refresh(0, eni());
    answer(10, created);
    answer(20, attached);

    refresh(50, eni());
    const between = view().interfaces.length;
    refresh(80, eni());

    expect([between, view().interfaces.length]).toEqual([2, 1]);
  });

  test('keeps addresses that a refresh does not show yet', () => {
    const { refresh, answer, view } = inventoryRig();
    refresh(0, eni());
    answer(10, created);
    answer(20, attached);

    refresh(21, eni(), further(1, { addresses: ['x'] }));
    refresh(49, eni(), further(1, { addresses: ['x'] }));

    expect(view().interfaces[1]?.addresses).toEqual(['x', 'y']);
  });

  test('is attached by the answer, even when a refresh shows the attachment in progress', () => {
    const { refresh, answer, view } = inventoryRig();
    refresh(0, eni());
    answer(10, created);
    const shown = further(1, { addresses: ['x', 'y'], attachment: attaching });

    refresh(15, eni(), shown);
    const before = view().interfaces[1]?.attachment?.state;
    const changed = answer(20, attached);
    refresh(25, eni(), shown);

    expect([before, changed]).toEqual(['attaching', true]);
    expect(view().interfaces[1]?.attachment?.state).toBe('attached');
  });

  test('is refreshed again when it is found in the middle of its attachment', () => {
    const { refresh, view } = inventoryRig();

    refresh(15, eni(), further(1, { attachment: attaching }));
    const due = view().refreshDue;
    refresh(45, eni(), further(1));

    expect(due).toBe(45);
    expect(view().refreshDue).toBeUndefined();
  });

  test('is not attached by a late answer after it was deleted', () => {
    const { refresh, answer, view } = inventoryRig();
    refresh(0, eni());
    answer(10, created);
    answer(15, { kind: 'deleted', interfaceId: 'eni-2' });

    const changed = answer(20, attached);

    expect(changed).toBe(false);
    expect(view().interfaces).toHaveLength(1);
  });

  test('keeps its delete-on-termination', () => {
    const { refresh, answer, view } = inventoryRig();
    refresh(0, eni());
    answer(10, created);
    answer(20, attached);

    answer(30, { kind: 'deleteOnTerminationSet', interfaceId: 'eni-2', instanceId: 'i-1' });
    refresh(
      29,
      eni(),
      further(1, { attachment: attachment({ deviceIndex: 1, deleteOnTermination: false }) }),
    );

    expect(view().interfaces[1]?.attachment?.deleteOnTermination).toBe(true);
  });
});

describe('an interface that a refresh did not show', () => {
  const held = { interfaceId: 'eni-2', instanceId: 'i-1' };

  test.each<[string, Answer]>([
    ['gained addresses', { kind: 'allocated', ...held, addresses: ['b'], prefixes: [] }],
    ['lost addresses', { kind: 'released', ...held, holdings: ['a'] }],
    ['gained a public address', { kind: 'staticIPAssociated', ...held, publicAddress: 'p' }],
  ])(
    'stays possibly gone when it %s, as a detached one can be, and is withdrawn after a second refresh',
    (_, done) => {
      const { refresh, answer, view } = inventoryRig();
      refresh(0, eni(), further(1, { addresses: ['a'] }));
      refresh(50, eni());

      answer(60, done);
      const between = view();
      refresh(80, eni());

      expect(between.possiblyGone.has('eni-2')).toBe(true);
      expect(between.refreshDue).toBe(80);
      expect(view().interfaces.map(({ id }) => id)).toEqual(['eni-1']);
    },
  );
});

test('an interface that the cloud does not know is possibly gone until a refresh shows it', () => {
  const { refresh, answer, view } = inventoryRig();
  refresh(0, eni(), further(1, { addresses: ['a'] }));

  answer(60, { kind: 'notFound', interfaceId: 'eni-2', instanceId: 'i-1' });
  const between = view();
  refresh(70, eni(), further(1, { addresses: ['a'] }));

  expect([...between.possiblyGone]).toEqual(['eni-2', 'a']);
  expect(between.refreshDue).toBe(60);
  expect([...view().possiblyGone]).toEqual([]);
});

test('an interface that the cloud does not know is withdrawn after two refreshes, like any other', () => {
  const { refresh, answer, view } = inventoryRig();
  refresh(0, eni(), further(1));

  answer(60, { kind: 'notFound', interfaceId: 'eni-2', instanceId: 'i-1' });
  refresh(91, eni());
  const before = view().interfaces.length;
  refresh(121, eni());

  expect([before, view().interfaces.length]).toEqual([2, 1]);
});

describe('an interface that a listing did not show', () => {
  const held = { interfaceId: 'eni-2', instanceId: 'i-1' };

  test('has possibly gone addresses until a refresh shows it, also those that it gets meanwhile', () => {
    const { refresh, list, answer, view } = inventoryRig();
    refresh(0, eni(), further(1, { addresses: ['a'] }));

    list(50, eni());
    answer(60, { kind: 'allocated', ...held, addresses: ['b'], prefixes: [] });
    const between = view();
    refresh(70, eni(), further(1, { addresses: ['a', 'b'] }));

    expect([...between.possiblyGone]).toEqual(['a', 'b']);
    expect([...view().possiblyGone]).toEqual([]);
  });
});

describe('a listing in progress', () => {
  test('does not undo what was written meanwhile', () => {
    const { inventory, refresh, answer, holdings, view } = inventoryRig();
    refresh(0, eni('a'));
    const listing = inventory.beginListing(5);
    answer(8, created);
    answer(9, attached);
    answer(10, allocated('b'));

    listing.apply([{ kind: 'interface', interface: eni('a') }], 6);
    ended(listing);

    expect(holdings()).toEqual(['a', 'b']);
    expect(view().interfaces.map(({ id }) => id)).toEqual(['eni-1', 'eni-2']);
    expect(view().refreshDue).toBeUndefined();
  });

  test('adds from each page as it arrives', () => {
    const { inventory, refresh, view } = inventoryRig();
    refresh(0, eni('a'));
    const listing = inventory.beginListing(5);

    listing.apply([{ kind: 'interface', interface: further(1) }], 6);

    expect(view().interfaces).toHaveLength(2);
  });
});

describe('an assignment of prefixes of our own', () => {
  const [first, second] = ['10.0.9.0/28', '10.0.9.16/28'] as const;
  const delegated = (prefixes: readonly string[], addresses: readonly string[] = []): Answer => ({
    kind: 'allocated',
    interfaceId: 'eni-1',
    instanceId: 'i-1',
    addresses,
    prefixes,
  });
  const withPrefixes = (...prefixes: string[]) => networkInterface({ addresses: ['a'], prefixes });

  test('adds them once, after the known ones', () => {
    const { refresh, answer, view } = inventoryRig();
    refresh(0, withPrefixes(first));

    answer(10, delegated([second, first, second]));

    expect(view().interfaces[0]).toMatchObject({ addresses: ['a'], prefixes: [first, second] });
  });

  test('adds no address that is the primary one or in a prefix, whatever an emulator answers', () => {
    const { refresh, answer, view } = inventoryRig();
    refresh(0, withPrefixes(first));

    answer(10, delegated([second], ['10.0.0.4', '10.0.9.3', '10.0.9.17', 'b']));

    expect(view().interfaces[0]).toMatchObject({ addresses: ['a', 'b'], prefixes: [first, second] });
  });

  test.each([
    ['a refresh', 'refresh' as const],
    ['a listing', 'list' as const],
  ])('stays after %s that need not show it yet', (_, reading) => {
    const rig = inventoryRig();
    rig.refresh(0, withPrefixes(first));
    rig.answer(10, delegated([second]));

    rig[reading](39, withPrefixes(first));

    expect(rig.holdings()).toEqual(['a', first, second]);
    expect(rig.view().refreshDue).toBeUndefined();
  });

  test('is withdrawn after two refreshes that should have shown it', () => {
    const { refresh, answer, holdings } = inventoryRig();
    refresh(0, withPrefixes(first));
    answer(10, delegated([second]));

    refresh(40, withPrefixes(first));
    const between = holdings();
    refresh(70, withPrefixes(first));

    expect([between, holdings()]).toEqual([
      ['a', first, second],
      ['a', first],
    ]);
  });

  test('is trusted for a prefix that was released before', () => {
    const { refresh, answer, holdings } = inventoryRig();
    refresh(0, withPrefixes(first, second));
    answer(10, { kind: 'released', interfaceId: 'eni-1', instanceId: 'i-1', holdings: [second] });
    answer(20, delegated([second]));

    refresh(25, withPrefixes(first, second));

    expect(holdings()).toEqual(['a', first, second]);
  });
});
