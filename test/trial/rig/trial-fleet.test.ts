import { describe, expect, test } from '@jest/globals';
import { OfferedPools } from './trial-fleet.ts';

describe('pools', () => {
  test('that name an address at once have it doubled, also when one of them is emptied later', () => {
    const pools = new OfferedPools();

    pools.note('one', new Set(['10.0.0.5', '10.0.0.6']));
    pools.note('two', new Set(['10.0.0.6']));
    pools.note('one', new Set());

    expect([...pools.doubled]).toEqual(['10.0.0.6 of one and two']);
  });

  test('may name an address one after another', () => {
    const pools = new OfferedPools();

    pools.note('one', new Set(['10.0.0.5', '10.0.0.6']));
    pools.note('one', new Set(['10.0.0.5']));
    pools.note('two', new Set(['10.0.0.6']));
    pools.note('one', new Set(['10.0.0.5']));

    expect(pools.doubled.size).toBe(0);
  });
});
