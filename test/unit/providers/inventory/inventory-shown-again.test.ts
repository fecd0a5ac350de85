import { describe, expect, test } from '@jest/globals';
import type { Observation } from '../../../../src/providers/contract/facts.ts';
import { all, bare, Gate, missing, whole, withoutAddresses } from '../withdrawal-rig.ts';
import { window } from '../inventory-rig.ts';

describe('an inventory that misses what others of its instances show again', () => {
  test('withdraws nothing because it holds less, before two refreshes have confirmed the rest', () => {
    const gate = missing();
    gate.refresh(70, all, bare);
    gate.isOpen = true;

    gate.refresh(200, ['1', '2'], whole);
    gate.inventory.reevaluate(201);
    gate.refresh(202, ['3'], bare);
    const between = gate.counts;
    gate.refresh(232, ['3'], bare);

    expect(between).toEqual([2, 2, 2]);
    expect(gate.counts).toEqual([2, 2, 1]);
  });

  test('withdraws nothing because less is suspected, before two refreshes have confirmed what it holds', () => {
    const gate = missing();
    gate.refresh(70, ['1'], bare);
    gate.isOpen = true;

    const changed = gate.refresh(100, ['2'], whole);
    const due = gate.inventory.view('1')?.refreshDue;
    gate.refresh(101, ['1'], bare);
    const between = gate.counts;
    const dueAgain = gate.inventory.view('1')?.refreshDue;
    gate.refresh(131, ['1'], bare);

    expect(between).toEqual([2, 2, 2]);
    expect([changed.has('1'), due, dueAgain]).toEqual([true, 100, 131]);
    expect(gate.counts).toEqual([1, 2, 2]);
  });

  test('withdraws nothing because a listing shows others of what it holds, before two refreshes have confirmed the rest', () => {
    const gate = missing();
    gate.refresh(70, all, bare);
    gate.isOpen = true;

    gate.list(70, ['1', '2']);
    gate.inventory.reevaluate(75);
    const due = gate.inventory.view('3')?.refreshDue;
    gate.refresh(76, ['3'], bare);
    const between = gate.counts;
    gate.refresh(106, ['3'], bare);

    expect([due, between]).toEqual([75, [2, 2, 2]]);
    expect(gate.counts).toEqual([2, 2, 1]);
  });

  test.each<[string, (gate: Gate) => void]>([
    ['refreshes', (gate) => [gate.refresh(400, ['1', '2'], whole), gate.refresh(401, ['3'], bare)]],
    ['the same refresh', (gate) => gate.refresh(401, all, (id) => id !== '3')],
    ['a listing', (gate) => [gate.list(400, ['1', '2']), gate.refresh(401, ['3'], bare)]],
    [
      'refreshes, and is read only long after them',
      (gate) => [gate.refresh(200, ['1', '2'], whole), gate.refresh(401, ['3'], bare)],
    ],
  ])('does not count what was missed with others that are shown again by %s', (_, play) => {
    const missed = (): Gate => {
      const gate = missing();
      gate.isOpen = true;
      play(gate);
      return gate;
    };
    const [gate, other] = [missed(), missed()];

    const between = gate.counts;
    const due = gate.inventory.view('3')?.refreshDue;
    gate.refresh(431, ['3'], bare);
    other.refresh(431, ['3'], whole);

    expect([between, due]).toEqual([[2, 2, 2], 431]);
    expect(gate.counts).toEqual([2, 2, 1]);
    expect([other.counts, other.inventory.heldWithdrawals()]).toEqual([[2, 2, 2], new Set()]);
  });

  test('counts at once what was first missed after others were shown again', () => {
    const gate = missing();
    gate.isOpen = true;
    gate.refresh(200, all, whole);

    gate.refresh(240, ['3'], bare);
    gate.refresh(270, ['3'], bare);

    expect(gate.counts).toEqual([2, 2, 1]);
  });

  test('counts what a refresh missed from when that was sent, however late it ended', () => {
    const gate = new Gate(all);
    gate.isOpen = true;
    gate.refresh(0, all, whole);
    gate.refresh(110, ['1', '2'], bare);
    gate.refresh(200, ['1', '2'], whole);

    gate.refresh(120, ['3'], bare, 260);
    gate.refresh(300, ['3'], bare);
    const once = gate.counts;
    gate.refresh(330, ['3'], bare);

    expect(once).toEqual([2, 2, 2]);
    expect(gate.counts).toEqual([2, 2, 1]);
  });

  test('counts the refresh that shows others again for what it misses itself, although it takes long', () => {
    const gate = new Gate(all);
    gate.isOpen = true;
    gate.refresh(0, all, whole);
    gate.refresh(40, all, bare);

    gate.refresh(60, all, (id) => id !== '3', 69);
    const between = gate.counts;
    gate.refresh(99, ['3'], bare);

    expect(between).toEqual([2, 2, 2]);
    expect(gate.counts).toEqual([2, 2, 1]);
  });

  test('counts what was missed with others that are withdrawn or untracked', () => {
    const gate = missing();
    gate.isOpen = true;

    gate.refresh(70, ['1'], bare);
    gate.inventory.untrack('2', 71);
    gate.refresh(72, ['3'], bare);

    expect(gate.counts).toEqual([1, undefined, 1]);
  });

  test('counts what was missed with something of an instance that has ended', () => {
    const gate = missing();
    gate.isOpen = true;
    const ended = { kind: 'instance', instance: { id: '2', state: 'terminated', managed: true } } as const;
    gate.inventory.applyRefresh({ startedAt: 60, endedAt: 60, instanceIds: ['2'], observations: [ended] });

    gate.refresh(72, ['3'], bare);

    expect(gate.counts).toEqual([2, 0, 1]);
  });

  test('counts what was missed with an address that its agent gives up', () => {
    const gate = missing();
    gate.isOpen = true;
    gate.refresh(41, ['2'], whole);
    gate.refresh(80, ['1', '3'], bare);
    const lacking = gate.shown('2', true).map(withoutAddresses);
    gate.inventory.applyRefresh({ startedAt: 80, endedAt: 80, instanceIds: ['2'], observations: lacking });
    gate.inventory.agentGaveUp('2', new Set(['10.1.0.2', '10.1.1.2']));

    gate.refresh(110, ['3'], bare);

    expect(gate.counts).toEqual([2, 2, 1]);
  });

  test('does not count what was missed with others on the same instance that are shown again', () => {
    const gate = new Gate(all);
    gate.isOpen = true;
    gate.refresh(0, all, whole);
    gate.refreshWith(40, '1', ['eni-1-0'], withoutAddresses);
    gate.refreshWith(60, '1', ['eni-1-0']);

    gate.refreshWith(71, '1', ['eni-1-0']);

    expect(gate.counts[0]).toBe(2);
  });

  test.each<[string, number]>([
    ['at once', 60],
    ['long after', 500],
  ])(
    'does not count what was missed with others of a node that came back %s and shows them again',
    (_, at) => {
      const gate = missing();
      gate.isOpen = true;
      const shown = gate
        .shown('1', true)
        .flatMap((each) => (each.kind === 'interface' ? [each.interface] : []));
      gate.inventory.untrack('1', at);
      gate.inventory.track('1', shown, at + 1);
      const restored = gate.inventory.view('1')?.interfaces.length;

      gate.refresh(at + 40, ['1'], whole);
      gate.refresh(at + 41, ['3'], bare);
      const between = gate.counts;
      gate.refresh(at + 71, ['3'], bare);

      expect([restored, between]).toEqual([2, [2, 2, 2]]);
      expect(gate.counts).toEqual([2, 2, 1]);
    },
  );

  test('does not take what the CiliumNode of a node that came back names for shown again', () => {
    const gate = missing();
    gate.isOpen = true;
    const shown = gate
      .shown('1', true)
      .flatMap((each) => (each.kind === 'interface' ? [each.interface] : []));
    gate.inventory.untrack('1', 500);
    gate.inventory.track('1', shown, 501);

    gate.refresh(502, ['2', '3'], bare);

    expect(gate.counts).toEqual([2, 1, 1]);
  });

  test('counts no refresh that says nothing of what is missing', () => {
    const gate = new Gate(all);
    gate.isOpen = true;
    const both = ['eni-3-0', 'eni-3-1'];
    const changing = (each: Observation): Observation =>
      each.kind === 'interface' ? { ...each, interface: { ...each.interface, condition: 'changing' } } : each;
    gate.refresh(0, all, whole);
    gate.refresh(40, ['1'], bare);
    gate.refreshWith(40, '3', both, withoutAddresses);
    gate.refresh(60, ['1'], whole);
    gate.refreshWith(71, '3', both, withoutAddresses);

    gate.refreshWith(105, '3', both, (each) => changing(withoutAddresses(each)));
    const between = gate.addresses('3');
    gate.refreshWith(106, '3', both, withoutAddresses);

    expect([between, gate.addresses('3')]).toEqual([['10.1.0.3', '10.1.1.3'], []]);
  });

  test('counts in the end what others are shown again beside, again and again', () => {
    const gate = missing();
    gate.isOpen = true;

    for (let at = 80; at < 80 + 23 * window; at += 28) {
      gate.refresh(at, ['1'], whole);
      gate.refresh(at + 1, ['3'], bare);
      gate.refresh(at + 2, ['1'], bare);
      if (at < 19 * window) expect(gate.counts[2]).toBe(2);
    }

    expect(gate.counts[2]).toBe(1);
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

    for (const at of [202, 232]) gate.refresh(at, ['2'], bare);
    const early = gate.asked.length;
    gate.inventory.applyRefresh({ startedAt: 233, endedAt: 233, instanceIds: ['3', '4'], observations: [] });
    const now = gate.asked.slice(asked);
    const { suspected } = gate;
    gate.isOpen = true;
    gate.inventory.reevaluate(234);

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
    gate.refresh(430, ['3'], bare);

    expect(between).toEqual([2, 2, 2]);
    expect(due).toBe(203);
    expect(gate.counts).toEqual([2, 2, 1]);
  });

  test('holds what refreshes have confirmed no longer than a while beside an instance that no refresh answers for', () => {
    const ids = [...all, '4'];
    const gate = new Gate(ids);
    gate.refresh(0, ids, whole);
    gate.refresh(40, ids, bare);
    gate.refresh(70, ids, bare);
    gate.refresh(200, ['1'], whole);
    gate.isOpen = true;

    for (const at of [202, 232]) gate.refresh(at, ['2', '3'], bare);
    const early = gate.counts;
    const due = gate.inventory.view('2')?.refreshDue ?? Infinity;
    gate.refresh(due, ['2'], bare);

    expect(early).toEqual([2, 2, 2, 2]);
    expect(due).toBe(232 + 4 * window);
    expect(gate.counts).toEqual([2, 1, 1, 2]);
    expect(gate.suspected).toContain('4');
    expect(gate.inventory.heldWithdrawals()).toEqual(new Set(['4']));
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
});
