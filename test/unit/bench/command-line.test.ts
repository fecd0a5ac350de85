import { readdirSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { allFigures } from '../../../bench/all-figures.ts';
import { readCommandLine, type Wanted } from '../../../bench/command-line.ts';

const read = (...args: readonly string[]): Wanted => {
  const wanted = readCommandLine(args, allFigures);
  if (wanted === 'list') throw new Error('a list was asked for');
  return wanted;
};

describe('readCommandLine', () => {
  test.each([
    [[], { nodes: 1000, isSmall: false, scale: 10 }],
    [['--nodes', '50'], { nodes: 50, isSmall: false, scale: 10 }],
    [['--scale', '1'], { nodes: 1000, isSmall: false, scale: 1 }],
    [['--small'], { nodes: 100, isSmall: true, scale: 1 }],
    [['--small', '--nodes=20'], { nodes: 20, isSmall: true, scale: 1 }],
  ])('accepts %j', (args, settings) => {
    expect(read(...args).settings).toEqual(settings);
  });

  test('selects all figures, or the named ones in the order given', () => {
    expect(read().figures).toEqual(allFigures);
    expect(read('--only', 'idle-cpu', '--only', 'scale-up-reads').figures.map(({ name }) => name)).toEqual([
      'idle-cpu',
      'scale-up-reads',
    ]);
  });

  test('measures no times in the small form', () => {
    const { figures } = read('--small');

    expect(figures.length).toBeGreaterThan(0);
    expect(figures.filter(({ name }) => /time|latency|cpu|memory|delay|first/.test(name))).toEqual([]);
  });

  test.each([
    [['--only', 'nothing'], 'there is no figure nothing; there are: '],
    [['--nodes', '0'], '--nodes is 0; a whole number'],
    [['--nodes', '1.5'], '--nodes is 1.5'],
    [['--bogus'], 'bogus'],
  ])('refuses %j', (args, problem) => {
    expect(() => read(...args)).toThrow(problem);
  });

  test('accepts --list', () => {
    expect(readCommandLine(['--list'], allFigures)).toBe('list');
  });
});

test('each figure of the table has a file of its name, and each file is in the table', () => {
  const files = readdirSync(new URL('../../../bench/figures/', import.meta.url)).map((name) =>
    name.replace(/\.ts$/, ''),
  );

  expect(allFigures.map(({ name }) => name).toSorted()).toEqual(files.toSorted());
});
