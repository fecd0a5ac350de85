import { describe, expect, test } from '@jest/globals';
import type { NetworkInterface } from '../../../src/providers/network-interface.ts';
import { networkInterface } from './interfaces.ts';
import { eni, further, instance, type InventoryRig, inventoryRig } from './inventory-rig.ts';

type Step =
  | readonly ['look' | 'list', number, readonly string[] | undefined]
  | readonly ['terminated', number, readonly string[] | undefined]
  | readonly ['contest', number, readonly string[]];

/** Plays readings of `eni-1` (undefined: not shown; the first interface of the instance is `eni-2`). */
function play(steps: readonly Step[]): { readonly holdings: unknown; readonly lookDue: number | undefined } {
  const { inventory, look, list, holdings, view } = inventoryRig();
  const other = further(1);
  for (const [what, at, shown] of steps) {
    const items = shown === undefined ? [other] : [eni(...shown), other];
    if (what === 'look') look(at, ...items);
    else if (what === 'list') list(at, ...items);
    else if (what === 'terminated') look(at, ...items, instance({ state: 'terminated' }));
    else inventory.contest('i-1', shown ?? [], at);
  }
  return { holdings: holdings(), lookDue: view().lookDue };
}

describe('a public address', () => {
  const shown = (publicAddress?: string): NetworkInterface => networkInterface({ publicAddress });
  const associated = {
    kind: 'staticIPAssociated',
    interfaceId: 'eni-1',
    instanceId: 'i-1',
    publicAddress: 'p',
  } as const;

  test.each<{ what: string; play: (rig: InventoryRig) => void; address: string | undefined; due?: number }>([
    { what: 'is shown by a listing', play: ({ list }) => list(0, shown('p')), address: 'p' },
    {
      what: 'that a listing lacks asks for a look',
      play: ({ look, list }) => [look(0, shown('p')), list(50, shown())],
      address: 'p',
      due: 50,
    },
    {
      what: 'that one look lacks asks for a second',
      play: ({ look }) => [look(0, shown('p')), look(50, shown())],
      address: 'p',
      due: 80,
    },
    {
      what: 'is gone after two',
      play: ({ look }) => [look(0, shown('p')), look(50, shown()), look(80, shown())],
      address: undefined,
    },
    {
      what: 'gives place to another at once',
      play: ({ look, list }) => [look(0, shown('p')), list(50, shown('q'))],
      address: 'q',
    },
    {
      what: 'that we associated need not be shown yet',
      play: ({ look, list, answer }) => [
        look(0, shown()),
        answer(5, associated),
        list(10, shown()),
        look(34, shown()),
      ],
      address: 'p',
    },
    {
      what: 'that we associated is missed after a while',
      play: ({ look, answer }) => [
        look(0, shown()),
        answer(5, associated),
        look(35, shown()),
        look(65, shown()),
      ],
      address: undefined,
    },
    {
      what: 'that an older reading shows is not taken for the newest',
      play: ({ look, list, answer }) => [look(0, shown()), answer(5, associated), list(3, shown('q'))],
      address: 'p',
    },
  ])('$what', ({ play: act, address, due }) => {
    const rig = inventoryRig();

    act(rig);

    expect(rig.view().interfaces[0]?.publicAddress).toBe(address);
    expect(rig.view().lookDue).toBe(due);
  });
});

