import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { blocksToHold, linearDemand, type Offered } from '../../../../src/agent/allocators/block-balance.ts';
import { steppedDemand } from '../../../../src/blocks/set/stepped-demand.ts';

describe('the demand for addresses of a pool', () => {
  test.each([
    [16, 0, 0, 16],
    [16, 1, 0, 32],
    [16, 15, 0, 32],
    [16, 16, 0, 32],
    [16, 17, 0, 48],
    [16, 10, 7, 48],
    [8, 0, 0, 8],
    [0, 0, 0, 0],
    [0, 5, 2, 7],
  ])(
    'of which %i are to be held free, %i are used and %i waited for is %i',
    (preAllocate, inUse, pending, sum) => {
      expect(steppedDemand({ inUse, pending, preAllocate })).toBe(sum);
    },
  );

  test('of a cloud is exact', () => {
    expect(linearDemand({ inUse: 3, pending: 2, preAllocate: 8 })).toBe(13);
  });
});

/** `a*4`: block a with 4 free; `+`: in use; `?`: not listed; `-`: not offered. */
function block(text: string): Offered {
  const free = Number(/\d+/.exec(text)?.[0]);
  return {
    cidr: text.slice(0, 1),
    free,
    used: text.includes('+') ? 1 : 0,
    isListed: !text.includes('?'),
    isOffered: !text.includes('-'),
    isUsable: true,
  };
}

describe('the blocks that a node says it holds', () => {
  test.each([
    ['a4 b4 c4', 4, 'a'],
    ['a4 b4 c4', 5, 'a b'],
    ['a4 b4 c4', 99, 'a b c'],
    ['a4 b30', 20, 'b'],
    ['a4+ b4 c4+', 8, 'a c'],
    ['a4+ b4 c4+', 9, 'a b c'],
    ['a4+ b4+', 0, 'a b'],
    ['a4+- b4', 4, 'a b'],
    ['a4- b4', 4, 'b'],
    ['a4? b4', 4, 'b'],
    ['a4? b4', 5, 'a b'],
    ['a4? b4?', 0, ''],
    ['a4?+ b4', 0, 'a'],
    ['a0 b4', 4, 'b'],
    ['', 4, ''],
  ])('of %j for %i free addresses are %j', (blocks, wanted, held) => {
    const offered = blocks === '' ? [] : blocks.split(' ').map(block);

    expect(blocksToHold(offered, wanted).join(' ')).toBe(held);
  });

  test('never lack one in use, nor free addresses that others would supply, and none can leave any more', () => {
    const blocks = fc.array(
      fc.record({
        free: fc.integer({ min: 0, max: 9 }),
        used: fc.integer({ min: 0, max: 1 }),
        isListed: fc.boolean(),
        isOffered: fc.boolean(),
        isUsable: fc.boolean(),
      }),
      { maxLength: 8 },
    );
    fc.assert(
      fc.property(blocks, fc.integer({ min: 0, max: 30 }), (parts, wanted) => {
        const all = parts.map((part, index) => ({ ...part, cidr: String(index) }));
        const texts = blocksToHold(all, wanted);
        const held = all.filter(({ cidr }) => texts.includes(cidr));
        const freeOf = (some: readonly Offered[]): number =>
          some.reduce((sum, { free, isOffered }) => sum + (isOffered ? free : 0), 0);

        expect(all.filter(({ used }) => used > 0).every((each) => held.includes(each))).toBe(true);
        const supply = freeOf(all.filter(({ used, isOffered }) => used > 0 || isOffered));
        expect(freeOf(held)).toBeGreaterThanOrEqual(Math.min(wanted, supply));
        for (const each of held.filter(({ used }) => used === 0))
          expect(freeOf(held) - each.free).toBeLessThan(Math.max(wanted, 1));
      }),
    );
  });
});
