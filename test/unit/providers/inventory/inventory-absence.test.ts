import { describe, expect, test } from '@jest/globals';
import {
  interfaceByName,
  type NetworkInterface,
} from '../../../../src/providers/contract/network-interface.ts';
import { attachment, networkInterface } from '../interfaces.ts';
import { further, instance, type InventoryRig, inventoryRig } from '../inventory-rig.ts';

type Step = readonly ['refresh' | 'list' | 'terminated', number, readonly string[] | undefined];

/** The first interface of the instance. */
const primary = networkInterface({ id: 'eni-0', primaryAddress: '10.0.0.3' });

/** `eni-1`, the second one. */
function eni(...addresses: string[]): NetworkInterface {
  return networkInterface({ addresses, attachment: attachment({ deviceIndex: 1 }) });
}

/** Applies reads of `eni-1` (undefined: not shown), with the primary interface. */
function play(steps: readonly Step[]): {
  readonly holdings: unknown;
  readonly refreshDue: number | undefined;
} {
  const { refresh, list, holdings, view } = inventoryRig();
  for (const [what, at, shown] of steps) {
    const items = shown === undefined ? [primary] : [eni(...shown), primary];
    if (what === 'refresh') refresh(at, ...items);
    else if (what === 'list') list(at, ...items);
    else refresh(at, ...items, instance({ state: 'terminated' }));
  }
  return { holdings: holdings(), refreshDue: view().refreshDue };
}

describe('a public address in the inventory', () => {
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
      what: 'that a listing lacks requests a refresh',
      play: ({ refresh, list }) => [refresh(0, shown('p')), list(50, shown())],
      address: 'p',
      due: 50,
    },
    {
      what: 'that one refresh lacks requests a second one',
      play: ({ refresh }) => [refresh(0, shown('p')), refresh(50, shown())],
      address: 'p',
      due: 80,
    },
    {
      what: 'is gone after two',
      play: ({ refresh }) => [refresh(0, shown('p')), refresh(50, shown()), refresh(80, shown())],
      address: undefined,
    },
    {
      what: 'is replaced by another one at once',
      play: ({ refresh, list }) => [refresh(0, shown('p')), list(50, shown('q'))],
      address: 'q',
    },
    {
      what: 'that we associated need not be shown yet',
      play: ({ refresh, list, answer }) => [
        refresh(0, shown()),
        answer(5, associated),
        list(10, shown()),
        refresh(34, shown()),
      ],
      address: 'p',
    },
    {
      what: 'that we associated is missed after a while',
      play: ({ refresh, answer }) => [
        refresh(0, shown()),
        answer(5, associated),
        refresh(35, shown()),
        refresh(65, shown()),
      ],
      address: undefined,
    },
    {
      what: 'that an older reading shows is not taken for the newest',
      play: ({ refresh, list, answer }) => [refresh(0, shown()), answer(5, associated), list(3, shown('q'))],
      address: 'p',
    },
  ])('$what', ({ play: act, address, due }) => {
    const rig = inventoryRig();

    act(rig);

    expect(rig.view().interfaces[0]?.publicAddress).toBe(address);
    expect(rig.view().refreshDue).toBe(due);
  });
});

