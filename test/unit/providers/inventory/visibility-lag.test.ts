import { describe, expect, test } from '@jest/globals';
import { VisibilityLag } from '../../../../src/providers/inventory/visibility-lag.ts';

describe('the visibility lag of the cloud', () => {
  test('is zero until something new was not found', () => {
    const lag = new VisibilityLag();

    lag.known();

    expect(lag.ms).toBe(0);
  });

  test('is a little more than the greatest age at which something new was not found, within bounds', () => {
    const lag = new VisibilityLag();
    const seen = [300, 50, 60_000].map((age) => {
      lag.unknown(age);
      return lag.ms;
    });

    expect(seen).toEqual([400, 400, 2000]);
  });

  test('shrinks over time while everything is found', () => {
    const lag = new VisibilityLag();
    lag.unknown(900);

    for (let times = 0; times < 5000; times++) lag.known();

    expect(lag.ms).toBeLessThan(10);
  });
});
