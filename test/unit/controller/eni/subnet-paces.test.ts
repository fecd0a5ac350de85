import { describe, expect, test } from '@jest/globals';
import { SubnetPaces } from '../../../../src/controller/eni/subnet-paces.ts';
import { subnet } from '../../node/allocation-facts.ts';

const hour = 3_600_000;

function withFree(freeAddresses: number) {
  return [subnet('subnet-1', { cidr: '10.0.1.0/24', freeAddresses })];
}

describe('when a subnet will be full', () => {
  test('is told from what was taken since the first sample of the last day, by whomever', () => {
    const paces = new SubnetPaces();
    paces.sample(withFree(200), 0);
    paces.sample(withFree(150), 12 * hour);

    expect([...paces.daysLeft(withFree(100), 24 * hour)]).toEqual([['subnet-1', 1]]);
  });

  test('is not told while no more is taken than before, nor in the first hour', () => {
    const paces = new SubnetPaces();
    paces.sample(withFree(200), 0);

    expect([...paces.daysLeft(withFree(210), 24 * hour)]).toEqual([]);
    expect([...paces.daysLeft(withFree(100), hour - 1)]).toEqual([]);
  });

  test('is forgotten with the subnet', () => {
    const paces = new SubnetPaces();
    paces.sample(withFree(200), 0);
    paces.sample([], hour);

    expect([...paces.daysLeft(withFree(100), 24 * hour)]).toEqual([]);
  });
});
