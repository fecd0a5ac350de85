import { describe, expect, test } from '@jest/globals';
import type { Answer } from '../../../../src/providers/contract/observation.ts';
import { attachment, networkInterface } from '../interfaces.ts';
import { ended, eni, further, inventoryRig } from '../inventory-rig.ts';

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
const attached: Answer = {
  kind: 'attached',
  interfaceId: 'eni-2',
  instanceId: 'i-1',
  deviceIndex: 1,
  attachmentId: 'attach-2',
};
const attaching = attachment({ id: 'attach-2', deviceIndex: 1, state: 'attaching' });

describe('an assignment of our own', () => {
  test('adds its addresses once, after the known ones', () => {
    const { look, answer, holdings } = inventoryRig();
    look(0, eni('a'));

    const changed = answer(10, allocated('b', 'a', 'c', '10.0.0.4', 'b'));

    expect(changed).toBe(true);
    expect(holdings()).toEqual(['a', 'b', 'c']);
  });

  test('is no other interface’s any more', () => {
    const { look, answer, view } = inventoryRig();
    look(0, eni('a'), further(1, { addresses: ['b'] }));

    answer(10, allocated('b'));

    expect(view().interfaces.map(({ addresses }) => addresses)).toEqual([['a', 'b'], []]);
  });

  test.each([
    ['an address of a prefix', { addresses: [], prefixes: ['10.0.1.0/28'] }, allocated('10.0.1.3')],
    ['a prefix with an address', { addresses: ['10.0.1.3'] }, { ...allocated(), prefixes: ['10.0.1.0/28'] }],
  ])('is no other interface’s any more, also where it is %s', (_, had, given) => {
    const { look, answer, view } = inventoryRig();
    look(0, eni('a'), further(1, had));

    answer(10, given);

    const [, other] = view().interfaces;
    expect([other?.addresses, other?.prefixes]).toEqual([[], []]);
  });

  test('by the creation of an interface is no other interface’s any more once that is attached', () => {
    const { look, answer, view } = inventoryRig();
    const { primaryAddress } = created.interface;
    look(0, eni('a', 'x', 'b', primaryAddress));
    answer(10, created);

    answer(20, attached);

    expect(view().interfaces.map(({ addresses }) => addresses)).toEqual([
      ['a', 'b'],
      ['x', 'y'],
    ]);
  });

  test('later than the creation of an interface stays where it is once that is attached', () => {
    const { look, answer, view } = inventoryRig();
    look(0, eni('a'));
    answer(10, created);
    // Somebody took it from the new interface, and the cloud gave it out again.
    answer(15, allocated('x'));

    answer(20, attached);

    expect(view().interfaces.map(({ addresses }) => addresses)).toEqual([['a', 'x'], ['y']]);
  });

  test('stays where it is once an interface is attached that a reading showed with it', () => {
    const { look, list, answer, view } = inventoryRig();
    look(0, eni('a'));
    answer(5, created);
    answer(15, allocated('x'));
    list(6, eni('a'), further(1, { addresses: ['x', 'y'] }));

    answer(20, attached);

    expect(view().interfaces[0]?.addresses).toEqual(['a', 'x']);
  });

  test('to an interface that is not known yet is no other interface’s any more, either', () => {
    const { look, answer, holdings } = inventoryRig();
    look(0, eni('a', 'b'));
    const before = holdings();

    const changed = answer(10, { ...allocated('b'), interfaceId: 'eni-9' });

    expect([before, changed, holdings()]).toEqual([['a', 'b'], true, ['a']]);
  });

  test.each([
    ['that began before its end', 9],
    ['that began within the window after its end', 39],
  ])('is not suspicious to a look %s', (_, startedAt) => {
    const { look, answer, holdings, view } = inventoryRig();
    look(0, eni('a'));
    answer(10, allocated('b'));

    look(startedAt, eni('a'));

    expect(holdings()).toEqual(['a', 'b']);
    expect(view().refreshDue).toBeUndefined();
  });

  test('is not suspicious to a listing either', () => {
    const { list, look, answer, view } = inventoryRig();
    look(0, eni('a'));
    answer(10, allocated('b'));

    list(39, eni('a'));

    expect(view().refreshDue).toBeUndefined();
  });

  test('is like any other address afterwards', () => {
    const { look, answer, holdings } = inventoryRig();
    look(0, eni('a'));
    answer(10, allocated('b'));

    look(40, eni('a'));
    const between = holdings();
    look(70, eni('a'));

    expect([between, holdings()]).toEqual([['a', 'b'], ['a']]);
  });

  test('of an address that was thought to be missing clears the suspicion', () => {
    const { look, answer, holdings } = inventoryRig();
    look(0, eni('a', 'b'));
    look(5, eni('a'));
    answer(20, allocated('b'));

    look(40, eni('a'));

    expect(holdings()).toEqual(['a', 'b']);
  });

  test('of an address that was thought to be missing takes two looks to disprove', () => {
    const { look, answer, holdings, view } = inventoryRig();
    look(0, eni('a', 'b'));
    look(5, eni('a'));
    answer(20, allocated('b'));

    look(60, eni('a'));

    expect(holdings()).toEqual(['a', 'b']);
    expect(view().refreshDue).toBe(90);
  });

  test('does not take away an interface by a look that began before it ended', () => {
    const { look, answer, holdings } = inventoryRig();
    look(0, eni('a'), further(1));
    look(5, further(1));
    answer(40, allocated('b'));

    look(36, further(1));

    expect(holdings()).toEqual(['a', 'b']);
  });

  test('of what is not known changes nothing', () => {
    const { answer, inventory } = inventoryRig();

    const changed = [
      answer(10, allocated('b')),
      inventory.applyAnswer({ ...allocated('b'), instanceId: 'i-2' }, 10).size,
    ];

    expect(changed).toEqual([false, 0]);
  });

  test('does not let a reading that began before it change anything but add', () => {
    const { look, answer, view } = inventoryRig();
    look(0, networkInterface({ description: 'newer' }));
    answer(10, allocated('b'));

    look(5, networkInterface({ description: 'older', addresses: ['c'] }));

    expect(view().interfaces).toMatchObject([{ description: 'newer', addresses: ['b', 'c'] }]);
  });
});

