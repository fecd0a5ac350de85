// npm run simulate:seeds -- --seeds 1..1000
// Plays whole clusters in virtual time, one for each seed, and ends with exit code 1 where something was found that must
// never be, with 2 where the command line is not understood (`--help`).
import { closeSync, mkdirSync, mkdtempSync, openSync, rmdirSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { systemClock } from '../../src/runtime/system-clock.ts';
import { firstDifference, writeActs } from './action-digest.ts';
import { readOrTell, readSeedsCommand, refuse, type SeedsWanted, seedsUsage } from './command-line.ts';
import { playAll } from './worker-pool.ts';
import { declaredCells } from './declared-cells.ts';
import { play } from './run-scenario.ts';
import { scenarioNamed } from './load-scenario.ts';
import { scenarioText } from './scenario-text.ts';
import type { PlayReport } from './seed-worker.ts';
import { shorten } from './shorten.ts';

/** From so many seeds on, a declared cell that none has hit is a failure. */
const enoughForCoverage = 1000;
/** Failures that are shortened, at most. */
const mostShortened = 5;

const clock = systemClock;
const startedAt = clock.monotonic();
const say = (text: string): void => {
  process.stdout.write(`${text}\n`);
};

/** Whether what is found can be written, before anything is played. */
function canWrite({ trace, keep, digest }: SeedsWanted): boolean {
  try {
    for (const file of [trace, digest]) if (file !== undefined) closeSync(openSync(file, 'a'));
    if (keep !== undefined) {
      mkdirSync(keep, { recursive: true });
      rmdirSync(mkdtempSync(join(keep, 'can-write-')));
    }
    return true;
  } catch (error) {
    refuse(`${error instanceof Error ? error.message : String(error)}; name a place that can be written`);
    return false;
  }
}

async function played(wanted: SeedsWanted): Promise<number> {
  const { seeds, jobs, seconds, shorten: shortens, shortenFor } = wanted;
  const reports: PlayReport[] = [];
  let toldAt = startedAt;
  await playAll(seeds, {
    jobs,
    worker: new URL('seed-worker.ts', import.meta.url),
    twice: wanted.wire,
    goesOn: () => clock.monotonic() - startedAt < seconds * 1000,
    onReport: (report) => {
      reports.push(report);
      if (report.breaches.length > 0) say(failureText(report));
      else if (seeds.length <= 30) say(`seed ${report.seed}: ${figuresOf(report)}`);
      if (clock.monotonic() - toldAt < 10_000) return;
      toldAt = clock.monotonic();
      say(`${reports.length} of ${seeds.length} seeds, ${failuresIn(reports).length} failed`);
    },
  });
  const differing = await differingActs(reports, wanted);
  const missing = cover(reports, wanted.table);
  const failures = failuresIn(reports);
  const shortenUntil = clock.monotonic() + shortenFor * 1000;
  for (const report of shortens ? failures.slice(0, mostShortened) : [])
    await explain(report, shortenUntil, wanted);
  // Once more where whoever keeps only the end of a log finds it.
  if (shortens) for (const report of failures) say(failureText(report));
  say(summary(reports));
  say(`${reports.length - failures.length} passed, ${failures.length} failed`);
  return failures.length > 0 || missing > 0 || differing > 0 || reports.length === 0 ? 1 : 0;
}

/** Returns in how many seeds controllers did something else than before, or which were not played before. */
async function differingActs(reports: readonly PlayReport[], wanted: SeedsWanted): Promise<number> {
  const { digest: file, against: before } = wanted;
  if (file !== undefined) writeActs(file, new Map(reports.map(({ seed, acts }) => [seed, acts])));
  if (before === undefined) return 0;
  let differing = 0;
  for (const { seed, acts } of reports) {
    const known = before.get(seed);
    const index = known && firstDifference(known, acts);
    if (known !== undefined && index === undefined) continue;
    differing++;
    if (index === undefined) say(`seed ${seed} is not among the digests to compare with`);
    else if (differing > mostShortened) say(`seed ${seed} differs from act ${index + 1} on`);
    else {
      const { acted } = await play(scenarioNamed(seed), { trace: true });
      say(`seed ${seed} differs from act ${index + 1} on: ${acted[index] ?? 'there are no more'}`);
    }
  }
  say(`${reports.length - differing} of ${reports.length} seeds as before`);
  return differing;
}

function failuresIn(reports: readonly PlayReport[]): readonly PlayReport[] {
  return reports.filter(({ breaches }) => breaches.length > 0);
}

function figuresOf({ events, mutations, faults, nodes, lasted, cpu, digest }: PlayReport): string {
  const minutes = Math.round(lasted / 60_000);
  return `${nodes} nodes, ${minutes} min, ${mutations} cloud mutations, ${faults} faults, ${events} events, ${(cpu / 1000).toFixed(2)} s, history ${digest}`;
}

function failureText({ seed, breaches }: PlayReport): string {
  const [first] = breaches;
  const what = `${((first?.at ?? 0) / 1000).toFixed(1)} s: ${first?.invariant}: ${first?.text}`;
  return `seed ${seed} FAILED at ${what}\n  again, from the same commit: npm run simulate:seeds -- --seeds ${seed}`;
}

/** Shows what led to a failure, as short as it gets until `until`. */
async function explain(report: PlayReport, until: number, { shortenFor, keep }: SeedsWanted): Promise<void> {
  const scenario = scenarioNamed(report.seed);
  const [first] = report.breaches;
  if (first === undefined || first.invariant === 'rigs-differ') return;
  const isInTime = (): boolean => clock.monotonic() < until;
  const short = await shorten(scenario, first.invariant, isInTime);
  say(`\nseed ${report.seed}, ${first.invariant}: ${first.text}`);
  if (!isInTime()) say(`shortened until the ${shortenFor} s for that were over (--shorten-for)`);
  say(scenarioText(short));
  if (keep !== undefined) {
    const file = join(keep, `${first.invariant}-${basename(report.seed, '.json')}.json`);
    writeFileSync(file, `${JSON.stringify(short, undefined, 1)}\n`);
    say(`kept in ${file}`);
  }
}

async function traced({ seeds: [seed = ''], scenario }: SeedsWanted, file: string): Promise<number> {
  const { lines, breaches, digest } = await play(scenarioNamed(seed), { trace: true });
  if (scenario) say(scenarioText(scenarioNamed(seed)));
  writeFileSync(file, lines.join(''));
  for (const { at, invariant, text } of breaches) say(`${(at / 1000).toFixed(1)} s ${invariant}: ${text}`);
  say(`history ${digest}, ${lines.length} lines in ${file}`);
  return breaches.length > 0 ? 1 : 0;
}

/** Returns how many declared cells were never hit, if there were seeds enough to expect them all. */
function cover(reports: readonly PlayReport[], table: boolean): number {
  const hits = new Map<string, number>();
  for (const { coverage } of reports)
    for (const [cell, count] of coverage) hits.set(cell, (hits.get(cell) ?? 0) + count);
  const missing = [...declaredCells].filter((cell) => !hits.has(cell));
  if (table)
    for (const [cell, count] of [...hits].toSorted(([a], [b]) => (a < b ? -1 : 1)))
      say(`${String(count).padStart(9)}  ${cell}`);
  say(`coverage: ${declaredCells.size - missing.length} of ${declaredCells.size} declared cells hit`);
  if (reports.length < enoughForCoverage && !table) return 0;
  for (const cell of missing) say(`      never  ${cell}`);
  return reports.length < enoughForCoverage ? 0 : missing.length;
}

function summary(reports: readonly PlayReport[]): string {
  const sum = (figure: (report: PlayReport) => number): number =>
    reports.reduce((total, report) => total + figure(report), 0);
  const sorted = (figure: (report: PlayReport) => number): readonly number[] =>
    reports.map(figure).toSorted((a, b) => a - b);
  const median = (figure: (report: PlayReport) => number): number =>
    sorted(figure)[Math.floor(reports.length / 2)] ?? 0;
  const least = (figure: (report: PlayReport) => number): number => sorted(figure)[0] ?? 0;
  const cpu = sum((report) => report.cpu) / 1000;
  const events = sum((report) => report.events);
  const hours = sum((report) => report.lasted) / 3_600_000;
  return [
    `${reports.length} seeds, ${hours.toFixed(0)} h of virtual time in ${((clock.monotonic() - startedAt) / 1000).toFixed(0)} s`,
    `cloud mutations a seed: median ${median((report) => report.mutations)}, least ${least((report) => report.mutations)}`,
    `faults a seed: median ${median((report) => report.faults)}, least ${least((report) => report.faults)}`,
    `${reports.filter(({ isPlayedTwice }) => isPlayedTwice).length} seeds on both rigs`,
    `processor: ${(median((report) => report.cpu) / 1000).toFixed(2)} s a seed (median), ${Math.round(events / cpu)} events a second (timers fired, Kubernetes requests, cloud calls)`,
  ].join('\n');
}

const wanted = readOrTell(readSeedsCommand, seedsUsage);
if (wanted !== undefined && canWrite(wanted))
  process.exitCode = await (wanted.trace === undefined ? played(wanted) : traced(wanted, wanted.trace));
