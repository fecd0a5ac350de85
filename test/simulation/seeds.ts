// npm run simulate:seeds -- --seeds 1..1000 [--jobs N] [--table] [--scenario] [--no-shorten] [--trace FILE]
// Plays whole clusters in virtual time, one for each seed, and ends with exit code 1 where something was found that must
// never be. `--seeds` takes numbers, ranges, words, and names of files in `regressions/`; `regressions` stands for all of
// those. `--for 180` begins no new seed after so many seconds; `--shorten-for 60` is how long failures are shortened, all
// together; `--wire 0.05` is the share of seeds that are played on both rigs.
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import { systemClock } from '../../src/scheduling/system-clock.ts';
import { playAll } from './crew.ts';
import { declaredCells } from './declared-cells.ts';
import { play } from './play.ts';
import { scenarioNamed, regressions } from './scenario-named.ts';
import { scenarioText } from './scenario-text.ts';
import type { PlayReport } from './seed-worker.ts';
import { seedsIn } from './seed-list.ts';
import { shorten } from './shorten.ts';

const { values } = parseArgs({
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
    wire: { type: 'string', default: '0.05' },
  },
});
/** From so many seeds on, a declared cell that none has hit is a failure. */
const enoughForCoverage = 1000;
/** Failures that are shortened, at most. */
const mostShortened = 5;

const clock = systemClock;
const startedAt = clock.monotonic();
const say = (text: string): void => {
  process.stdout.write(`${text}\n`);
};

async function main(): Promise<number> {
  const seeds = values.seeds
    .split(',')
    .flatMap((part) => (part === 'regressions' ? regressionNames() : seedsIn(part)));
  if (values.trace !== undefined) return traced(seeds[0] ?? '', values.trace);
  const reports: PlayReport[] = [];
  let toldAt = startedAt;
  await playAll(seeds, {
    jobs: Number(values.jobs),
    worker: new URL('seed-worker.ts', import.meta.url),
    twice: Number(values.wire),
    goesOn: () => clock.monotonic() - startedAt < Number(values.for) * 1000,
    onReport: (report) => {
      reports.push(report);
      if (report.breaches.length > 0) say(failureText(report));
      else if (seeds.length <= 30) say(`seed ${report.seed}: ${figuresOf(report)}`);
      if (clock.monotonic() - toldAt < 10_000) return;
      toldAt = clock.monotonic();
      say(`${reports.length} of ${seeds.length} seeds, ${failuresIn(reports).length} failed`);
    },
  });
  const missing = cover(reports);
  const failures = failuresIn(reports);
  const shortenUntil = clock.monotonic() + Number(values['shorten-for']) * 1000;
  for (const report of values['no-shorten'] ? [] : failures.slice(0, mostShortened))
    await explain(report, shortenUntil);
  // Once more where whoever keeps only the end of a log finds it.
  if (!values['no-shorten']) for (const report of failures) say(failureText(report));
  say(summary(reports));
  say(`${reports.length - failures.length} passed, ${failures.length} failed`);
  return failures.length > 0 || missing > 0 || reports.length === 0 ? 1 : 0;
}

function regressionNames(): readonly string[] {
  if (!existsSync(regressions)) return [];
  return readdirSync(regressions)
    .filter((name) => name.endsWith('.json'))
    .toSorted();
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
async function explain(report: PlayReport, until: number): Promise<void> {
  const scenario = scenarioNamed(report.seed);
  const [first] = report.breaches;
  if (first === undefined || first.invariant === 'rigs-differ') return;
  const isInTime = (): boolean => clock.monotonic() < until;
  const short = await shorten(scenario, first.invariant, isInTime);
  say(`\nseed ${report.seed}, ${first.invariant}: ${first.text}`);
  if (!isInTime()) say(`shortened until the ${values['shorten-for']} s for that were over (--shorten-for)`);
  say(scenarioText(short));
  if (values.keep !== undefined) {
    const file = `${values.keep}/${first.invariant}-${report.seed.replace('.json', '')}.json`;
    mkdirSync(values.keep, { recursive: true });
    writeFileSync(file, `${JSON.stringify(short, undefined, 1)}\n`);
    say(`kept in ${file}`);
  }
}

async function traced(seed: string, file: string): Promise<number> {
  const { lines, breaches, digest } = await play(scenarioNamed(seed), { trace: true });
  if (values.scenario) say(scenarioText(scenarioNamed(seed)));
  writeFileSync(file, lines.join(''));
  for (const { at, invariant, text } of breaches) say(`${(at / 1000).toFixed(1)} s ${invariant}: ${text}`);
  say(`history ${digest}, ${lines.length} lines in ${file}`);
  return breaches.length > 0 ? 1 : 0;
}

/** Returns how many declared cells were never hit, if there were seeds enough to expect them all. */
function cover(reports: readonly PlayReport[]): number {
  const hits = new Map<string, number>();
  for (const { coverage } of reports)
    for (const [cell, count] of coverage) hits.set(cell, (hits.get(cell) ?? 0) + count);
  const missing = [...declaredCells].filter((cell) => !hits.has(cell));
  if (values.table)
    for (const [cell, count] of [...hits].toSorted(([a], [b]) => (a < b ? -1 : 1)))
      say(`${String(count).padStart(9)}  ${cell}`);
  say(`coverage: ${declaredCells.size - missing.length} of ${declaredCells.size} declared cells hit`);
  if (reports.length < enoughForCoverage && !values.table) return 0;
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

process.exitCode = await main();
