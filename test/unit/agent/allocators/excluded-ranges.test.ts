import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { ExcludedRanges } from '../../../../src/agent/allocators/host-scope-allocator.ts';

describe('excluded ranges', () => {
  test('have what any of them has, and lead past it', () => {
    const range = fc.tuple(fc.nat(40), fc.nat(12)).map(([from, more]) => [from, from + more] as const);
    fc.assert(
      fc.property(fc.array(range, { maxLength: 8 }), (all) => {
        const ranges = new ExcludedRanges();
        const numbers = new Set<number>();
        for (const [from, to] of all) {
          ranges.add(BigInt(from), BigInt(to));
          for (let number = from; number <= to; number++) numbers.add(number);
        }

        expect(ranges.size).toBe(BigInt(numbers.size));
        for (let number = 0; number < 60; number++) {
          let next = number;
          while (numbers.has(next)) next++;
          expect(ranges.has(BigInt(number))).toBe(numbers.has(number));
          expect(ranges.next(BigInt(number))).toBe(BigInt(next));
        }
      }),
    );
  });
});
