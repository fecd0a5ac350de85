import { describe, expect, test } from '@jest/globals';
import { noWaits, sumOfWaits, withWait } from '../../../../src/simulator/workload/waiting-times.ts';

describe('waiting times', () => {
  test('have a count, a total and a longest one', () => {
    const figures = [5, 20, 0].reduce(withWait, noWaits);

    expect(figures).toEqual({ count: 3, total: 25, max: 20 });
  });

  test('add up for two kubelets', () => {
    const sum = sumOfWaits({ count: 3, total: 25, max: 20 }, { count: 1, total: 30, max: 30 });

    expect(sum).toEqual({ count: 4, total: 55, max: 30 });
  });
});
