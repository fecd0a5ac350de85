// npm run simulate:mutants
// Puts deliberate mistakes into the controller, one at a time, and plays seeds until one finds it. Ends with exit code 1
// where one is not found, with 2 where the command line is not understood (`--help`).
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { systemClock as clock } from '../../src/scheduling/system-clock.ts';
import { type MutantsWanted, mutantsUsage, readMutantsCommand } from './command-line.ts';
import { playAll } from './crew.ts';
import { type Mutant, mutants } from './mutants.ts';
import { plant } from './plant.ts';
import type { PlayReport } from './seed-worker.ts';
import { seedsIn } from './seed-list.ts';

const startedAt = clock.monotonic();
const say = (text: string): void => {
  process.stdout.write(`${text}\n`);
};

interface Hunt {
  /** Seeds played until the mistake was found, or all. */
  readonly played: number;
  readonly found: PlayReport | undefined;
}

async function main(): Promise<number> {
  const wanted = readOrRefuse();
  if (wanted === undefined) return 2;
  if (wanted === 'help') {
    say(mutantsUsage);
    return 0;
  }
  const chosen = mutants.filter(({ name }) => name.includes(wanted.only)).slice(wanted.skip);
  if (!wanted.list) return huntAll(chosen, wanted);
  for (const { name } of chosen) say(name);
  return 0;
}

function readOrRefuse(): MutantsWanted | 'help' | undefined {
  try {
    return readMutantsCommand(process.argv.slice(2));
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n${mutantsUsage}\n`);
    return undefined;
  }
}

async function huntAll(chosen: readonly Mutant[], wanted: MutantsWanted): Promise<number> {
  let missed = 0;
  let found = 0;
  for (const mutant of chosen) {
    if (clock.monotonic() - startedAt > wanted.seconds * 1000) break;
    const result = await hunt(mutant, wanted);
    if (result.found === undefined) missed++;
    else found++;
    say(resultText(mutant, result));
  }
  say(`${found} passed, ${missed} failed`);
  return missed > 0 || found === 0 ? 1 : 0;
}

function resultText({ name }: Mutant, { played, found }: Hunt): string {
  const [first] = found?.breaches ?? [];
  if (found === undefined || first === undefined) return `NOT FOUND in ${played} seeds: ${name}`;
  return `found by seed ${found.seed}, after ${played}: ${name}\n    ${first.invariant}: ${first.text.slice(0, 200)}`;
}

async function hunt(mutant: Mutant, { most, jobs }: MutantsWanted): Promise<Hunt> {
  const copy = plant(mutant);
  let played = 0;
  let found: PlayReport | undefined;
  const enough = new AbortController();
  try {
    await playAll(seedsIn(`1..${most}`), {
      jobs,
      worker: pathToFileURL(join(copy, 'test/simulation/seed-worker.ts')),
      twice: 0,
      goesOn: () => true,
      giveUp: enough.signal,
      onReport: (report) => {
        played++;
        if (report.breaches.length === 0) return;
        found ??= report;
        enough.abort();
      },
    });
  } finally {
    rmSync(copy, { recursive: true, force: true });
  }
  return { played, found };
}

process.exitCode = await main();