describe('an address in the inventory', () => {
  test.each<[string, readonly Step[], unknown, number | undefined]>([
    ['is added by a refresh', [['refresh', 0, ['a']]], ['a'], undefined],
    ['is added by a listing', [['list', 0, ['a']]], ['a'], undefined],
    [
      'new ones follow known ones',
      [
        ['refresh', 0, ['b']],
        ['refresh', 1, ['a', 'b', 'c']],
      ],
      ['b', 'a', 'c'],
      undefined,
    ],
    [
      'that a listing lacks requests a refresh',
      [
        ['refresh', 0, ['a', 'b']],
        ['list', 5, ['a']],
      ],
      ['a', 'b'],
      5,
    ],
    [
      'that any number of listings lack only requests a refresh',
      [
        ['refresh', 0, ['a', 'b']],
        ['list', 5, ['a']],
        ['list', 50, ['a']],
        ['list', 100, ['a']],
      ],
      ['a', 'b'],
      5,
    ],
    [
      'that one refresh lacks requests a second one',
      [
        ['refresh', 0, ['a', 'b']],
        ['refresh', 5, ['a']],
      ],
      ['a', 'b'],
      35,
    ],
    [
      'stays after a second refresh that comes too soon',
      [
        ['refresh', 0, ['a', 'b']],
        ['refresh', 5, ['a']],
        ['refresh', 34, ['a']],
      ],
      ['a', 'b'],
      35,
    ],
    [
      'is withdrawn by a second refresh a window later',
      [
        ['refresh', 0, ['a', 'b']],
        ['refresh', 5, ['a']],
        ['refresh', 35, ['a']],
      ],
      ['a'],
      undefined,
    ],
    [
      'starts over when a refresh in between shows it',
      [
        ['refresh', 0, ['a', 'b']],
        ['refresh', 5, ['a']],
        ['refresh', 20, ['a', 'b']],
        ['refresh', 35, ['a']],
      ],
      ['a', 'b'],
      65,
    ],
    [
      'so does a listing that shows it',
      [
        ['refresh', 0, ['a', 'b']],
        ['refresh', 5, ['a']],
        ['list', 20, ['a', 'b']],
        ['refresh', 35, ['a']],
      ],
      ['a', 'b'],
      65,
    ],
    [
      'needs a refresh even after a listing without it in between',
      [
        ['refresh', 0, ['a', 'b']],
        ['list', 5, ['a']],
        ['refresh', 35, ['a']],
      ],
      ['a', 'b'],
      65,
    ],
    [
      'is not withdrawn by a reading that started earlier',
      [
        ['refresh', 10, ['a', 'b']],
        ['refresh', 5, ['a']],
        ['refresh', 9, []],
      ],
      ['a', 'b'],
      undefined,
    ],
    [
      'is added by a reading that started earlier',
      [
        ['refresh', 10, ['a']],
        ['list', 5, ['b']],
      ],
      ['a', 'b'],
      undefined,
    ],
    [
      'of a terminated instance is withdrawn by one refresh',
      [
        ['refresh', 0, ['a', 'b']],
        ['terminated', 5, ['a']],
      ],
      ['a'],
      undefined,
    ],
  ])('%s', (_, steps, holdings, refreshDue) => {
    expect(play(steps)).toEqual({ holdings, refreshDue });
  });
});

describe('an interface in the inventory', () => {
  test.each<[string, readonly Step[], unknown, number | undefined]>([
    [
      'that a listing lacks requests a refresh',
      [
        ['refresh', 0, ['a']],
        ['list', 5, undefined],
      ],
      ['a'],
      5,
    ],
    [
      'that one refresh lacks requests a second one',
      [
        ['refresh', 0, ['a']],
        ['refresh', 5, undefined],
      ],
      ['a'],
      35,
    ],
    [
      'is withdrawn by a second refresh a window later',
      [
        ['refresh', 0, ['a']],
        ['refresh', 5, undefined],
        ['refresh', 35, undefined],
      ],
      undefined,
      undefined,
    ],
    [
      'stays after a second refresh that comes too soon',
      [
        ['refresh', 0, ['a']],
        ['refresh', 5, undefined],
        ['refresh', 34, undefined],
      ],
      ['a'],
      35,
    ],
    [
      'is no longer possibly gone once it is shown again',
      [
        ['refresh', 0, ['a']],
        ['refresh', 5, undefined],
        ['list', 20, ['a']],
        ['refresh', 35, undefined],
      ],
      ['a'],
      65,
    ],
    [
      'is not withdrawn by a reading that started earlier',
      [
        ['refresh', 10, ['a']],
        ['refresh', 5, undefined],
      ],
      ['a'],
      undefined,
    ],
    [
      'of a terminated instance is withdrawn by one refresh',
      [
        ['refresh', 0, ['a']],
        ['terminated', 5, undefined],
      ],
      undefined,
      undefined,
    ],
  ])('%s', (_, steps, holdings, refreshDue) => {
    expect(play(steps)).toEqual({ holdings, refreshDue });
  });

  test('is withdrawn with everything else when the instance is found terminated', () => {
    const { refresh, view } = inventoryRig();
    refresh(0, eni('a'), primary);

    const changed = refresh(5, instance({ state: 'terminated' }));

    expect(changed).toBe(true);
    expect(view()).toMatchObject({ interfaces: [], refreshDue: undefined });
  });
});