describe('an address', () => {
  test.each<[string, readonly Step[], unknown, number | undefined]>([
    ['is added by a look', [['look', 0, ['a']]], ['a'], undefined],
    ['is added by a listing', [['list', 0, ['a']]], ['a'], undefined],
    [
      'new ones follow known ones',
      [
        ['look', 0, ['b']],
        ['look', 1, ['a', 'b', 'c']],
      ],
      ['b', 'a', 'c'],
      undefined,
    ],
    [
      'a listing without it asks for a look',
      [
        ['look', 0, ['a', 'b']],
        ['list', 5, ['a']],
      ],
      ['a', 'b'],
      5,
    ],
    [
      'any number of listings without it only ask for a look',
      [
        ['look', 0, ['a', 'b']],
        ['list', 5, ['a']],
        ['list', 50, ['a']],
        ['list', 100, ['a']],
      ],
      ['a', 'b'],
      5,
    ],
    [
      'one look without it asks for a second',
      [
        ['look', 0, ['a', 'b']],
        ['look', 5, ['a']],
      ],
      ['a', 'b'],
      35,
    ],
    [
      'a second look too soon proves nothing',
      [
        ['look', 0, ['a', 'b']],
        ['look', 5, ['a']],
        ['look', 34, ['a']],
      ],
      ['a', 'b'],
      35,
    ],
    [
      'a second look a window later removes it',
      [
        ['look', 0, ['a', 'b']],
        ['look', 5, ['a']],
        ['look', 35, ['a']],
      ],
      ['a'],
      undefined,
    ],
    [
      'a look that shows it in between begins anew',
      [
        ['look', 0, ['a', 'b']],
        ['look', 5, ['a']],
        ['look', 20, ['a', 'b']],
        ['look', 35, ['a']],
      ],
      ['a', 'b'],
      65,
    ],
    [
      'so does a listing that shows it',
      [
        ['look', 0, ['a', 'b']],
        ['look', 5, ['a']],
        ['list', 20, ['a', 'b']],
        ['look', 35, ['a']],
      ],
      ['a', 'b'],
      65,
    ],
    [
      'a listing without it in between is not a look',
      [
        ['look', 0, ['a', 'b']],
        ['list', 5, ['a']],
        ['look', 35, ['a']],
      ],
      ['a', 'b'],
      65,
    ],
    [
      'a reading that began earlier takes nothing away',
      [
        ['look', 10, ['a', 'b']],
        ['look', 5, ['a']],
        ['look', 9, []],
      ],
      ['a', 'b'],
      undefined,
    ],
    [
      'a reading that began earlier still adds',
      [
        ['look', 10, ['a']],
        ['list', 5, ['b']],
      ],
      ['a', 'b'],
      undefined,
    ],
    [
      'of a terminated instance goes with one look',
      [
        ['look', 0, ['a', 'b']],
        ['terminated', 5, ['a']],
      ],
      ['a'],
      undefined,
    ],
    [
      'that is contested goes with one look, others do not',
      [
        ['look', 0, ['a', 'b', 'c']],
        ['contest', 3, ['b']],
        ['look', 5, ['a']],
      ],
      ['a', 'c'],
      35,
    ],
    [
      'that is contested and shown stays',
      [
        ['look', 0, ['a', 'b']],
        ['contest', 3, ['b']],
        ['look', 5, ['a', 'b']],
      ],
      ['a', 'b'],
      undefined,
    ],
    [
      'a contest asks for a look',
      [
        ['look', 0, ['a', 'b']],
        ['contest', 3, ['b']],
      ],
      ['a', 'b'],
      3,
    ],
    [
      'a contest is decided by a look, not by a listing',
      [
        ['look', 0, ['a', 'b']],
        ['contest', 3, ['b']],
        ['list', 5, ['a']],
      ],
      ['a', 'b'],
      3,
    ],
    [
      'a look that began before the contest does not decide it',
      [
        ['look', 0, ['a', 'b']],
        ['contest', 3, ['b']],
        ['look', 2, ['a']],
      ],
      ['a', 'b'],
      3,
    ],
    [
      'the next one does',
      [
        ['look', 0, ['a', 'b']],
        ['contest', 3, ['b']],
        ['look', 2, ['a', 'b']],
        ['look', 4, ['a']],
      ],
      ['a'],
      undefined,
    ],
    [
      'once decided it is not contested any more',
      [
        ['look', 0, ['a', 'b']],
        ['contest', 3, ['b']],
        ['look', 4, ['a', 'b']],
        ['look', 5, ['a']],
      ],
      ['a', 'b'],
      35,
    ],
  ])('%s', (_, steps, holdings, lookDue) => {
    expect(play(steps)).toEqual({ holdings, lookDue });
  });
});

