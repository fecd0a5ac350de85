import { describe, expect, test } from '@jest/globals';
import { type Finding, finding, findingLines, ok, worstOf } from '../../../../src/commands/check/finding.ts';

const rows: readonly Finding[] = [
  ok('API server', 'it answers'),
  finding('warning', 'options', 'orphaned interfaces are not deleted', 'set --cluster-name'),
];

describe('rows of the check', () => {
  test('are one line each without a terminal, with a summary', () => {
    expect(findingLines(rows, undefined).map(({ text }) => text)).toEqual([
      'ok          API server: it answers',
      'warning     options: orphaned interfaces are not deleted; remedy: set --cluster-name',
      '',
      'in all      1 warning, 1 ok',
    ]);
  });

  test('fit a terminal, with the remedy below', () => {
    const lines = findingLines(rows, 40);

    expect(lines.map(({ text }) => text)).toEqual([
      'ok          API server: it answers',
      'warning     options: orphaned interfaces',
      '            are not deleted',
      '            remedy: set --cluster-name',
      '',
      'in all      1 warning, 1 ok',
    ]);
    expect(lines[0]?.style).toBe('good');
  });

  test.each([
    [[], 'ok'],
    [[ok('a', 'b')], 'ok'],
    [[...rows], 'warning'],
    [[...rows, finding('unknown', 'a', 'b')], 'unknown'],
    [[finding('problem', 'a', 'b'), finding('unknown', 'a', 'b')], 'problem'],
  ] as const)('are summed up by the worst: %#', (findings, worst) => {
    expect(worstOf(findings)).toBe(worst);
  });
});
