import { expect, test } from '@jest/globals';
import { canonicalQuantity } from '../../../../../src/simulator/kubernetes/schema/quantity.ts';

test.each([
  ['1', '1'],
  ['1000m', '1'],
  ['100m', '100m'],
  ['0.5', '500m'],
  ['1.5', '1500m'],
  ['.5', '500m'],
  ['10000', '10k'],
  ['1E', '1E'],
  ['1024', '1024'],
  ['1.5Gi', '1536Mi'],
  ['1024Ki', '1Mi'],
  ['3Ki', '3Ki'],
  ['0.5Ki', '512'],
  ['1e3', '1e3'],
  ['12e6', '12e6'],
  ['1e0', '1'],
  ['0', '0'],
  ['-2000m', '-2'],
  ['100n', '1m'],
  ['1u', '1m'],
  ['1001u', '2m'],
])('the quantity %s is written as %s', (given, canonical) => {
  expect(canonicalQuantity(given)).toBe(canonical);
});

test.each(['', 'x', '1x', '1 Gi', '1..5', '--1', 'm'])('%j is no quantity', (text) => {
  expect(() => canonicalQuantity(text)).toThrow('quantities must match the regular expression');
});
