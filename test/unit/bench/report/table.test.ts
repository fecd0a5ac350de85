import { describe, expect, test } from '@jest/globals';
import type { Figure, Outcome } from '../../../../bench/figure.ts';
import { reportOf } from '../../../../bench/report/json-report.ts';
import { renderTable } from '../../../../bench/report/table.ts';

const figure = (change: Partial<Figure>): Figure => ({
  name: 'reads',
  title: 'reads',
  unit: 'calls',
  limit: 40,
  bound: 'atMost',
  scenario: '1000 nodes.',
  measure: () => Promise.reject(new Error('not measured in a test')),
  ...change,
});

const measured = (change: Partial<Figure>, value: number, details = ''): Outcome => ({
  kind: 'measured',
  figure: figure(change),
  reading: { measured: value, details },
});

const rowsOf = (...outcomes: readonly Outcome[]): readonly string[] => renderTable(outcomes);

describe('renderTable', () => {
  test('aligns numbers, and prints the scenario and the notes below', () => {
    const lines = rowsOf(
      measured({}, 15, 'DescribeSubnets 15'),
      measured({ title: 'idle: mutating calls', limit: 0, bound: 'exactly' }, 2),
    );

    expect(lines).toEqual([
      'figure                measured       limit  ratio',
      'reads                 15 calls  ≤ 40 calls   0.38      ok',
      '    1000 nodes.',
      '    = DescribeSubnets 15',
      'idle: mutating calls   2 calls   = 0 calls      -  NOT OK',
      '    1000 nodes.',
    ]);
  });

  test('says why a figure could not be measured', () => {
    const lines = rowsOf({
      kind: 'failed',
      figure: figure({}),
      why: 'the controller ended\n  its last line',
    });

    expect(lines.slice(1)).toEqual([
      'reads          -  ≤ 40 calls      -  FAILED',
      '    1000 nodes.',
      '    = the controller ended',
      '    =   its last line',
    ]);
  });

  test.each([
    [{ limit: 1.03, unit: '×' }, 1.03, 'ok'],
    [{ limit: 1.03, unit: '×' }, 1.0301, 'NOT OK'],
    [{ limit: 1, bound: 'exactly' }, 0.99, 'NOT OK'],
    [{ limit: 1, bound: 'exactly' }, 1, 'ok'],
    [{ limit: 0, bound: 'exactly' }, 0, 'ok'],
    [{ limit: 40 }, Number.NaN, 'NOT OK'],
  ] as const)('judges %j measured as %d: %s', (change, value, verdict) => {
    expect(rowsOf(measured(change, value))[1]?.endsWith(`  ${verdict}`)).toBe(true);
  });

  test('keeps lines of prose within the width of a terminal', () => {
    const lines = rowsOf(measured({ scenario: 'word '.repeat(100).trim() }, 1));

    expect(Math.max(...lines.slice(2).map(({ length }) => length))).toBeLessThanOrEqual(110);
    expect(lines.join(' ').match(/word/g)).toHaveLength(100);
  });
});

describe('reportOf', () => {
  test('writes a figure as JSON', () => {
    expect(reportOf(measured({}, 15, 'these'))).toEqual({
      name: 'reads',
      title: 'reads',
      unit: 'calls',
      limit: 40,
      bound: 'atMost',
      scenario: '1000 nodes.',
      measured: 15,
      ratio: 0.375,
      ok: true,
      details: 'these',
    });
  });

  test('says why a figure could not be measured', () => {
    const failed: Outcome = { kind: 'failed', figure: figure({}), why: 'gone' };

    expect(reportOf(failed)).toMatchObject({
      measured: null,
      ratio: null,
      ok: false,
      details: 'gone',
    });
  });
});
