// What `npm run simulate:seeds -- ...` and `npm run simulate:mutants -- ...` take.
import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import { type ActDigests, readActs } from './action-digest.ts';
import { isKept, regressionNames } from './load-scenario.ts';
import { seedsIn } from './seed-list.ts';

export interface SeedsWanted {
  readonly seeds: readonly string[];
  readonly jobs: number;
  /** No seed is begun after so many seconds. */
  readonly seconds: number;
  /** Of the seeds that are played on both rigs. */
  readonly wire: number;
  /** Whether the shortest scenario is looked for that still fails. */
  readonly shorten: boolean;
  /** That is looked for so many seconds at most, for all failures together. */
  readonly shortenFor: number;
  readonly table: boolean;
  readonly scenario: boolean;
  /** Where the history of the only seed goes. */
  readonly trace: string | undefined;
  /** Where the digests of what controllers did go. */
  readonly digest: string | undefined;
  /** What they did before. */
  readonly against: ActDigests | undefined;
  /** Where scenarios of failures go. */
  readonly keep: string | undefined;
}

export interface MutantsWanted {
  /** A part of the name. */
  readonly only: string;
  readonly skip: number;
  /** That a mutant is hunted with. */
  readonly seeds: readonly string[];
  readonly jobs: number;
  /** No mutant is begun after so many seconds. */
  readonly seconds: number;
  readonly list: boolean;
}

export const seedsUsage = `npm run simulate:seeds -- [--seeds LIST] [--jobs N] [--for S] [--wire SHARE] [--table] [--no-shorten] [--shorten-for S] [--keep DIR] [--digest FILE] [--against FILE] [--trace FILE [--scenario]]
  --seeds LIST     with commas between: numbers, words, 1..1000, name:1..200, files of test/simulation/regressions/,
                   or "regressions" for all of those files; a file elsewhere by its absolute path (1..20)
  --jobs N         processes side by side (as many as there are processors)
  --for S          begins no new seed after so many seconds (no end)
  --wire SHARE     of the seeds that are also played through the real SDK, from 0 to 1 (0.05)
  --table          how often each cell of the coverage was hit
  --no-shorten     does not look for the shortest scenario that still fails
  --shorten-for S  looks for that so many seconds at most, for all failures together (60)
  --keep DIR       writes shortened scenarios of failures there
  --digest FILE    writes a digest of what controllers did in each seed there: the same where nothing but names changed
  --against FILE   compares with such digests; names the first act that differs in each seed, and fails
  --trace FILE     plays one seed, and writes its history there with every request and what controllers logged
  --scenario       with --trace: tells what the seed stands for
In parentheses: what holds if not given. Exit code 1: something was found, or nothing played; 2: the command line
is not understood, or a place cannot be written.`;

export const mutantsUsage = `npm run simulate:mutants -- [--only TEXT] [--skip N] [--most N] [--jobs N] [--for S] [--list]
  --only TEXT  only mistakes whose names have this in them
  --skip N     leaves out the first N of them
  --most N     seeds that each is hunted with (200)
  --jobs N     processes side by side (as many as there are processors)
  --for S      begins no new mistake after so many seconds (no end)
  --list       names them and plays nothing
In parentheses: what holds if not given. Exit code 1: one was not found, or none hunted; 2: the command line is
not understood.`;

/** Throws an Error that says what is wrong. */
export function readSeedsCommand(args: readonly string[]): SeedsWanted | 'help' {
  const { values } = parseArgs({
    args: [...args],
    options: {
      seeds: { type: 'string', default: '1..20' },
      jobs: { type: 'string', default: String(availableParallelism()) },
      for: { type: 'string', default: 'Infinity' },
      table: { type: 'boolean', default: false },
      scenario: { type: 'boolean', default: false },
      'no-shorten': { type: 'boolean', default: false },
      'shorten-for': { type: 'string', default: '60' },
      trace: { type: 'string' },
      keep: { type: 'string' },
      digest: { type: 'string' },
      against: { type: 'string' },
      wire: { type: 'string', default: '0.05' },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) return 'help';
  const { table, scenario, trace, keep, digest, against, 'no-shorten': noShorten } = values;
  const seeds = seedsNamed(values.seeds);
  if (trace !== undefined && seeds.length !== 1)
    throw new Error(`--trace writes the history of one seed; --seeds names ${seeds.length}`);
  if (scenario && trace === undefined) throw new Error('--scenario goes with --trace, which is missing');
  if (keep !== undefined && trace !== undefined)
    throw new Error('--keep writes what is found in many seeds, --trace plays one: leave out one of them');
  if (keep !== undefined && noShorten)
    throw new Error('--keep writes shortened scenarios, which --no-shorten leaves out');
  return {
    seeds,
    jobs: wholeNumber('jobs', values.jobs, 1),
    seconds: secondsOf('for', values.for),
    wire: shareOf('wire', values.wire),
    shorten: !noShorten,
    shortenFor: secondsOf('shorten-for', values['shorten-for']),
    table,
    scenario,
    trace,
    keep,
    digest,
    against: readActs(against),
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
      for: { type: 'string', default: 'Infinity' },
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
    seeds: seedsIn(`1..${wholeNumber('most', values.most, 1)}`),
    jobs: wholeNumber('jobs', values.jobs, 1),
    seconds: secondsOf('for', values.for),
  };
}

/** What `read` makes of the arguments of this process. Undefined where there is nothing to do but to leave: the user was told. */
export function readOrTell<Wanted extends object>(
  read: (args: readonly string[]) => Wanted | 'help',
  usage: string,
): Wanted | undefined {
  try {
    const wanted = read(process.argv.slice(2));
    if (wanted !== 'help') return wanted;
    process.stdout.write(`${usage}\n`);
  } catch (error) {
    refuse(`${error instanceof Error ? error.message : String(error)}\n${usage}`);
  }
  return undefined;
}

/** Tells why nothing is done; the process shall end with exit code 2. */
export function refuse(why: string): void {
  process.stderr.write(`${why}\n`);
  process.exitCode = 2;
}

function seedsNamed(text: string): readonly string[] {
  const seeds = seedsIn(text).flatMap((seed) => (seed === 'regressions' ? regressionNames() : [seed]));
  const missing = seeds.find((seed) => seed.endsWith('.json') && !isKept(seed));
  if (missing !== undefined)
    throw new Error(`there is no regression ${missing}; there are: ${regressionNames().join(', ')}`);
  return seeds;
}

function wholeNumber(name: string, text: string, least: number): number {
  const value = numberIn(text);
  if (Number.isInteger(value) && value >= least) return value;
  throw new Error(`--${name} is ${JSON.stringify(text)}; a whole number from ${least} on is accepted`);
}

function secondsOf(name: string, text: string): number {
  const value = numberIn(text);
  if (value >= 0) return value;
  throw new Error(`--${name} is ${JSON.stringify(text)}; a number of seconds from 0 on is accepted`);
}

function shareOf(name: string, text: string): number {
  const value = numberIn(text);
  if (value >= 0 && value <= 1) return value;
  throw new Error(`--${name} is ${JSON.stringify(text)}; a number from 0 to 1 is accepted`);
}

/** NaN for what is none, empty text among it. */
function numberIn(text: string): number {
  return text.trim() === '' ? Number.NaN : Number(text);
}