describe('an interface', () => {
  test.each<[string, readonly Step[], unknown, number | undefined]>([
    [
      'a listing without it asks for a look',
      [
        ['look', 0, ['a']],
        ['list', 5, undefined],
      ],
      ['a'],
      5,
    ],
    [
      'one look without it asks for a second',
      [
        ['look', 0, ['a']],
        ['look', 5, undefined],
      ],
      ['a'],
      35,
    ],
    [
      'a second look a window later removes it',
      [
        ['look', 0, ['a']],
        ['look', 5, undefined],
        ['look', 35, undefined],
      ],
      undefined,
      undefined,
    ],
    [
      'a second look too soon does not',
      [
        ['look', 0, ['a']],
        ['look', 5, undefined],
        ['look', 34, undefined],
      ],
      ['a'],
      35,
    ],
    [
      'once shown again it is no longer doubted',
      [
        ['look', 0, ['a']],
        ['look', 5, undefined],
        ['list', 20, ['a']],
        ['look', 35, undefined],
      ],
      ['a'],
      65,
    ],
    [
      'a reading that began earlier takes nothing away',
      [
        ['look', 10, ['a']],
        ['look', 5, undefined],
      ],
      ['a'],
      undefined,
    ],
    [
      'of a terminated instance goes with one look',
      [
        ['look', 0, ['a']],
        ['terminated', 5, undefined],
      ],
      undefined,
      undefined,
    ],
    [
      'its contested address goes with one look, the others do not',
      [
        ['look', 0, ['a', 'b']],
        ['contest', 3, ['b']],
        ['look', 5, undefined],
      ],
      ['a'],
      35,
    ],
    [
      'whose primary address is contested goes with one look',
      [
        ['look', 0, ['a', 'b']],
        ['contest', 3, ['10.0.0.4']],
        ['look', 5, undefined],
      ],
      undefined,
      undefined,
    ],
  ])('%s', (_, steps, holdings, lookDue) => {
    expect(play(steps)).toEqual({ holdings, lookDue });
  });

  test('goes with everything else when the instance is found terminated', () => {
    const { look, view } = inventoryRig();
    look(0, eni('a'), further(1));

    const changed = look(5, instance({ state: 'terminated' }));

    expect(changed).toBe(true);
    expect(view()).toMatchObject({ interfaces: [], lookDue: undefined });
  });
});

describe('a prefix', () => {
  const prefix = '10.0.1.16/28';
  const bare = networkInterface();
  const full = networkInterface({ prefixes: [prefix] });

  test('is removed by two looks like an address', () => {
    const { look, holdings } = inventoryRig();
    look(0, full);

    look(5, bare);
    const between = holdings();
    look(35, bare);

    expect([between, holdings()]).toEqual([[prefix], []]);
  });

  test.each(['10.0.1.16', '10.0.1.31'])('is contested along with its member %s', (member) => {
    const { inventory, look, holdings } = inventoryRig();
    look(0, full);

    inventory.contest('i-1', [member], 3);
    look(5, bare);

    expect(holdings()).toEqual([]);
  });

  test('is not contested along with its neighbour', () => {
    const { inventory, look, holdings } = inventoryRig();
    look(0, full);

    inventory.contest('i-1', ['10.0.1.32'], 3);
    look(5, bare);

    expect(holdings()).toEqual([prefix]);
  });
});

describe('what was recalled from before a restart', () => {
  test('is believed until disproved by two looks', () => {
    const { look, holdings, view } = inventoryRig([eni('a', 'b')]);

    const before = { holdings: holdings(), read: view().read };
    look(0, eni('a'));
    const between = holdings();
    look(30, eni('a'));
    const { doubted } = view();

    expect(doubted).toEqual(new Set());
    expect(before).toEqual({ holdings: ['a', 'b'], read: false });
    expect([between, holdings()]).toEqual([['a', 'b'], ['a']]);
  });

  test('is not disproved by a listing', () => {
    const { list, holdings, view } = inventoryRig([eni('a', 'b')]);

    list(5, further(1));
    list(50, further(1));

    expect(holdings()).toEqual(['a', 'b']);
    expect(view()).toMatchObject({ read: true, lookDue: 5 });
  });

  test('a listing that shows nothing of the instance does not count as its answer', () => {
    const { list, view } = inventoryRig([eni('a')]);

    list(5);

    expect(view()).toMatchObject({ read: false, lookDue: 5 });
  });
});

describe('a doubt', () => {
  test.each([
    ['is answered by a look that begins then', [10], [10], undefined],
    ['is answered by a look that begins later', [10], [12], undefined],
    ['is not answered by a look that began before', [10], [9], 10],
    ['several are answered by a look after the last', [10, 14], [15], undefined],
    ['the newest is still due after a look between them', [10, 14], [12], 14],
    ['may be meant for another time', [100], [50], 100],
  ])('%s', (_, doubts, looks, due) => {
    const { inventory, look, view } = inventoryRig();
    look(0, eni('a'));

    for (const from of doubts) inventory.doubt('i-1', from);
    const first = view().lookDue;
    for (const begunAt of looks) look(begunAt, eni('a'));

    expect(first).toBe(Math.min(...doubts));
    expect(view().lookDue).toBe(due);
  });
});