describe('a prefix in the inventory', () => {
  const prefix = '10.0.1.16/28';
  const bare = networkInterface();
  const full = networkInterface({ prefixes: [prefix] });

  test('is withdrawn by two refreshes, like an address', () => {
    const { refresh, holdings } = inventoryRig();
    refresh(0, full);

    refresh(5, bare);
    const between = holdings();
    refresh(35, bare);

    expect([between, holdings()]).toEqual([[prefix], []]);
  });
});

describe('what was restored after a restart', () => {
  test('is kept until two refreshes disprove it', () => {
    const { refresh, holdings, view } = inventoryRig([eni('a', 'b')]);

    const before = { holdings: holdings(), read: view().read };
    refresh(0, eni('a'));
    const between = holdings();
    refresh(30, eni('a'));
    const { possiblyGone } = view();

    expect(possiblyGone).toEqual(new Set());
    expect(before).toEqual({ holdings: ['a', 'b'], read: false });
    expect([between, holdings()]).toEqual([['a', 'b'], ['a']]);
  });

  test('is not disproved by a listing', () => {
    const { list, holdings, view } = inventoryRig([eni('a', 'b')]);

    list(5, further(1));
    list(50, further(1));

    expect(holdings()).toEqual(['a', 'b']);
    expect(view()).toMatchObject({ read: false, refreshDue: 5 });
  });

  test('is not disproved by a listing that shows nothing of the instance', () => {
    const { list, view } = inventoryRig([eni('a')]);

    list(5);

    expect(view()).toMatchObject({ read: false, refreshDue: 5 });
  });
});

describe('an interface that is restored by its name only', () => {
  const byName = (...addresses: string[]): NetworkInterface =>
    interfaceByName({ id: 'eni-2', instanceId: 'i-1', networkId: 'vpc-1', addresses });
  const shown = further(1, { addresses: ['a', 'b'] });

  test('becomes what the cloud shows once it does, with its primary address among those of the pool', () => {
    const { refresh, view } = inventoryRig([primary, byName('a', shown.primaryAddress)]);

    refresh(0, primary, shown);
    refresh(40, primary, shown);

    expect(view().interfaces[1]).toEqual(shown);
    expect([...view().possiblyGone]).toEqual([]);
  });

  test('is kept until two complete refreshes disprove it', () => {
    const { refresh, view } = inventoryRig([primary, byName('a')]);

    refresh(0, primary);
    refresh(20);
    refresh(29, primary);
    const before = view().interfaces.map(({ id }) => id);
    refresh(30, primary);

    expect(before).toEqual(['eni-0', 'eni-2']);
    expect(view().interfaces.map(({ id }) => id)).toEqual(['eni-0']);
  });
});

describe('a reason to refresh', () => {
  test.each([
    ['is settled by a refresh that starts then', [10], [10], undefined],
    ['is settled by a refresh that starts later', [10], [12], undefined],
    ['is not settled by a refresh that started before', [10], [9], 10],
    ['is settled together with others by a refresh after the last', [10, 14], [15], undefined],
    ['stays due for the newest one after a refresh in between', [10, 14], [12], 14],
    ['may be meant for another time', [100], [50], 100],
  ])('%s', (_, invalidations, refreshes, due) => {
    const { inventory, refresh, view } = inventoryRig();
    refresh(0, eni('a'), primary);

    for (const from of invalidations) inventory.invalidate('i-1', from);
    const first = view().refreshDue;
    for (const startedAt of refreshes) refresh(startedAt, eni('a'), primary);

    expect(first).toBe(Math.min(...invalidations));
    expect(view().refreshDue).toBe(due);
  });
});

describe('an interface that an answer lacks which left out an item of nobody knows whom', () => {
  test('stays, is looked for again, and goes by answers that leave out nothing', () => {
    const { refresh, refreshPartly, holdings, view } = inventoryRig();
    refresh(0, primary, eni('a'));

    for (const at of [100, 200, 300]) refreshPartly(at, primary);
    const kept = { holdings: holdings(), due: view().refreshDue, presence: view().presence };
    refresh(400, primary);
    refresh(500, primary);

    expect(kept).toEqual({ holdings: ['a'], due: 420, presence: 'shown' });
    expect(holdings()).toBeUndefined();
  });

  test('causes no look where the answer shows all that was known', () => {
    const { refresh, refreshPartly, view } = inventoryRig();
    refresh(0, primary, eni('a'));

    refreshPartly(100, primary, eni('a'));

    expect(view().refreshDue).toBeUndefined();
  });
});
