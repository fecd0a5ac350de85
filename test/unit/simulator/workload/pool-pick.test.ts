import { describe, expect, test } from '@jest/globals';
import { Random } from '../../../../src/runtime/random.ts';
import type { AddressPool } from '../../../../src/simulator/workload/address-pool.ts';
import { pickAddress } from '../../../../src/simulator/workload/pool-pick.ts';

const pool: AddressPool = new Map([
  ['10.0.0.1', { resource: 'eni-1', owner: '' }],
  ['10.0.0.2', { resource: 'eni-1', owner: 'somebody' }],
  ['10.0.0.3', { resource: 'eni-1', owner: '' }],
  ['10.0.0.4', { resource: 'eni-2', owner: '' }],
  ['10.0.0.5', { resource: 'eni-2', owner: '' }],
  ['10.0.0.6', { resource: 'eni-2', owner: '' }],
  ['10.0.0.7', { resource: 'eni-2', owner: '' }],
]);
const states = new Map([
  ['10.0.0.3', 'marked-for-release'],
  ['10.0.0.4', 'ready-for-release'],
  ['10.0.0.5', 'released'],
  ['10.0.0.6', 'do-not-release'],
]);

function picks(allocated: ReadonlySet<string>): ReadonlySet<string | undefined> {
  const random = new Random('picks');
  const seen = new Set<string | undefined>();
  for (let round = 0; round < 100; round++) {
    seen.add(pickAddress(pool, states, (address) => allocated.has(address), random));
  }
  return seen;
}

describe('pickAddress', () => {
  test.each([
    ['anything allowed, at random', [], ['10.0.0.1', '10.0.0.6', '10.0.0.7']],
    ['nothing that is allocated', ['10.0.0.1', '10.0.0.7'], ['10.0.0.6']],
    ['nothing when nothing is left', ['10.0.0.1', '10.0.0.6', '10.0.0.7'], [undefined]],
  ])('picks %s', (_, allocated, expected) => {
    expect(picks(new Set(allocated))).toEqual(new Set(expected));
  });

  test('picks the same address with the same seed', () => {
    const sequence = (): readonly unknown[] => {
      const random = new Random('seed');
      return Array.from({ length: 20 }, () => pickAddress(pool, new Map(), () => false, random));
    };

    expect(sequence()).toEqual(sequence());
  });
});
