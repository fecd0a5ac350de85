import { describe, expect, test } from '@jest/globals';
import { expandHolding } from '../../../../src/providers/contract/network-interface.ts';
import type { Answer } from '../../../../src/providers/contract/operations.ts';
import { attachment, networkInterface } from '../interfaces.ts';
import { ended, eni, further, inventoryRig, type InventoryRig } from '../inventory-rig.ts';

const block = '10.0.1.16/28';

function taken(...holdings: string[]): Answer {
  return { kind: 'released', interfaceId: 'eni-1', instanceId: 'i-1', holdings };
}

function given(...addresses: string[]): Answer {
  return { kind: 'allocated', interfaceId: 'eni-1', instanceId: 'i-1', addresses, prefixes: [] };
}

const before = networkInterface({ addresses: ['a', 'b'], prefixes: [block] });

/** `b` is released at 10; the cloud may show a change 30 later. */
describe('what we released ourselves', () => {
  test.each<{ what: string; play: (rig: InventoryRig) => void; left: readonly string[] }>([
    { what: 'is gone at once', play: ({ answer }) => answer(10, taken('b')), left: ['a', block] },
    {
      what: 'is gone at once, if it is a prefix',
      play: ({ answer }) => answer(10, taken(block)),
      left: ['a', 'b'],
    },
    {
      what: 'does not come back by a refresh that started before',
      play: ({ answer, refresh }) => {
        answer(10, taken('b'));
        refresh(5, before);
      },
      left: ['a', block],
    },
    {
      what: 'does not come back by a refresh that the cloud answers late',
      play: ({ answer, refresh }) => {
        answer(10, taken('b', block));
        refresh(39, before);
      },
      left: ['a'],
    },
    {
      what: 'does not come back by a refresh that started before and ends long after, once newer ones have ended',
      play: ({ inventory, answer, refresh }) => {
        answer(10, taken('b'));
        refresh(41, networkInterface({ addresses: ['a'], prefixes: [block] }));
        inventory.applyRefresh({
          startedAt: 5,
          endedAt: 45,
          instanceIds: ['i-1'],
          observations: [{ kind: 'interface', interface: before }],
        });
      },
      left: ['a', block],
    },
    {
      what: 'does not come back by a listing that was being read',
      play: ({ inventory, answer }) => {
        const listing = inventory.beginListing(5);
        answer(10, taken('b'));
        listing.apply([{ kind: 'interface', interface: before }], 6);
        ended(listing);
      },
      left: ['a', block],
    },
    {
      what: 'does not come back by the next listing either',
      play: ({ answer, list }) => {
        answer(10, taken('b'));
        list(35, before);
      },
      left: ['a', block],
    },
    {
      what: 'is there again once another client has assigned it again',
      play: ({ answer, refresh }) => {
        answer(10, taken('b'));
        refresh(40, before);
      },
      left: ['a', block, 'b'],
    },
    {
      what: 'is there again at once when our own call assigned it again',
      play: ({ answer, refresh }) => {
        answer(10, taken('b'));
        answer(15, given('b'));
        refresh(20, before);
      },
      left: ['a', block, 'b'],
    },
    {
      what: 'stays gone when a refresh does not show it, without another refresh',
      play: ({ answer, refresh }) => {
        answer(10, taken('b'));
        refresh(15, networkInterface({ addresses: ['a'], prefixes: [block] }));
      },
      left: ['a', block],
    },
  ])('$what', ({ play, left }) => {
    const rig = inventoryRig();
    rig.refresh(0, before);

    play(rig);

    expect([...(rig.holdings() ?? [])].toSorted()).toEqual([...left].toSorted());
    expect(rig.view().refreshDue).toBeUndefined();
  });

  test('changes nothing for an unknown interface', () => {
    const rig = inventoryRig();
    rig.refresh(0, further(1));

    expect(rig.answer(10, taken('b'))).toBe(false);
  });
});

describe('an interface that we deleted ourselves', () => {
  const gone: Answer = { kind: 'deleted', interfaceId: 'eni-2' };

  test.each<{ what: string; play: (rig: InventoryRig) => void; there: boolean }>([
    { what: 'is gone at once', play: ({ answer }) => answer(10, gone), there: false },
    {
      what: 'does not come back by a refresh that started before',
      play: ({ answer, refresh }) => {
        answer(10, gone);
        refresh(5, eni('a'), further(1));
      },
      there: false,
    },
    {
      what: 'does not come back by a listing that was being read',
      play: ({ inventory, answer }) => {
        const listing = inventory.beginListing(5);
        answer(10, gone);
        listing.apply(
          [eni('a'), further(1)].map((item) => ({ kind: 'interface', interface: item })),
          6,
        );
        ended(listing);
      },
      there: false,
    },
    {
      what: 'is there once it is shown longer than the cloud may take to forget it',
      play: ({ answer, refresh }) => {
        answer(10, gone);
        refresh(45, eni('a'), further(1));
      },
      there: true,
    },
  ])('$what', ({ play, there }) => {
    const rig = inventoryRig();
    rig.refresh(0, eni('a'), further(1));

    play(rig);

    expect(rig.view().interfaces.map(({ id }) => id)).toEqual(there ? ['eni-1', 'eni-2'] : ['eni-1']);
  });
});

