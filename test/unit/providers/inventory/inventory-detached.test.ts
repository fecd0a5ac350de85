import { describe, expect, test } from '@jest/globals';
import { eni, further, inventoryRig } from '../inventory-rig.ts';

const assigned = { kind: 'allocated', interfaceId: 'eni-1', instanceId: 'i-1', prefixes: [] } as const;

describe('an interface that a reading does not show, while a call changed its addresses', () => {
  test.each(['refresh', 'list'] as const)('stays, and is refreshed once the call has ended: %s', (scope) => {
    const rig = inventoryRig();
    rig.refresh(0, eni('a'), further(1));
    rig.answer(110, { ...assigned, addresses: ['b'] });

    rig[scope](100, further(1));

    expect(rig.view().interfaces).toHaveLength(2);
    expect(rig.view().refreshDue).toBe(110);
  });
});

describe('an interface that a reading shows as detached', () => {
  test('stays with its instance until refreshes say otherwise, and the first of them is due', () => {
    const { inventory, refresh, view } = inventoryRig();
    refresh(0, eni('a'));

    const holder = inventory.seenDetached('eni-1', 30);

    expect(holder).toBe('i-1');
    expect(view().refreshDue).toBe(30);
    expect(view().interfaces).toHaveLength(1);
  });

  test.each([
    { when: 'that was known while detached', isKnown: true },
    { when: 'that a read showed before the answer came', isKnown: false },
  ])(
    'is back with the answer to our attachment $when, though the read in it may be as old as what proved it gone',
    ({ isKnown }) => {
      const { inventory, refresh, answer, view } = inventoryRig();
      refresh(0, eni('a'), further(1, { addresses: ['b'] }));
      for (const startedAt of [40, 80]) refresh(startedAt, eni('a'));
      const gone = view().interfaces.length;

      if (isKnown) inventory.adopt(further(1, { addresses: ['b'], attachment: undefined }));
      answer(100, {
        kind: 'attached',
        interfaceId: 'eni-2',
        instanceId: 'i-1',
        deviceIndex: 1,
        attachmentId: 'attach-2',
        shown: { interface: further(1, { addresses: ['b'] }), startedAt: 99 },
      });

      expect(gone).toBe(1);
      expect(view().interfaces.map(({ id }) => id)).toEqual(['eni-1', 'eni-2']);
    },
  );

  test('is possibly gone with all that it has until a refresh shows it', () => {
    const { inventory, refresh, view } = inventoryRig();
    refresh(0, eni('a', 'b'));
    const before = view().possiblyGone;

    inventory.seenDetached('eni-1', 30);
    const meanwhile = view().possiblyGone;
    refresh(40, eni('a', 'b'));

    expect([...before]).toEqual([]);
    expect([...meanwhile]).toEqual(['a', 'b']);
    expect([...view().possiblyGone]).toEqual([]);
  });

  test('is refreshed even when its addresses changed meanwhile, because a cloud changes a detached interface too', () => {
    const { inventory, refresh, answer, view } = inventoryRig();
    refresh(0, eni('a'));
    answer(25, { ...assigned, addresses: ['b'] });

    inventory.seenDetached('eni-1', 30);

    expect(view().refreshDue).toBe(30);
  });

  test('is not refreshed soon after our own attachment, which the reading need not show yet', () => {
    const { inventory, answer, view } = inventoryRig();
    answer(10, { kind: 'created', interface: further(1, { attachment: undefined }) });
    answer(20, {
      kind: 'attached',
      interfaceId: 'eni-2',
      instanceId: 'i-1',
      deviceIndex: 1,
      attachmentId: 'attach-2',
    });

    const due = [49, 50].map((startedAt) => {
      inventory.seenDetached('eni-2', startedAt);
      return view().refreshDue;
    });

    expect(due).toEqual([undefined, 50]);
  });

  test('causes no refresh when the reading may be older than what is known', () => {
    const { inventory, refresh, view } = inventoryRig();
    refresh(0, eni('a'));

    const holder = inventory.seenDetached('eni-1', 29);

    expect(holder).toBe('i-1');
    expect(view().refreshDue).toBeUndefined();
  });

  test('stays when a previous leader may have attached it so late that a refresh need not show it', () => {
    const { inventory, refresh, view } = inventoryRig([eni('a'), further(1, { addresses: ['b'] })], 0);

    const holder = inventory.seenDetached('eni-2', 29);
    refresh(29, eni('a'));
    const young = view().interfaces.length;
    inventory.seenDetached('eni-2', 30);
    refresh(31, eni('a'));

    expect(holder).toBe('i-1');
    expect(young).toBe(2);
    expect(view().interfaces.map(({ id }) => id)).toEqual(['eni-1']);
  });

  test('belongs to no instance when none has it', () => {
    const { inventory, refresh, view } = inventoryRig();
    refresh(0, eni('a'));

    expect(inventory.seenDetached('eni-7', 1000)).toBeUndefined();
    expect(view().refreshDue).toBeUndefined();
  });
});