describe('an interface of our own', () => {
  test('is nowhere until it is attached, and then there with all that it was made with', () => {
    const { look, answer, view } = inventoryRig();
    look(0, eni());

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

  test.each([15, 20, 49])('is not suspicious to a look that began at %i, an end at 20', (startedAt) => {
    const { look, answer, view } = inventoryRig();
    look(0, eni());
    answer(10, created);
    answer(20, attached);

    look(startedAt, eni());

    expect(view().interfaces).toHaveLength(2);
    expect(view().refreshDue).toBeUndefined();
  });

  test('is not suspicious to a look that shows it less than one before', () => {
    const { look, answer, view } = inventoryRig();
    look(0, eni());
    answer(10, created);
    answer(20, attached);

    look(30, eni(), further(1, { addresses: ['x', 'y'] }));
    look(49, eni());

    expect(view().interfaces).toHaveLength(2);
    expect(view().refreshDue).toBeUndefined();
  });

  test('is like any other interface afterwards', () => {
    const { look, answer, view } = inventoryRig();
    look(0, eni());
    answer(10, created);
    answer(20, attached);

    look(50, eni());
    const between = view().interfaces.length;
    look(80, eni());

    expect([between, view().interfaces.length]).toEqual([2, 1]);
  });

  test('keeps addresses that a look does not show yet', () => {
    const { look, answer, view } = inventoryRig();
    look(0, eni());
    answer(10, created);
    answer(20, attached);

    look(21, eni(), further(1, { addresses: ['x'] }));
    look(49, eni(), further(1, { addresses: ['x'] }));

    expect(view().interfaces[1]?.addresses).toEqual(['x', 'y']);
  });

  test('is attached by the answer, even where a look shows the attachment under way', () => {
    const { look, answer, view } = inventoryRig();
    look(0, eni());
    answer(10, created);
    const shown = further(1, { addresses: ['x', 'y'], attachment: attaching });

    look(15, eni(), shown);
    const before = view().interfaces[1]?.attachment?.state;
    const changed = answer(20, attached);
    look(25, eni(), shown);

    expect([before, changed]).toEqual(['attaching', true]);
    expect(view().interfaces[1]?.attachment?.state).toBe('attached');
  });

  test('found under way of attachment is looked at again', () => {
    const { look, view } = inventoryRig();

    look(15, eni(), further(1, { attachment: attaching }));
    const due = view().refreshDue;
    look(45, eni(), further(1));

    expect(due).toBe(45);
    expect(view().refreshDue).toBeUndefined();
  });

  test('that was deleted is not attached by an answer that comes late', () => {
    const { look, answer, view } = inventoryRig();
    look(0, eni());
    answer(10, created);
    answer(15, { kind: 'deleted', interfaceId: 'eni-2' });

    const changed = answer(20, attached);

    expect(changed).toBe(false);
    expect(view().interfaces).toHaveLength(1);
  });

  test('is remembered to go with its instance', () => {
    const { look, answer, view } = inventoryRig();
    look(0, eni());
    answer(10, created);
    answer(20, attached);

    answer(30, { kind: 'deleteOnTerminationSet', interfaceId: 'eni-2', instanceId: 'i-1' });
    look(29, eni(), further(1, { attachment: attachment({ deviceIndex: 1, deleteOnTermination: false }) }));

    expect(view().interfaces[1]?.attachment?.deleteOnTermination).toBe(true);
  });
});

describe('an interface that a look did not show', () => {
  const held = { interfaceId: 'eni-2', instanceId: 'i-1' };

  test.each<[string, Answer]>([
    ['was given addresses', { kind: 'allocated', ...held, addresses: ['b'], prefixes: [] }],
    ['gave addresses back', { kind: 'released', ...held, holdings: ['a'] }],
    ['was given a public address', { kind: 'staticIPAssociated', ...held, publicAddress: 'p' }],
  ])('stays in doubt when it %s, as a detached one can be, and is gone after a second look', (_, done) => {
    const { look, answer, view } = inventoryRig();
    look(0, eni(), further(1, { addresses: ['a'] }));
    look(50, eni());

    answer(60, done);
    const between = view();
    look(80, eni());

    expect(between.possiblyGone.has('eni-2')).toBe(true);
    expect(between.refreshDue).toBe(80);
    expect(view().interfaces.map(({ id }) => id)).toEqual(['eni-1']);
  });
});

test('an interface that the cloud does not know is in doubt until a look shows it', () => {
  const { look, answer, view } = inventoryRig();
  look(0, eni(), further(1, { addresses: ['a'] }));

  answer(60, { kind: 'notFound', interfaceId: 'eni-2', instanceId: 'i-1' });
  const between = view();
  look(70, eni(), further(1, { addresses: ['a'] }));

  expect([...between.possiblyGone]).toEqual(['eni-2', 'a']);
  expect(between.refreshDue).toBe(60);
  expect([...view().possiblyGone]).toEqual([]);
});

test('an interface that the cloud does not know is gone after two looks, like any other', () => {
  const { look, answer, view } = inventoryRig();
  look(0, eni(), further(1));

  answer(60, { kind: 'notFound', interfaceId: 'eni-2', instanceId: 'i-1' });
  look(91, eni());
  const before = view().interfaces.length;
  look(121, eni());

  expect([before, view().interfaces.length]).toEqual([2, 1]);
});

describe('an interface that a listing did not show', () => {
  const held = { interfaceId: 'eni-2', instanceId: 'i-1' };

  test('has doubtful addresses until a look shows it, also those that it is given meanwhile', () => {
    const { look, list, answer, view } = inventoryRig();
    look(0, eni(), further(1, { addresses: ['a'] }));

    list(50, eni());
    answer(60, { kind: 'allocated', ...held, addresses: ['b'], prefixes: [] });
    const between = view();
    look(70, eni(), further(1, { addresses: ['a', 'b'] }));

    expect([...between.possiblyGone]).toEqual(['a', 'b']);
    expect([...view().possiblyGone]).toEqual([]);
  });
});

describe('a listing under way', () => {
  test('does not undo what was written meanwhile', () => {
    const { inventory, look, answer, holdings, view } = inventoryRig();
    look(0, eni('a'));
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

  test('adds from each page as it comes', () => {
    const { inventory, look, view } = inventoryRig();
    look(0, eni('a'));
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
    const { look, answer, view } = inventoryRig();
    look(0, withPrefixes(first));

    answer(10, delegated([second, first, second]));

    expect(view().interfaces[0]).toMatchObject({ addresses: ['a'], prefixes: [first, second] });
  });

  test('adds no address that is the primary one or in a prefix, whatever a look-alike answers', () => {
    const { look, answer, view } = inventoryRig();
    look(0, withPrefixes(first));

    answer(10, delegated([second], ['10.0.0.4', '10.0.9.3', '10.0.9.17', 'b']));

    expect(view().interfaces[0]).toMatchObject({ addresses: ['a', 'b'], prefixes: [first, second] });
  });

  test.each([
    ['a look', 'look' as const],
    ['a listing', 'list' as const],
  ])('is not suspicious to %s that need not show it yet', (_, reading) => {
    const rig = inventoryRig();
    rig.look(0, withPrefixes(first));
    rig.answer(10, delegated([second]));

    rig[reading](39, withPrefixes(first));

    expect(rig.holdings()).toEqual(['a', first, second]);
    expect(rig.view().refreshDue).toBeUndefined();
  });

  test('goes after two looks that should have shown it', () => {
    const { look, answer, holdings } = inventoryRig();
    look(0, withPrefixes(first));
    answer(10, delegated([second]));

    look(40, withPrefixes(first));
    const between = holdings();
    look(70, withPrefixes(first));

    expect([between, holdings()]).toEqual([
      ['a', first, second],
      ['a', first],
    ]);
  });

  test('of a prefix that was given back is believed', () => {
    const { look, answer, holdings } = inventoryRig();
    look(0, withPrefixes(first, second));
    answer(10, { kind: 'released', interfaceId: 'eni-1', instanceId: 'i-1', holdings: [second] });
    answer(20, delegated([second]));

    look(25, withPrefixes(first, second));

    expect(holdings()).toEqual(['a', first, second]);
  });
});
