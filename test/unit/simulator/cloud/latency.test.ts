import { expect, test } from '@jest/globals';
import { Random } from '../../../../src/runtime/random.ts';
import { drawLatency } from '../../../../src/simulator/cloud/latency.ts';

test('delays scatter around their mean, and are zero when latency is off', () => {
  const random = new Random('latency');

  const draws = Array.from({ length: 20_000 }, () => drawLatency(200, { scale: 2, spread: 0.5 }, random));

  const mean = draws.reduce((sum, draw) => sum + draw, 0) / draws.length;
  expect(mean).toBeGreaterThan(390);
  expect(mean).toBeLessThan(410);
  expect(new Set(draws).size).toBeGreaterThan(19_000);
  expect(Math.min(...draws)).toBeGreaterThan(0);
  expect(drawLatency(200, { scale: 0, spread: 0.5 }, random)).toBe(0);
});
