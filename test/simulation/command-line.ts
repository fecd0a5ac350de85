// Parses the arguments of `npm run simulate:seeds -- ...` and `npm run simulate:mutants -- ...`.
import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import { type ActionDigests, readActionDigests } from './action-digest.ts';
import { scenarioExists, regressionNames } from './load-scenario.ts';
import { seedsIn } from './seed-list.ts';

export interface SeedsWanted {
  readonly seeds: readonly string[];
  readonly jobs: number;
  /** No seed starts after this many seconds. */
  readonly seconds: number;
  /** Share of seeds that also run over the wire. */
  readonly wire: number;
  /** Whether to search for the shortest scenario that still fails. */
  readonly shorten: boolean;
  /** Limit of that search in seconds, for all failures together. */
  readonly shortenFor: number;
  readonly table: boolean;
  readonly scenario: boolean;
  /** File for the history of the only seed. */
  readonly trace: string | undefined;
  /** File for the digests of what controllers did. */
  readonly digest: string | undefined;
  /** Earlier digests to compare with. */
  readonly against: ActionDigests | undefined;
  /** Directory for scenarios of failures. */
  readonly keep: string | undefined;
}

export interface MutantsWanted {
  /** A part of the mutant's name. */
  readonly only: string;
  readonly skip: number;
  /** Seeds that run against each mutant; by default those of each mutant, or the usual ones. */
  readonly seeds: readonly string[] | undefined;
  readonly jobs: number;
  /** No mutant starts after this many seconds. */
  readonly seconds: number;
  readonly list: boolean;
}

export const seedsUsage = `npm run simulate:seeds -- [--seeds LIST] [--jobs N] [--for S] [--wire SHARE] [--table] [--no-shorten] [--shorten-for S] [--keep DIR] [--digest FILE] [--against FILE] [--trace FILE [--scenario]]
  --seeds LIST     comma-separated: numbers, words, 1..1000, name:1..200, files of test/simulation/regressions/,
                   or "regressions" for all of them; any other file by its absolute path (1..20)
  --jobs N         parallel processes (number of processors)
  --for S          starts no new seed after S seconds (no limit)
  --wire SHARE     share of seeds that also run through the real SDK, from 0 to 1 (0.05)
  --table          prints how often each cell of the coverage was hit
  --no-shorten     does not search for the shortest scenario that still fails
  --shorten-for S  limits that search to S seconds, for all failures together (60)
  --keep DIR       writes shortened scenarios of failures to DIR
  --digest FILE    writes a digest of what controllers did in each seed; renaming code does not change it
  --against FILE   compares with such digests, prints the first action that differs in each seed, and fails then
  --trace FILE     runs one seed and writes its history, with every request and log line of the controllers
  --scenario       with --trace: describes the scenario of the seed
Defaults are in parentheses. Exit code 1: a failure was found, or no seed ran; 2: the command line is invalid, or
an output cannot be written.`;

export const mutantsUsage = `npm run simulate:mutants -- [--only TEXT] [--skip N] [--seeds LIST] [--jobs N] [--for S] [--list]
  --only TEXT   only mutants with this text in their names
  --skip N      skips the first N of them
  --seeds LIST  what each mutant plays until a seed detects it, as for simulate:seeds (regressions,1..200; azure:1..100 for
                mutants of Azure; alibaba:1..100 for those of Alibaba Cloud)
  --jobs N      parallel processes (number of processors)
  --for S       starts no new mutant after S seconds (no limit)
  --list        lists the mutants and runs nothing
Defaults are in parentheses. Exit code 1: a mutant survived, or none ran; 2: the command line is invalid.`;

/** Throws an Error with the reason. */
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
    throw new Error('--keep writes failures of many seeds, --trace runs one: omit one of them');
  if (keep !== undefined && noShorten)
    throw new Error('--keep writes shortened scenarios, which --no-shorten disables');
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
    against: readActionDigests(against),
  };
}

/** Throws an Error with the reason. */
export function readMutantsCommand(args: readonly string[]): MutantsWanted | 'help' {
  const { values } = parseArgs({
    args: [...args],
    options: {
      only: { type: 'string', default: '' },
      skip: { type: 'string', default: '0' },
      seeds: { type: 'string' },
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
    seeds: values.seeds === undefined ? undefined : seedsNamed(values.seeds),
    jobs: wholeNumber('jobs', values.jobs, 1),
    seconds: secondsOf('for', values.for),
  };
}

/**
 * Applies `read` to the arguments of this process. Undefined after it printed the help or a problem; the process then
 * exits.
 */
export function readOrPrint<Wanted extends object>(
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

/** Prints the reason and sets exit code 2. */
export function refuse(why: string): void {
  process.stderr.write(`${why}\n`);
  process.exitCode = 2;
}

/** Seeds by the names of a command line. Throws an Error for a regression that does not exist. */
export function seedsNamed(text: string): readonly string[] {
  const seeds = seedsIn(text).flatMap((seed) => (seed === 'regressions' ? regressionNames() : [seed]));
  const missing = seeds.find((seed) => seed.endsWith('.json') && !scenarioExists(seed));
  if (missing !== undefined)
    throw new Error(`there is no regression ${missing}; there are: ${regressionNames().join(', ')}`);
  return seeds;
}

function wholeNumber(name: string, text: string, min: number): number {
  const value = numberIn(text);
  if (Number.isInteger(value) && value >= min) return value;
  throw new Error(`--${name} is ${JSON.stringify(text)}; a whole number from ${min} on is accepted`);
}

export function secondsOf(name: string, text: string): number {
  const value = numberIn(text);
  if (value >= 0) return value;
  throw new Error(`--${name} is ${JSON.stringify(text)}; a number of seconds from 0 on is accepted`);
}

function shareOf(name: string, text: string): number {
  const value = numberIn(text);
  if (value >= 0 && value <= 1) return value;
  throw new Error(`--${name} is ${JSON.stringify(text)}; a number from 0 to 1 is accepted`);
}

/** NaN for text that is no number, also for empty text. */
function numberIn(text: string): number {
  return text.trim() === '' ? Number.NaN : Number(text);
}
