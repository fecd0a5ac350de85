import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { cidrsToDrop, cidrsToReclaim } from '../../../../src/simulator/workload/cidr-balance.ts';

const free = (cidr: string, count = 1) => ({ cidr, used: 0, free: count });
const used = (cidr: string, count = 0) => ({ cidr, used: 1, free: count });

describe('cidrsToDrop', () => {
  test.each([
    ['nothing held', [], 0, []],
    ['all are needed', [free('a'), free('b')], 2, []],
    ['from the last backwards', [free('a'), free('b'), free('c')], 1, ['c', 'b']],
    ['none with an address in use', [free('a'), used('b', 15), free('c')], 15, ['c', 'a']],
    [
      'a large one that would take too many is passed over',
      [free('a'), free('b', 16), free('c')],
      10,
      ['c', 'a'],
    ],
    ['exactly as many as needed remain', [free('a', 16), free('b', 16)], 16, ['b']],
    ['everything when nothing is needed', [free('a'), free('b')], 0, ['b', 'a']],
    ['nothing when more is needed', [free('a'), free('b')], 5, []],
  ])('drops what is not needed: %s', (_, held, freeNeeded, dropped) => {
    expect(cidrsToDrop(held, freeNeeded)).toEqual(dropped);
  });

  const heldCidrs = fc
    .array(fc.record({ used: fc.nat(3), free: fc.nat(16) }), { maxLength: 40 })
    .map((all) => all.map((each, index) => ({ cidr: `c${index}`, ...each })));

  test('never drops an address in use, and keeps as many free addresses as are needed', () => {
    fc.assert(
      fc.property(heldCidrs, fc.nat(100), (held, freeNeeded) => {
        const dropped = new Set(cidrsToDrop(held, freeNeeded));

        const before = held.reduce((sum, each) => sum + each.free, 0);
        const kept = held.filter((each) => !dropped.has(each.cidr));
        const after = kept.reduce((sum, each) => sum + each.free, 0);
        expect(held.filter((each) => dropped.has(each.cidr) && each.used > 0)).toEqual([]);
        expect(after).toBeGreaterThanOrEqual(Math.min(before, freeNeeded));
        expect(kept.filter((each) => each.used === 0 && after - each.free >= freeNeeded)).toEqual([]);
      }),
    );
  });
});

describe('cidrsToReclaim', () => {
  const x = { cidr: 'x', size: 16 };
  const y = { cidr: 'y', size: 16 };

  test.each([
    { name: 'enough is free', dropped: [x], free: 8, reclaimed: [] },
    { name: 'the first is enough', dropped: [x, y], free: 7, reclaimed: ['x'] },
    { name: 'all are not enough', dropped: [x, y], free: 0, freeNeeded: 40, reclaimed: ['x', 'y'] },
    { name: 'nothing was dropped', dropped: [], free: 0, reclaimed: [] },
  ])('reclaims what is needed: $name', ({ dropped, free: count, freeNeeded = 8, reclaimed }) => {
    expect(cidrsToReclaim(dropped, [free('a', count)], freeNeeded)).toEqual(reclaimed);
  });
});
