// What `npm run simulate:seeds -- ...` and `npm run simulate:mutants -- ...` take.
import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import { existsAmongRegressions, regressionNames } from './scenario-named.ts';
import { seedsIn } from './seed-list.ts';

export interface SeedsWanted {
  readonly seeds: readonly string[];
  readonly jobs: number;
  /** No seed is begun after so many seconds. */
  readonly seconds: number;
  /** Of the seeds that are played on both rigs. */
  readonly wire: number;
  /** For so many seconds failures are shortened; 0 where they are not. */
  readonly shortenFor: number;
  readonly table: boolean;
  readonly scenario: boolean;
  /** Where the history of the only seed goes. */
  readonly trace: string | undefined;
  /** Where scenarios of failures go. */
  readonly keep: string | undefined;
}

export interface MutantsWanted {
  /** A part of the name. */
  readonly only: string;
  readonly skip: number;
  /** Seeds that a mutant is hunted with. */
  readonly most: number;
  readonly jobs: number;
  /** No mutant is begun after so many seconds. */
  readonly seconds: number;
  readonly list: boolean;
}

export const seedsUsage = `npm run simulate:seeds -- [--seeds LIST] [--jobs N] [--for S] [--wire SHARE] [--table] [--no-shorten] [--shorten-for S] [--keep DIR] [--trace FILE [--scenario]]
  --seeds LIST     by commas: numbers, words, 1..1000, name:1..200, files of test/simulation/regressions, or
                   regressions for all of those (1..20)
  --jobs N         processes side by side (as many as there are processors)
  --for S          begins no new seed after so many seconds
  --wire SHARE     of the seeds that are also played through the real SDK, from 0 to 1 (0.05)
  --table          how often each cell of the coverage was hit
  --no-shorten     does not look for the shortest scenario that still fails
  --shorten-for S  looks for that so many seconds at most, for all failures together (60)
  --keep DIR       writes shortened scenarios of failures there
  --trace FILE     plays one seed and writes its history there; --scenario tells what the seed stands for`;

export const mutantsUsage = `npm run simulate:mutants -- [--only TEXT] [--skip N] [--most N] [--jobs N] [--for S] [--list]
  --only TEXT  only mistakes whose names have this in them
  --skip N     leaves out the first N of them
  --most N     seeds that each is hunted with (200)
  --jobs N     processes side by side (as many as there are processors)
  --for S      begins with no new mistake after so many seconds
  --list       names all of them`;

/** Throws an Error that says what is wrong. */
export function readSeedsCommand(args: readonly string[]): SeedsWanted | 'help' {
  const { values } = parseArgs({
    args: [...args],
    options: {
      seeds: { type: 'string', default: '1..20' },
      jobs: { type: 'string', default: String(availableParallelism()) },
      for: { type: 'string' },
      table: { type: 'boolean', default: false },
      scenario: { type: 'boolean', default: false },
      'no-shorten': { type: 'boolean', default: false },
      'shorten-for': { type: 'string', default: '60' },
      trace: { type: 'string' },
      keep: { type: 'string' },
      wire: { type: 'string', default: '0.05' },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) return 'help';
  const { table, scenario, trace, keep } = values;
  const seeds = seedsNamed(values.seeds);
  if (trace !== undefined && seeds.length !== 1)
    throw new Error(`--trace writes the history of one seed; --seeds names ${seeds.length}`);
  return {
    seeds,
    jobs: wholeNumber('jobs', values.jobs, 1),
    seconds: secondsOf('for', values.for) ?? Infinity,
    wire: shareOf('wire', values.wire),
    shortenFor: values['no-shorten'] ? 0 : (secondsOf('shorten-for', values['shorten-for']) ?? 0),
    table,
    scenario,
    trace,
    keep,
  };
}

/** Throws an Error that says what is wrong. */
export function readMutantsCommand(args: readonly string[]): MutantsWanted | 'help' {
  const { values } = parseArgs({
    args: [...args],
    options: {
      only: { type: 'string', default: '' },
      skip: { type: 'string', default: '0' },
      most: { type: 'string', default: '200' },
      jobs: { type: 'string', default: String(availableParallelism()) },
      for: { type: 'string' },
      list: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) return 'help';
  const { only, list } = values;
  return {
    only,
    list,
    skip: wholeNumber('skip', values.skip, 0),
    most: wholeNumber('most', values.most, 1),
    jobs: wholeNumber('jobs', values.jobs, 1),
    seconds: secondsOf('for', values.for) ?? Infinity,
  };
}

function seedsNamed(text: string): readonly string[] {
  const seeds = text
    .split(',')
    .flatMap((part) => (part === 'regressions' ? regressionNames() : seedsIn(part)));
  if (seeds.length === 0) throw new Error(`--seeds ${JSON.stringify(text)} names none`);
  const missing = seeds.find((seed) => seed.endsWith('.json') && !existsAmongRegressions(seed));
  if (missing !== undefined)
    throw new Error(`there is no regression ${missing}; there are: ${regressionNames().join(', ')}`);
  return seeds;
}

function wholeNumber(name: string, text: string, least: number): number {
  const value = numberIn(text);
  if (Number.isInteger(value) && value >= least) return value;
  throw new Error(`--${name} is ${text}; a whole number from ${least} on is accepted`);
}

function secondsOf(name: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const value = numberIn(text);
  if (value >= 0) return value;
  throw new Error(`--${name} is ${text}; a number of seconds is accepted`);
}

function shareOf(name: string, text: string): number {
  const value = numberIn(text);
  if (value >= 0 && value <= 1) return value;
  throw new Error(`--${name} is ${text}; a number from 0 to 1 is accepted`);
}

/** NaN for what is none, empty text among it. */
function numberIn(text: string): number {
  return text.trim() === '' ? Number.NaN : Number(text);
}