test('an interface that we detached ourselves stays until it is deleted, and is marked as leaving', () => {
  const rig = inventoryRig();
  rig.refresh(0, eni('a'), further(1));

  rig.answer(10, { kind: 'detached', interfaceId: 'eni-2', instanceId: 'i-1' });

  expect(rig.view().interfaces.map(({ attachment }) => attachment?.state)).toEqual(['attached', 'detaching']);
});

describe('an address that a call of ours with a lost answer may have taken', () => {
  const releasing: Answer = {
    kind: 'releasing',
    interfaceId: 'eni-1',
    instanceId: 'i-1',
    holdings: ['b'],
    until: 70,
  };

  function held(): InventoryRig {
    const rig = inventoryRig([], undefined, { admit: () => false, ofNodes: () => undefined });
    rig.refresh(0, before);
    rig.answer(10, releasing);
    return rig;
  }

  test('stays until two refreshes lack it, and is then withdrawn without the brake', () => {
    const { refresh, holdings, inventory } = held();
    refresh(20, { ...before, addresses: ['a'] });
    const afterOne = holdings();
    refresh(50, { ...before, addresses: ['a'] });

    expect(afterOne).toEqual(['a', 'b', block]);
    expect(holdings()).toEqual(['a', block]);
    expect(inventory.heldWithdrawals().size).toBe(0);
  });

  test('does not let anything else of the interface pass the brake', () => {
    const { refresh, holdings, inventory } = held();
    refresh(20, { ...before, addresses: [] });
    refresh(50, { ...before, addresses: [] });

    expect(holdings()).toEqual(['a', block]);
    expect(inventory.heldWithdrawals()).toEqual(new Set(['i-1']));
  });

  test('passes through the brake again once it was assigned again', () => {
    const { answer, refresh, holdings } = held();
    answer(15, given('b'));
    refresh(50, { ...before, addresses: ['a'] });
    refresh(90, { ...before, addresses: ['a'] });

    expect(holdings()).toEqual(['a', 'b', block]);
  });

  test.each([
    ['before the call can no longer take effect', 69, true],
    ['after that', 70, false],
  ])('is still possibly gone when a refresh shows it %s', (_, at, isUnconfirmed) => {
    const { refresh, view } = held();

    refresh(at, before);

    expect(view().possiblyGone.has('b')).toBe(isUnconfirmed);
    expect(view().refreshDue).toBe(isUnconfirmed ? 70 : undefined);
  });

  test.each([
    [69, ['b']],
    [70, []],
  ])('is possibly gone for the next CiliumNode of the instance at %i', (at, possiblyGone) => {
    const { inventory, refresh, view } = held();
    refresh(20, before);
    inventory.untrack('i-1', 25);

    inventory.track('i-1', [], at);
    refresh(at, before);

    expect([...view().possiblyGone]).toEqual(possiblyGone);
  });

  test('does not make other addresses seem missing', () => {
    const suspected: number[] = [];
    const rig = inventoryRig([], undefined, {
      admit: (_, __, others) => {
        suspected.push(others().size);
        return true;
      },
      ofNodes: () => undefined,
    });
    rig.inventory.track('i-2');
    rig.refresh(0, before);
    rig.answer(10, releasing);
    rig.refresh(20, { ...before, addresses: ['a'] });
    const other = networkInterface({ id: 'eni-9', addresses: ['x'] });
    const read = (at: number, addresses: string[]): void => {
      const shown = {
        kind: 'interface',
        interface: { ...other, addresses, attachment: attachment({ instanceId: 'i-2' }) },
      } as const;
      rig.inventory.applyRefresh({ startedAt: at, endedAt: at, instanceIds: ['i-2'], observations: [shown] });
    };
    read(20, ['x']);
    read(22, []);
    read(53, []);

    expect(suspected).toEqual([1]);
  });
});

describe('what is missing and was released according to its CiliumNode', () => {
  const members = expandHolding(block);

  test.each<[string, readonly (readonly string[])[], readonly string[]]>([
    ['passes without the brake', [['b']], ['a', block]],
    ['is counted by the brake when it was not released', [['a']], ['a', 'b', block]],
    ['is counted by the brake once it is no longer released', [['b'], []], ['a', 'b', block]],
    [
      'is counted by the brake when only a part of a prefix was released',
      [['b', ...members.slice(1)]],
      ['a', block],
    ],
    ['passes without the brake when all of a prefix was released', [['b', ...members]], ['a']],
  ])('%s', (_, reported, left) => {
    const { inventory, refresh, holdings } = inventoryRig([], undefined, {
      admit: () => false,
      ofNodes: () => undefined,
    });
    refresh(0, before);
    for (const addresses of reported) inventory.agentGaveUp('i-1', new Set(addresses));

    refresh(20, { ...before, addresses: ['a'], prefixes: [] });
    refresh(50, { ...before, addresses: ['a'], prefixes: [] });

    expect(holdings()).toEqual(left);
  });
});
