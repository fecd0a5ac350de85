import { describe, expect, test } from '@jest/globals';
import { Inventory } from '../../../../src/providers/inventory/inventory.ts';
import type { NetworkInterface } from '../../../../src/providers/contract/network-interface.ts';
import type { Observation } from '../../../../src/providers/contract/observation.ts';
import { attachment, networkInterface } from '../interfaces.ts';
import { eni, ended, further, instance, type InventoryRig, inventoryRig, window } from '../inventory-rig.ts';

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

describe('an inventory with a withdrawal gate', () => {
  class Gate {
    isOpen = false;
    ofNodes: ReadonlySet<string> | undefined;
    readonly asked: string[][] = [];
    suspected: string[] = [];
    readonly inventory = new Inventory({
      consistencyWindow: window,
      gate: {
        admit: (instanceIds, _, suspected) => {
          this.asked.push([...instanceIds].sort());
          this.suspected = [...suspected].sort();
          return this.isOpen;
        },
        ofNodes: () => this.ofNodes,
      },
    });

    readonly ids: readonly string[];

    constructor(ids: readonly string[]) {
      this.ids = ids;
      for (const id of ids) this.inventory.track(id);
    }

    /** Applies a refresh that shows each of these with its primary interface, and with the second one if `isWhole`. */
    refresh(
      startedAt: number,
      ids: readonly string[],
      isWhole: (id: string) => boolean,
    ): ReadonlySet<string> {
      const observations = ids.flatMap((id): Observation[] =>
        [0, ...(isWhole(id) ? [1] : [])].map((deviceIndex) => ({
          kind: 'interface',
          interface: networkInterface({
            id: `eni-${id}-${deviceIndex}`,
            primaryAddress: `10.0.${deviceIndex}.${id}`,
            addresses: [`10.1.${deviceIndex}.${id}`],
            attachment: attachment({ instanceId: id, deviceIndex }),
          }),
        })),
      );
      return this.inventory.applyRefresh({ startedAt, endedAt: startedAt, instanceIds: ids, observations });
    }

    get counts(): readonly (number | undefined)[] {
      return this.ids.map((id) => this.inventory.view(id)?.interfaces.length);
    }
  }

  const all = ['1', '2', '3'];
  const whole = (): boolean => true;
  const bare = (): boolean => false;

  function missing(): Gate {
    const gate = new Gate(all);
    gate.refresh(0, all, whole);
    gate.refresh(40, all, bare);
    return gate;
  }

  test('decides once about all that one refresh lacks, and holds all of it', () => {
    const gate = missing();

    gate.refresh(70, all, bare);

    expect(gate.asked).toEqual([all]);
    expect(gate.counts).toEqual([2, 2, 2]);
    expect(gate.inventory.heldWithdrawals()).toEqual(new Set(all));
    expect(gate.inventory.view('1')?.possiblyGone).toContain('eni-1-1');
  });

  test('withdraws all of it when it is open, and reports what changed', () => {
    const gate = missing();
    gate.isOpen = true;

    const changed = gate.refresh(70, all, bare);

    expect(gate.counts).toEqual([1, 1, 1]);
    expect(changed).toEqual(new Set(all));
    expect(gate.inventory.heldWithdrawals()).toEqual(new Set());
  });

  test('counts what is missing later together with what it holds', () => {
    const gate = missing();
    gate.refresh(70, ['1', '2'], bare);

    gate.refresh(75, ['3'], bare);

    expect(gate.asked).toEqual([['1', '2'], all]);
    expect(gate.inventory.heldWithdrawals()).toEqual(new Set(all));
  });

  test('holds nothing of an instance that shows all of it again', () => {
    const gate = missing();
    gate.refresh(70, all, bare);

    gate.refresh(200, ['1', '2'], whole);

    expect(gate.inventory.heldWithdrawals()).toEqual(new Set(['3']));
    expect(gate.counts).toEqual([2, 2, 2]);
  });

  test('withdraws nothing because it holds less, before a refresh has confirmed the rest', () => {
    const gate = missing();
    gate.refresh(70, all, bare);
    gate.isOpen = true;

    gate.refresh(200, ['1', '2'], whole);
    gate.inventory.reevaluate(201);
    const between = gate.counts;
    gate.refresh(202, ['3'], bare);

    expect(gate.inventory.view('3')?.interfaces).toHaveLength(1);
    expect(between).toEqual([2, 2, 2]);
  });

  test('withdraws nothing because less is suspected, before a refresh has confirmed what it holds', () => {
    const gate = missing();
    gate.refresh(70, ['1'], bare);
    gate.isOpen = true;

    const changed = gate.refresh(100, ['2'], whole);
    const between = gate.counts;
    const due = gate.inventory.view('1')?.refreshDue;
    gate.refresh(101, ['1'], bare);

    expect(between).toEqual([2, 2, 2]);
    expect([changed.has('1'), due]).toEqual([true, 100]);
    expect(gate.counts).toEqual([1, 2, 2]);
  });

  test('counts again what refreshes have confirmed, beside an instance that is no longer complete and counts as suspected', () => {
    const ids = [...all, '4'];
    const gate = new Gate(ids);
    gate.refresh(0, ids, whole);
    gate.refresh(40, ids, bare);
    gate.refresh(70, ids, bare);
    gate.refresh(200, ['1'], whole);
    gate.inventory.reevaluate(201);
    const asked = gate.asked.length;

    gate.refresh(202, ['2'], bare);
    const early = gate.asked.length;
    gate.inventory.applyRefresh({ startedAt: 203, endedAt: 203, instanceIds: ['3', '4'], observations: [] });
    const now = gate.asked.slice(asked);
    const { suspected } = gate;
    gate.isOpen = true;
    gate.inventory.reevaluate(204);

    expect(early).toBe(asked);
    expect(now).toEqual([['2']]);
    expect(suspected).toEqual(expect.arrayContaining(['3', '4']));
    expect(gate.counts).toEqual([2, 1, 2, 2]);
    expect(gate.inventory.heldWithdrawals()).toEqual(new Set(['3', '4']));
  });

  test('accepts no answer that shows nothing of an instance as a confirmation, and requests no other one at once', () => {
    const gate = missing();
    gate.refresh(70, all, bare);
    gate.isOpen = true;

    gate.refresh(200, ['1', '2'], whole);
    gate.inventory.reevaluate(201);
    gate.inventory.applyRefresh({ startedAt: 202, endedAt: 202, instanceIds: ['3'], observations: [] });
    gate.inventory.reevaluate(202.5);
    const due = gate.inventory.view('3')?.refreshDue;
    const between = gate.counts;
    gate.refresh(400, ['3'], bare);

    expect(between).toEqual([2, 2, 2]);
    expect(due).toBe(203);
    expect(gate.counts).toEqual([2, 2, 1]);
  });

  test('can decide again, and withdraw what it held', () => {
    const gate = missing();
    gate.refresh(70, all, bare);
    gate.isOpen = true;

    const changed = gate.inventory.reevaluate(80);

    expect(changed).toEqual(new Set(all));
    expect(gate.counts).toEqual([1, 1, 1]);
  });

  test('is notified of what one refresh missed, and of nodes that went while something of them was held', () => {
    const gate = missing();
    gate.refresh(70, ['1', '2'], bare);
    const first = gate.suspected;
    gate.inventory.untrack('1', 80);

    gate.refresh(90, ['2'], bare);
    const second = gate.suspected;
    gate.refresh(700_000, ['2'], bare);
    const later = gate.suspected;
    gate.refresh(700_001, ['2', '3'], whole);
    gate.refresh(700_040, ['3'], bare);
    gate.refresh(700_080, ['3'], bare);

    expect([first, second, later, gate.suspected]).toEqual([all, all, all, ['3']]);
  });

  test('no longer counts nodes that went 10 minutes before another one, even if nothing was evaluated since', () => {
    const gate = missing();
    gate.inventory.untrack('1', 80);
    gate.inventory.untrack('2', 600_080);

    gate.refresh(600_090, ['3'], bare);

    expect(gate.suspected).toEqual(['2', '3']);
  });

  test('does not decide about a terminated instance', () => {
    const gate = new Gate(['1']);
    gate.refresh(0, ['1'], whole);

    gate.inventory.applyRefresh({
      startedAt: 40,
      endedAt: 40,
      instanceIds: ['1'],
      observations: [{ kind: 'instance', instance: { id: '1', state: 'terminated', managed: true } }],
    });

    expect(gate.asked).toEqual([]);
    expect(gate.counts).toEqual([0]);
  });

  test('does not decide when nothing is missing', () => {
    const gate = missing();
    const listing = gate.inventory.beginListing(70);
    ended(listing);

    expect(gate.asked).toEqual([]);
  });

  test('is not notified about an instance before it has a node, and nothing of the instance is withdrawn', () => {
    const gate = new Gate(all);
    gate.isOpen = true;
    gate.ofNodes = new Set(['1']);
    gate.refresh(0, all, whole);
    gate.refresh(40, all, bare);
    gate.refresh(70, all, bare);
    const before = { asked: [...gate.asked], suspected: gate.suspected, counts: gate.counts };
    gate.inventory.untrack('3', 80);

    gate.ofNodes = new Set(['2']);
    gate.refresh(70 + 4 * window, ['2'], bare);

    expect(before).toEqual({ asked: [['1']], suspected: ['1'], counts: [1, 2, 2] });
    expect(gate.asked).toEqual([['1'], ['2']]);
    expect(gate.suspected).toEqual(['2']);
    expect(gate.inventory.view('2')?.interfaces).toHaveLength(1);
  });

  test('is still notified about an instance whose node is gone', () => {
    const gate = new Gate(all);
    gate.ofNodes = new Set(all);
    gate.refresh(0, all, whole);
    gate.ofNodes = new Set();
    gate.refresh(40, all, bare);

    gate.refresh(70, all, bare);

    expect(gate.asked).toEqual([all]);
  });

  test('has held instances refreshed again later', () => {
    const gate = missing();

    gate.refresh(70, all, bare);

    expect(gate.inventory.view('1')?.refreshDue).toBe(70 + 4 * window);
  });
});
