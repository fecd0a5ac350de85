import { describe, expect, test } from '@jest/globals';
import { selectorsIn, textOf, withAllChosen } from '../../monitoring/rig/selectors.ts';

describe('the selectors of an expression', () => {
  test.each<[expr: string, selectors: readonly string[]]>([
    ['a', ['a{}']],
    ['sum by (x, y) (rate(a_total{x="1",y=~"2|3"}[5m])) > 0.5', ['a_total{x="1",y=~"2|3"}']],
    ['a and on (cluster, job) b == 1', ['a{}', 'b{}']],
    ['histogram_quantile(0.99, sum by (le) (rate(h_bucket[1m])))', ['h_bucket{}']],
    ['predict_linear(a[3h], 24 * 3600) < 0 or absent(b{c!="d"})', ['a{}', 'b{c!="d"}']],
    ['a unless on (cluster) (max by (cluster) (b) > 0)', ['a{}', 'b{}']],
    ['count(a) or vector(0)', ['a{}']],
  ])('are found in: %s', (expr, selectors) => {
    expect(selectorsIn(expr).map(textOf)).toEqual(selectors);
  });

  test('are found after the variables of Grafana are set to select everything', () => {
    expect(withAllChosen('rate(a{cluster=~"$cluster"}[$__rate_interval])')).toBe(
      'rate(a{cluster=~".*"}[1m])',
    );
  });
});
