import { expect, test } from '@jest/globals';
import { metricIn } from '../../../rig/metric-text.ts';

const text = '# HELP a_b What it is.\n# TYPE a_b gauge\na_b_total 7\na_b{c="d"} 3\na_b 0.25\n';

test.each([
  ['a_b', 0.25],
  ['a_b_total', 7],
  ['a_b{c="d"}', 3],
  ['a', undefined],
])('a metric text has the value of %s', (series, value) => {
  expect(metricIn(text, series)).toBe(value);
});
