import { describe, expect, test } from '@jest/globals';
import { spawnSync } from 'node:child_process';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import {
  type MutantsWanted,
  readMutantsCommand,
  readSeedsCommand,
  type SeedsWanted,
} from './command-line.ts';
import { regressionNames } from './load-scenario.ts';
import { judgementOf } from './play-mutants.ts';
import { seedsIn } from './seed-list.ts';

const here = fileURLToPath(new URL('.', import.meta.url));
const [regression = ''] = regressionNames();

const seedsOf = (...args: readonly string[]): SeedsWanted => {
  const wanted = readSeedsCommand(args);
  if (wanted === 'help') throw new Error('help was requested');
  return wanted;
};

const mutantsOf = (...args: readonly string[]): MutantsWanted => {
  const wanted = readMutantsCommand(args);
  if (wanted === 'help') throw new Error('help was requested');
  return wanted;
};

describe('simulate:seeds', () => {
  test.each<[readonly string[], Partial<SeedsWanted>]>([
    [[], { wire: 0.05, shorten: true, shortenFor: 60, seconds: Infinity, table: false, trace: undefined }],
    [['--seeds', join(here, 'regressions', regression)], { seeds: [join(here, 'regressions', regression)] }],
    [['--seeds', 'a:1..2,x'], { seeds: ['a:1', 'a:2', 'x'] }],
    [['--seeds', `regressions,${regression}`], { seeds: [...regressionNames(), regression] }],
    [['--jobs', '3', '--for', '0.5', '--wire', '0'], { jobs: 3, seconds: 0.5, wire: 0 }],
    [['--shorten-for', '0'], { shorten: true, shortenFor: 0 }],
    [['--no-shorten'], { shorten: false }],
    [['--seeds', '1, 2'], { seeds: ['1', '2'] }],
    [['--seeds', '7', '--trace', 'file'], { seeds: ['7'], trace: 'file' }],
  ])('simulate:seeds accepts %j', (args, expected) => {
    expect(seedsOf(...args)).toMatchObject(expected);
  });

  test.each([
    [['--seeds', ''], '"" names no seed; 7, a word'],
    [['--seeds', '3,5..1'], '"5..1" names no seed'],
    [['--seeds', '3,1..'], '"1.." names no seed'],
    [['--seeds', '1..1000001'], '1..1000001 names more than 1000000 seeds'],
    [['--seeds', '../package.json'], 'there is no regression ../package.json'],
    [['--seeds', 'never-kept.json'], `there is no regression never-kept.json; there are: ${regression}`],
    [['--jobs', '0'], '--jobs is "0"; a whole number from 1 on'],
    [['--jobs', 'many'], '--jobs is "many"'],
    [['--for', ''], '--for is ""; a number of seconds from 0 on'],
    [['--for=-1'], '--for is "-1"'],
    [['--wire', '1.5'], '--wire is "1.5"; a number from 0 to 1'],
    [['--trace', 'file', '--seeds', '1,2'], '--trace writes the history of one seed; --seeds names 2'],
    [['--no-shorten', '--shorten-for', 'x'], '--shorten-for is "x"'],
    [['--no-shorten', '--keep', 'here'], '--keep writes shortened scenarios'],
    [['--seeds', '1', '--trace', 'file', '--keep', 'here'], '--keep writes failures of many seeds'],
    [['--scenario'], '--scenario goes with --trace'],
    [['--bogus'], 'bogus'],
  ])('simulate:seeds refuses %j', (args, problem) => {
    expect(() => seedsOf(...args)).toThrow(problem);
  });
});

describe('simulate:mutants', () => {
  test.each<[readonly string[], Partial<MutantsWanted>]>([
    [
      [],
      {
        only: '',
        skip: 0,
        seeds: undefined,
        seconds: Infinity,
        list: false,
      },
    ],
    [
      ['--only', 'fencing', '--skip', '1', '--seeds', 'x:1..20'],
      { only: 'fencing', skip: 1, seeds: seedsIn('x:1..20') },
    ],
  ])('simulate:mutants accepts %j', (args, expected) => {
    expect(mutantsOf(...args)).toMatchObject(expected);
  });

  test.each([
    [['--seeds', ''], '"" names no seed; 7, a word'],
    [['--seeds', 'never-kept.json'], 'there is no regression never-kept.json'],
    [['--skip', 'x'], '--skip is "x"; a whole number from 0 on'],
  ])('simulate:mutants refuses %j', (args, problem) => {
    expect(() => mutantsOf(...args)).toThrow(problem);
  });
});

test('both commands of the simulation accept --help', () => {
  expect(readSeedsCommand(['--help'])).toBe('help');
  expect(readMutantsCommand(['--help'])).toBe('help');
});

describe('the exit code of the simulation', () => {
  const nowhere = join(tmpdir(), 'headwater-never-made', 'file');

  test.each([
    ['seeds.ts', ['--help'], 0, ''],
    ['seeds.ts', ['--bogus'], 2, 'bogus'],
    ['seeds.ts', ['--seeds', '1', '--trace', nowhere], 2, nowhere],
    ['seeds.ts', ['--seeds', '1', '--keep', join(here, 'seeds.ts')], 2, 'seeds.ts'],
    ['seeds.ts', ['--seeds', '1', '--for', '0'], 1, ''],
    ['run-mutants.ts', ['--list'], 0, ''],
    ['run-mutants.ts', ['--only', 'no such mutant'], 2, 'leave none of the'],
    ['blocks/run.ts', ['--mutants', '--for', '0'], 1, ''],
    ['blocks/run.ts', ['--mutants', '--only', 'no such mutant'], 1, ''],
    ['agent/run.ts', ['--mutants', '--for', '0'], 1, ''],
    ['agent/run.ts', ['--mutants', '--for', 'soon'], 2, '--for is "soon"'],
  ])('%s %j exits with code %i', (file, args, code, message) => {
    const { status, stderr } = spawnSync(process.execPath, [join(here, file), ...args], { encoding: 'utf8' });

    expect({ status, stderr }).toEqual({
      status: code,
      stderr: message === '' ? '' : expect.stringContaining(message),
    });
  });
});

describe('a mutant that is played', () => {
  test.each([
    [
      'detected',
      'seed 1, run: 9 writes\nseed 2, run: 9 writes\n  broken: a bug\n0 passed, 1 failed\n',
      false,
    ],
    ['detected', 'seed 2, run: 9 writes\n  broken: a bug\n', true],
    ['SURVIVED', 'seed 1, run: 9 writes\n1 passed, 0 failed\n', false],
    ['ended early', '', false],
    ['ended early', '0 passed, 0 failed\n', false],
    ['ended early', 'SyntaxError: Unexpected token\n', false],
    ['not decided in time', 'seed 1, run: 9 writes\n', true],
  ])('is %s if the simulation says %j, stopped: %p', (verdict, said, isStopped) => {
    expect(judgementOf({ said, isStopped }).verdict).toBe(verdict);
  });
});
