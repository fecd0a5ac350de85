import { describe, expect, test } from '@jest/globals';
import type { Answer } from '../../../../src/providers/contract/operations.ts';
import type { AwaitedAttachment } from '../../../../src/providers/contract/facts.ts';
import { attachment, networkInterface } from '../interfaces.ts';
import { attached, eni, further, type InventoryRig, inventoryRig } from '../inventory-rig.ts';

const made = further(1, { attachment: undefined, addresses: ['x', 'y'] });
const shown = { ...made, attachment: attachment({ id: 'attach-2', deviceIndex: 1 }) };
const attaching = { ...shown, attachment: { ...shown.attachment, state: 'attaching' as const } };
const detaching = { ...shown, attachment: { ...shown.attachment, state: 'detaching' as const } };
const former = { ...shown, attachment: { ...shown.attachment, id: 'attach-1' } };

const since = (at: number): AwaitedAttachment => ({
  attachmentId: 'attach-2',
  since: at,
  isOverdue: false,
});

/** `i-1` after a read at 0 and an attachment that was answered at 20. */
function attachedRig(): InventoryRig {
  const rig = inventoryRig();
  rig.refresh(0, eni('a'));
  rig.answer(10, { kind: 'created', interface: made });
  rig.answer(20, attached);
  return rig;
}

describe('an interface that our own call attached at 20', () => {
  test('is used for plans, and awaited', () => {
    const { view } = attachedRig();

    expect(view().interfaces.map(({ id }) => id)).toEqual(['eni-1', 'eni-2']);
    expect([...view().awaited]).toEqual([['eni-2', since(20)]]);
    expect([...view().possiblyGone]).toEqual([]);
  });

  test.each<[string, (rig: InventoryRig) => unknown, boolean]>([
    ['until a refresh shows it attached', ({ refresh }) => refresh(25, eni('a'), shown), false],
    ['until a listing shows it attached', ({ list }) => list(25, eni('a'), shown), false],
    [
      'until a read shows it that started before the answer',
      ({ refresh }) => refresh(15, eni('a'), shown),
      false,
    ],
    ['also when a refresh does not show it', ({ refresh }) => refresh(25, eni('a')), true],
    ['also when a refresh shows it attaching', ({ refresh }) => refresh(25, eni('a'), attaching), true],
    ['also when a late refresh shows it attaching', ({ refresh }) => refresh(60, eni('a'), attaching), true],
    ['also when a refresh shows it detaching', ({ refresh }) => refresh(25, eni('a'), detaching), true],
    ['also when a read shows a former attachment', ({ refresh }) => refresh(25, eni('a'), former), true],
    [
      'also when two reads show one',
      ({ refresh }) => [refresh(25, eni('a'), former), refresh(26, eni('a'), former)],
      true,
    ],
    [
      'until a refresh shows it attached, whatever another one did before',
      ({ refresh }) => [refresh(25, eni('a'), former), refresh(26, eni('a'), shown)],
      false,
    ],
    [
      'until a read a window later shows an attachment by any name',
      ({ refresh }) => refresh(50, eni('a'), former),
      false,
    ],
    ['also once it gained more addresses', ({ answer }) => answer(25, allocated('z')), true],
    [
      'until a newer state of the CiliumNode shows it',
      ({ inventory }) => inventory.restoreAlso('i-1', { interfaces: [shown], pendingRelease: new Set() }, 25),
      false,
    ],
  ])('is awaited %s', (_, happens, isAwaited) => {
    const rig = attachedRig();

    happens(rig);

    expect(rig.view().awaited.has('eni-2')).toBe(isAwaited);
    expect(rig.view().interfaces.map(({ id }) => id)).toEqual(['eni-1', 'eni-2']);
  });

  test.each<[string, (rig: InventoryRig) => unknown, readonly boolean[]]>([
    ['by a read that began within the window', ({ refresh }) => refresh(49, eni('a')), [false, false]],
    ['by a later one that lacks it', ({ refresh }) => refresh(51, eni('a')), [true, true]],
    [
      'by a later one that shows it attaching',
      ({ refresh }) => refresh(51, eni('a'), attaching),
      [true, true],
    ],
    ['by a read that shows it attached', ({ refresh }) => refresh(51, eni('a'), shown), [true, false]],
  ])('is overdue %s: %j', (_, happens, [changed, isOverdue]) => {
    const rig = attachedRig();

    expect(happens(rig)).toBe(changed);
    expect(rig.view().awaited.get('eni-2')?.isOverdue ?? false).toBe(isOverdue);
  });

  test('changes the instance when it is seen, although nothing else is new', () => {
    const { refresh } = attachedRig();

    expect([refresh(25, eni('a')), refresh(26, eni('a'), shown), refresh(27, eni('a'), shown)]).toEqual([
      false,
      true,
      false,
    ]);
  });

  test('is withdrawn after two refreshes a window apart that show the instance complete without it', () => {
    const { refresh, view } = attachedRig();

    refresh(51, eni('a'));
    const between = view().interfaces.length;
    refresh(82, eni('a'));

    expect([between, view().interfaces.length, view().awaited.size]).toEqual([2, 1, 0]);
  });
});

test.each([
  ['attached before our own call was answered is not awaited', shown, []],
  [
    'attaching before our own call was answered is awaited from the answer on',
    attaching,
    [['eni-2', since(20)]],
  ],
  ['at a former attachment is awaited', former, [['eni-2', since(20)]]],
])('an interface that a read showed %s', (_, before, expected) => {
  const { refresh, answer, view } = inventoryRig();
  answer(10, { kind: 'created', interface: made });
  refresh(15, eni('a'), before);

  answer(20, attached);

  expect([...view().awaited]).toEqual(expected);
});

test.each([
  ['attached', shown, []],
  ['at a former attachment', former, [['eni-2', since(20)]]],
])('an interface that the answer to our own call shows %s', (_, item, expected) => {
  const { refresh, answer, view } = inventoryRig();
  refresh(0, eni('a'));
  answer(10, { kind: 'created', interface: made });

  answer(20, { ...attached, shown: { interface: item, startedAt: 18 } } as Answer);

  expect([...view().awaited]).toEqual(expected);
  expect(view().interfaces.map(({ id, addresses }) => [id, addresses])).toEqual([
    ['eni-1', ['a']],
    ['eni-2', ['x', 'y']],
  ]);
});

test('an interface that a read is the first to show, attaching, is awaited as well', () => {
  const { refresh, view } = inventoryRig();

  refresh(15, eni('a'), attaching);
  const first = [...view().awaited];
  refresh(18, eni('a'), shown);

  expect([first, [...view().awaited]]).toEqual([[['eni-2', since(15)]], []]);
});

test('an interface that the CiliumNode showed at startup is not awaited, whatever the cloud shows', () => {
  const { refresh, view } = inventoryRig([networkInterface(), shown]);

  refresh(5, eni(), attaching);

  expect(view().awaited.size).toBe(0);
});

test('an interface that is being detached is read again, because its slot gets free', () => {
  const { refresh, view } = inventoryRig();

  refresh(0, eni());
  refresh(5, eni(), detaching);

  expect(view().refreshDue).toBe(35);
});

function allocated(...addresses: string[]): Answer {
  return { kind: 'allocated', interfaceId: 'eni-2', instanceId: 'i-1', addresses, prefixes: [] };
}
