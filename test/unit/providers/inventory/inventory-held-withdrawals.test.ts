import { describe, expect, test } from '@jest/globals';
import { mapVisits } from '../../../support/map-visits.ts';
import { attachment, networkInterface } from '../interfaces.ts';
import { all, bare, Gate, missing, whole } from '../withdrawal-rig.ts';
import { ended, window } from '../inventory-rig.ts';

describe('an inventory with a withdrawal gate', () => {
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

  test('can decide again, and withdraw what it held', () => {
    const gate = missing();
    gate.refresh(70, all, bare);
    gate.isOpen = true;

    const changed = gate.inventory.reevaluate(80);

    expect(changed).toEqual(new Set(all));
    expect(gate.counts).toEqual([1, 1, 1]);
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

  test('looks at the addresses of those that a refresh is about, however many instances are held', () => {
    const ids = Array.from({ length: 100 }, (_, index) => `${index}`);
    const visited = [1, 10].map((count) => {
      const gate = new Gate(ids);
      const read = (at: number, some: readonly string[], held: readonly string[]): void => {
        const observations = some.map((instanceId) => {
          const item = networkInterface({
            id: `eni-${instanceId}`,
            addresses: held.map((address) => `${address}-${instanceId}`),
            attachment: attachment({ instanceId }),
          });
          return { kind: 'interface', interface: item } as const;
        });
        gate.inventory.applyRefresh({ startedAt: at, endedAt: at, instanceIds: some, observations });
      };
      const held = Array.from({ length: count }, (_, index) => `address-${index}`);
      read(0, ids, held);
      for (const at of [40, 70]) read(at, ids, []);
      read(100, ['0'], []);
      expect(gate.inventory.heldWithdrawals().size).toBe(ids.length);
      return mapVisits(() => read(130, ['0'], []));
    });

    const [few = 0, many = 0] = visited;
    expect(many - few).toBeLessThan(ids.length);
    // Twice through the instances that miss something, and to the first address of each that a gate asks about.
    expect(few).toBeLessThan(5 * ids.length);
  });

  test('holds nothing of an instance whose interface was deleted meanwhile', () => {
    const gate = missing();
    gate.refresh(70, all, bare);
    expect(gate.inventory.heldWithdrawals()).toEqual(new Set(all));

    gate.inventory.applyAnswer({ kind: 'deleted', interfaceId: 'eni-1-1' }, 80);

    expect(gate.inventory.heldWithdrawals()).toEqual(new Set(['2', '3']));
  });

  test('has held instances refreshed again later', () => {
    const gate = missing();

    gate.refresh(70, all, bare);

    expect(gate.inventory.view('1')?.refreshDue).toBe(70 + 4 * window);
  });
});
