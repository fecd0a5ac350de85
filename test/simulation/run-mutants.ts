// npm run simulate:mutants
// Applies deliberate mistakes to the controller, one at a time, and runs seeds until one detects it. Exit code 1: a
// mutant survived; 2: the command line is invalid (`--help`).
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { systemClock as clock } from '../../src/runtime/system-clock.ts';
import {
  type MutantsWanted,
  mutantsUsage,
  readMutantsCommand,
  readOrPrint,
  refuse,
  seedsNamed,
} from './command-line.ts';
import { runSeeds } from './worker-pool.ts';
import type { Mutant } from './mutant.ts';
import { mutants } from './mutants.ts';
import { createMutatedCopy } from './mutated-copy.ts';
import type { SeedReport } from './seed-worker.ts';

const startedAt = clock.monotonic();
const print = (text: string): void => {
  process.stdout.write(`${text}\n`);
};

/** The seeds of mutants that name none. */
const usualSeeds = 'regressions,1..200';

interface MutantResult {
  /** Seeds that ran until one detected the mutant, or all. */
  readonly seedsRun: number;
  /** The report of the first seed that detected the mutant. */
  readonly report: SeedReport | undefined;
}

async function main(wanted: MutantsWanted): Promise<void> {
  const { only, skip, list } = wanted;
  const chosen = mutants.filter(({ name }) => name.includes(only)).slice(skip);
  if (chosen.length === 0)
    refuse(
      `--only ${JSON.stringify(only)} and --skip ${skip} leave none of the ${mutants.length} mutants; see --list`,
    );
  else if (list) for (const { name } of chosen) print(name);
  else process.exitCode = await testAll(chosen, wanted);
}

async function testAll(chosen: readonly Mutant[], wanted: MutantsWanted): Promise<number> {
  let survived = 0;
  let detected = 0;
  for (const mutant of chosen) {
    if (clock.monotonic() - startedAt > wanted.seconds * 1000) break;
    const result = await testMutant(mutant, wanted);
    if (result.report === undefined) survived++;
    else detected++;
    print(resultText(mutant, result));
  }
  print(`${detected} passed, ${survived} failed`);
  return survived > 0 || detected === 0 ? 1 : 0;
}

function resultText({ name }: Mutant, { seedsRun, report }: MutantResult): string {
  const [first] = report?.violations ?? [];
  if (report === undefined || first === undefined) return `SURVIVED ${seedsRun} seeds: ${name}`;
  return `detected by seed ${report.seed}, after ${seedsRun}: ${name}\n    ${first.invariant}: ${first.text.slice(0, 200)}`;
}

async function testMutant(mutant: Mutant, { seeds: wanted, jobs }: MutantsWanted): Promise<MutantResult> {
  const seeds = wanted ?? seedsNamed(mutant.seeds ?? usualSeeds);
  const copy = createMutatedCopy(mutant);
  let seedsRun = 0;
  let detection: SeedReport | undefined;
  const enough = new AbortController();
  try {
    await runSeeds(seeds, {
      jobs,
      worker: pathToFileURL(join(copy, 'test/simulation/seed-worker.ts')),
      wireShare: 0,
      mayContinue: () => true,
      signal: enough.signal,
      onReport: (report) => {
        seedsRun++;
        if (report.violations.length === 0) return;
        detection ??= report;
        enough.abort();
      },
    });
  } finally {
    rmSync(copy, { recursive: true, force: true });
  }
  return { seedsRun, report: detection };
}

const wanted = readOrPrint(readMutantsCommand, mutantsUsage);
if (wanted !== undefined) await main(wanted);
