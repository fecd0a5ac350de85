import { describe, expect, test } from '@jest/globals';
import { OfferedPools } from './trial-fleet.ts';

describe('trial pools', () => {
  test('report an address as doubled when two of them name it at once, even if one is emptied later', () => {
    const pools = new OfferedPools();

    pools.note('one', new Set(['10.0.0.5', '10.0.0.6']));
    pools.note('two', new Set(['10.0.0.6']));
    pools.note('one', new Set());

    expect([...pools.doubled]).toEqual(['10.0.0.6 of one and two']);
  });

  test('may name an address one after the other', () => {
    const pools = new OfferedPools();

    pools.note('one', new Set(['10.0.0.5', '10.0.0.6']));
    pools.note('one', new Set(['10.0.0.5']));
    pools.note('two', new Set(['10.0.0.6']));
    pools.note('one', new Set(['10.0.0.5']));

    expect(pools.doubled.size).toBe(0);
  });
});
