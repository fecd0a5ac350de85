import { describe, expect, test } from '@jest/globals';
import type { Answer } from '../../../src/providers/observation.ts';
import { networkInterface } from './interfaces.ts';
import { ended, eni, further, inventoryRig, type InventoryRig } from './inventory-rig.ts';

const block = '10.0.1.16/28';

function taken(...holdings: string[]): Answer {
  return { kind: 'released', interfaceId: 'eni-1', instanceId: 'i-1', holdings };
}

function given(...addresses: string[]): Answer {
  return { kind: 'allocated', interfaceId: 'eni-1', instanceId: 'i-1', addresses, prefixes: [] };
}

const before = networkInterface({ addresses: ['a', 'b'], prefixes: [block] });

/** `b` is given back at 10; the cloud may show a change 30 later. */
describe('what we gave back ourselves', () => {
  test.each<{ what: string; play: (rig: InventoryRig) => void; left: readonly string[] }>([
    { what: 'is gone at once', play: ({ answer }) => answer(10, taken('b')), left: ['a', block] },
    {
      what: 'is gone at once, if it is a prefix',
      play: ({ answer }) => answer(10, taken(block)),
      left: ['a', 'b'],
    },
    {
      what: 'does not come back by a look that began before',
      play: ({ answer, look }) => {
        answer(10, taken('b'));
        look(5, before);
      },
      left: ['a', block],
    },
    {
      what: 'does not come back by a look that the cloud answers late',
      play: ({ answer, look }) => {
        answer(10, taken('b', block));
        look(39, before);
      },
      left: ['a'],
    },
    {
      what: 'does not come back by a listing that was being read',
      play: ({ inventory, answer }) => {
        const listing = inventory.beginListing(5);
        answer(10, taken('b'));
        listing.fold([{ kind: 'interface', interface: before }], 6);
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
      what: 'is there again once somebody else has given it anew',
      play: ({ answer, look }) => {
        answer(10, taken('b'));
        look(40, before);
      },
      left: ['a', block, 'b'],
    },
    {
      what: 'is there again at once when we were given it anew',
      play: ({ answer, look }) => {
        answer(10, taken('b'));
        answer(15, given('b'));
        look(20, before);
      },
      left: ['a', block, 'b'],
    },
    {
      what: 'stays gone when a look does not show it, without another look',
      play: ({ answer, look }) => {
        answer(10, taken('b'));
        look(15, networkInterface({ addresses: ['a'], prefixes: [block] }));
      },
      left: ['a', block],
    },
  ])('$what', ({ play, left }) => {
    const rig = inventoryRig();
    rig.look(0, before);

    play(rig);

    expect([...(rig.holdings() ?? [])].toSorted()).toEqual([...left].toSorted());
    expect(rig.view().lookDue).toBeUndefined();
  });

  test('of an interface that is not known changes nothing', () => {
    const rig = inventoryRig();
    rig.look(0, further(1));

    expect(rig.answer(10, taken('b'))).toBe(false);
  });
});

describe('an interface that we deleted ourselves', () => {
  const gone: Answer = { kind: 'deleted', interfaceId: 'eni-2' };

  test.each<{ what: string; play: (rig: InventoryRig) => void; there: boolean }>([
    { what: 'is gone at once', play: ({ answer }) => answer(10, gone), there: false },
    {
      what: 'does not come back by a look that began before',
      play: ({ answer, look }) => {
        answer(10, gone);
        look(5, eni('a'), further(1));
      },
      there: false,
    },
    {
      what: 'does not come back by a listing that was being read',
      play: ({ inventory, answer }) => {
        const listing = inventory.beginListing(5);
        answer(10, gone);
        listing.fold(
          [eni('a'), further(1)].map((item) => ({ kind: 'interface', interface: item })),
          6,
        );
        ended(listing);
      },
      there: false,
    },
    {
      what: 'is there once it is shown longer than the cloud may take to forget it',
      play: ({ answer, look }) => {
        answer(10, gone);
        look(45, eni('a'), further(1));
      },
      there: true,
    },
  ])('$what', ({ play, there }) => {
    const rig = inventoryRig();
    rig.look(0, eni('a'), further(1));

    play(rig);

    expect(rig.view().interfaces.map(({ id }) => id)).toEqual(there ? ['eni-1', 'eni-2'] : ['eni-1']);
  });
});

test('an interface that we detached ourselves is there until it is deleted, and on its way out', () => {
  const rig = inventoryRig();
  rig.look(0, eni('a'), further(1));

  rig.answer(10, { kind: 'detached', interfaceId: 'eni-2', instanceId: 'i-1' });

  expect(rig.view().interfaces.map(({ attachment }) => attachment?.state)).toEqual(['attached', 'detaching']);
});
