import { describe, expect, test } from '@jest/globals';
import { type Finding, findingLines, rowsAbout, worstOf } from '../../../../src/commands/check/finding.ts';

const rows: readonly Finding[] = [
  rowsAbout('API server').ok('it answers'),
  rowsAbout('options').warning('orphaned interfaces are not deleted', 'set --cluster-name'),
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
    [[rowsAbout('a').ok('b')], 'ok'],
    [[...rows], 'warning'],
    [[...rows, rowsAbout('a').unknown('b')], 'unknown'],
    [[rowsAbout('a').problem('b'), rowsAbout('a').unknown('b')], 'problem'],
  ] as const)('are summed up by the worst: %#', (findings, worst) => {
    expect(worstOf(findings)).toBe(worst);
  });
});
