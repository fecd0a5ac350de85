// npm run simulate:seeds -- --seeds 1..1000
// Runs whole clusters in virtual time, one per seed. Exit code 1: an invariant was violated; 2: the command line is
// invalid (`--help`).
import { closeSync, mkdirSync, mkdtempSync, openSync, rmdirSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { systemClock } from '../../src/runtime/system-clock.ts';
import { firstDifference, writeActionDigests } from './action-digest.ts';
import { readOrPrint, readSeedsCommand, refuse, type SeedsWanted, seedsUsage } from './command-line.ts';
import { runSeeds } from './worker-pool.ts';
import { declaredCells } from './declared-cells.ts';
import { runScenario } from './run-scenario.ts';
import { loadScenario } from './load-scenario.ts';
import { scenarioText } from './scenario-text.ts';
import type { SeedReport } from './seed-worker.ts';
import { cloudOfSeed } from './seed-cloud.ts';
import { shorten } from './shorten.ts';

/** From this many seeds on, a declared cell without a hit is a failure. */
const enoughForCoverage = 1000;
/** Maximum number of failures to shorten. */
const maxShortened = 5;

const clock = systemClock;
const startedAt = clock.monotonic();
const print = (text: string): void => {
  process.stdout.write(`${text}\n`);
};

/** Checks that every output can be written, before any seed runs. */
function canWrite({ trace, keep, digest }: SeedsWanted): boolean {
  try {
    for (const file of [trace, digest]) if (file !== undefined) closeSync(openSync(file, 'a'));
    if (keep !== undefined) {
      mkdirSync(keep, { recursive: true });
      rmdirSync(mkdtempSync(join(keep, 'can-write-')));
    }
    return true;
  } catch (error) {
    refuse(`${error instanceof Error ? error.message : String(error)}; choose an output that can be written`);
    return false;
  }
}

async function runAll(wanted: SeedsWanted): Promise<number> {
  const { seeds, jobs, seconds, shorten: shortens, shortenFor } = wanted;
  const reports: SeedReport[] = [];
  let reportedAt = startedAt;
  await runSeeds(seeds, {
    jobs,
    worker: new URL('seed-worker.ts', import.meta.url),
    wireShare: wanted.wire,
    mayContinue: () => clock.monotonic() - startedAt < seconds * 1000,
    onReport: (report) => {
      reports.push(report);
      if (report.violations.length > 0) print(failureText(report));
      else if (seeds.length <= 30) print(`seed ${report.seed}: ${figuresOf(report)}`);
      if (clock.monotonic() - reportedAt < 10_000) return;
      reportedAt = clock.monotonic();
      print(`${reports.length} of ${seeds.length} seeds, ${failuresIn(reports).length} failed`);
    },
  });
  const differing = await reportDifferences(reports, wanted);
  const missing = reportCoverage(reports, wanted.table);
  const failures = failuresIn(reports);
  const shortenUntil = clock.monotonic() + shortenFor * 1000;
  for (const report of shortens ? failures.slice(0, maxShortened) : [])
    await reportShortened(report, shortenUntil, wanted);
  // Repeats the failures at the end, where a truncated log still shows them.
  if (shortens) for (const report of failures) print(failureText(report));
  print(summary(reports));
  print(`${reports.length - failures.length} passed, ${failures.length} failed`);
  return failures.length > 0 || missing > 0 || differing > 0 || reports.length === 0 ? 1 : 0;
}

/** Returns the number of seeds in which controllers acted differently than before, or that did not run before. */
async function reportDifferences(reports: readonly SeedReport[], wanted: SeedsWanted): Promise<number> {
  const { digest: file, against: before } = wanted;
  if (file !== undefined)
    writeActionDigests(file, new Map(reports.map(({ seed, actions }) => [seed, actions])));
  if (before === undefined) return 0;
  let differing = 0;
  for (const { seed, actions } of reports) {
    const known = before.get(seed);
    const index = known && firstDifference(known, actions);
    if (known !== undefined && index === undefined) continue;
    differing++;
    if (index === undefined) print(`seed ${seed} has no digest to compare with`);
    else if (differing > maxShortened) print(`seed ${seed} differs from action ${index + 1} on`);
    else {
      const { actionLog } = await runScenario(loadScenario(seed), { trace: true });
      print(`seed ${seed} differs from action ${index + 1} on: ${actionLog[index] ?? 'no more actions'}`);
    }
  }
  print(`${reports.length - differing} of ${reports.length} seeds unchanged`);
  return differing;
}

function failuresIn(reports: readonly SeedReport[]): readonly SeedReport[] {
  return reports.filter(({ violations }) => violations.length > 0);
}

function figuresOf({ events, mutations, faults, nodes, lasted, cpu, digest }: SeedReport): string {
  const minutes = Math.round(lasted / 60_000);
  return `${nodes} nodes, ${minutes} min, ${mutations} cloud mutations, ${faults} faults, ${events} events, ${(cpu / 1000).toFixed(2)} s, history ${digest}`;
}

function failureText({ seed, violations }: SeedReport): string {
  const [first] = violations;
  const what = `${((first?.at ?? 0) / 1000).toFixed(1)} s: ${first?.invariant}: ${first?.text}`;
  return `seed ${seed} FAILED at ${what}\n  reproduce from the same commit: npm run simulate:seeds -- --seeds ${seed}`;
}

/** Prints the shortest scenario of a failure that is found before `until`. */
async function reportShortened(
  report: SeedReport,
  until: number,
  { shortenFor, keep }: SeedsWanted,
): Promise<void> {
  const scenario = loadScenario(report.seed);
  const [first] = report.violations;
  if (first === undefined || first.invariant === 'wire-differs') return;
  const isInTime = (): boolean => clock.monotonic() < until;
  const short = await shorten(scenario, first.invariant, isInTime);
  print(`\nseed ${report.seed}, ${first.invariant}: ${first.text}`);
  if (!isInTime()) print(`shortening stopped after ${shortenFor} s (--shorten-for)`);
  print(scenarioText(short));
  if (keep !== undefined) {
    const file = join(keep, `${first.invariant}-${basename(report.seed, '.json')}.json`);
    writeFileSync(file, `${JSON.stringify(short, undefined, 1)}\n`);
    print(`written to ${file}`);
  }
}

async function runTraced({ seeds: [seed = ''], scenario }: SeedsWanted, file: string): Promise<number> {
  const { lines, violations, digest } = await runScenario(loadScenario(seed), { trace: true });
  if (scenario) print(scenarioText(loadScenario(seed)));
  writeFileSync(file, lines.join(''));
  for (const { at, invariant, text } of violations)
    print(`${(at / 1000).toFixed(1)} s ${invariant}: ${text}`);
  print(`history ${digest}, ${lines.length} lines in ${file}`);
  return violations.length > 0 ? 1 : 0;
}

/** Returns the number of declared cells without a hit; 0 if there were too few seeds to expect them all. */
function reportCoverage(reports: readonly SeedReport[], table: boolean): number {
  const hits = new Map<string, number>();
  for (const { coverage } of reports)
    for (const [cell, count] of coverage) hits.set(cell, (hits.get(cell) ?? 0) + count);
  const missing = [...declaredCells].filter((cell) => !hits.has(cell));
  if (table)
    for (const [cell, count] of [...hits].toSorted(([a], [b]) => (a < b ? -1 : 1)))
      print(`${String(count).padStart(9)}  ${cell}`);
  print(`coverage: ${declaredCells.size - missing.length} of ${declaredCells.size} declared cells hit`);
  const onEc2 = reports.filter(({ seed }) => cloudOfSeed(seed) === 'aws').length;
  if (onEc2 < enoughForCoverage && !table) return 0;
  for (const cell of missing) print(`      never  ${cell}`);
  return onEc2 < enoughForCoverage ? 0 : missing.length;
}

function summary(reports: readonly SeedReport[]): string {
  const sum = (figure: (report: SeedReport) => number): number =>
    reports.reduce((total, report) => total + figure(report), 0);
  const sorted = (figure: (report: SeedReport) => number): readonly number[] =>
    reports.map(figure).toSorted((a, b) => a - b);
  const median = (figure: (report: SeedReport) => number): number =>
    sorted(figure)[Math.floor(reports.length / 2)] ?? 0;
  const minimum = (figure: (report: SeedReport) => number): number => sorted(figure)[0] ?? 0;
  const cpu = sum((report) => report.cpu) / 1000;
  const events = sum((report) => report.events);
  const hours = sum((report) => report.lasted) / 3_600_000;
  return [
    `${reports.length} seeds, ${hours.toFixed(0)} h of virtual time in ${((clock.monotonic() - startedAt) / 1000).toFixed(0)} s`,
    `cloud mutations per seed: median ${median((report) => report.mutations)}, minimum ${minimum((report) => report.mutations)}`,
    `faults per seed: median ${median((report) => report.faults)}, minimum ${minimum((report) => report.faults)}`,
    `${reports.filter(({ isComparedOverWire }) => isComparedOverWire).length} seeds also over the wire`,
    `processor: ${(median((report) => report.cpu) / 1000).toFixed(2)} s per seed (median), ${Math.round(events / cpu)} events per second (timers fired, Kubernetes requests, cloud calls)`,
  ].join('\n');
}

const wanted = readOrPrint(readSeedsCommand, seedsUsage);
if (wanted !== undefined && canWrite(wanted))
  process.exitCode = await (wanted.trace === undefined ? runAll(wanted) : runTraced(wanted, wanted.trace));
