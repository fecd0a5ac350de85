import { readdirSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { allFigures } from '../../../bench/all-figures.ts';
import type { CloudName } from '../../../bench/clouds/bench-cloud.ts';
import { cloudNames } from '../../../bench/clouds/clouds.ts';
import { readCommandLine, type Wanted } from '../../../bench/command-line.ts';

const read = (...args: readonly string[]): Wanted => {
  const wanted = readCommandLine(args, allFigures);
  if (wanted.kind === 'list') throw new Error('a list was asked for');
  return wanted;
};

const namesOn = (cloud: CloudName): readonly string[] =>
  allFigures.filter(({ limits }) => limits[cloud] !== undefined).map(({ name }) => name);

describe('readCommandLine', () => {
  test.each([
    [[], { cloud: 'aws', nodes: 1000, isSmall: false, scale: 10 }],
    [['--nodes', '50'], { cloud: 'aws', nodes: 50, isSmall: false, scale: 10 }],
    [['--scale', '1'], { cloud: 'aws', nodes: 1000, isSmall: false, scale: 1 }],
    [['--small'], { cloud: 'aws', nodes: 100, isSmall: true, scale: 1 }],
    [['--small', '--nodes=20'], { cloud: 'aws', nodes: 20, isSmall: true, scale: 1 }],
    [['--cloud', 'azure'], { cloud: 'azure', nodes: 1000, isSmall: false, scale: 1 }],
    [['--cloud', 'alibaba', '--small'], { cloud: 'alibaba', nodes: 100, isSmall: true, scale: 1 }],
    [['--cloud', 'azure', '--small'], { cloud: 'azure', nodes: 100, isSmall: true, scale: 10 }],
  ])('accepts %j', (args, settings) => {
    expect(read(...args).settings).toEqual(settings);
  });

  test('selects all figures, or the named ones in the order given', () => {
    expect(read().figures.map(({ name }) => name)).toEqual(namesOn('aws'));
    expect(read('--only', 'idle-cpu', '--only', 'scale-up-reads').figures.map(({ name }) => name)).toEqual([
      'idle-cpu',
      'scale-up-reads',
    ]);
  });

  test.each(cloudNames)('measures no times in the small form on %s', (cloud) => {
    const { figures } = read('--small', '--cloud', cloud);

    expect(figures.length).toBeGreaterThan(0);
    expect(figures.filter(({ name }) => /time|latency|cpu|memory|delay|first/.test(name))).toEqual([]);
  });

  test.each([
    [['--only', 'nothing'], 'there is no figure nothing; there are: '],
    [['--nodes', '0'], '--nodes is 0; a whole number'],
    [['--nodes', '1.5'], '--nodes is 1.5'],
    [['--cloud', 'moon'], '--cloud is moon; there are: aws, azure, alibaba'],
    [['--cloud', 'azure', '--only', 'modify-calls'], 'there is no figure modify-calls'],
    [['--small', '--only', 'scale-up-time'], 'there is no figure scale-up-time'],
    [['--bogus'], 'bogus'],
  ])('refuses %j', (args, problem) => {
    expect(() => read(...args)).toThrow(problem);
  });

  test('accepts --list', () => {
    const { kind, figures } = readCommandLine(['--list', '--cloud=azure'], allFigures);

    expect(kind).toBe('list');
    expect(figures.map(({ name }) => name)).toEqual(namesOn('azure'));
  });

  test('keeps the nodes and the limits that a figure on Alibaba Cloud is stated for', () => {
    const stated = read('--cloud', 'alibaba', '--nodes', '50', '--scale', '10').figures.filter(({ title }) =>
      /\d{2,} (nodes|s)\b/.test(title),
    );

    expect(stated.map(({ name, scenario }) => [name, scenario.split(' ', 1)[0]])).toEqual([
      ['reads-per-node', '500'],
      ['reads-per-node-of-100', '100'],
      ['calls-over-window', '600'],
      ['last-supplied', '500'],
      ['last-supplied-of-100', '100'],
    ]);
    expect(stated.filter(({ scenario }) => !scenario.includes('limits and latencies of'))).toEqual([]);
  });

  test('lists with --small what the small form measures', () => {
    const { figures } = readCommandLine(['--list', '--small'], allFigures);

    expect(figures.map(({ name }) => name)).toEqual(read('--small').figures.map(({ name }) => name));
  });
});

test('each figure of the table has a file of its name, and each file is in the table', () => {
  const files = readdirSync(new URL('../../../bench/figures/', import.meta.url)).map((name) =>
    name.replace(/\.ts$/, ''),
  );

  expect(allFigures.map(({ name }) => name).toSorted()).toEqual(files.toSorted());
});
