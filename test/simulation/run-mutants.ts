// npm run simulate:mutants
// Puts deliberate mistakes into the controller, one at a time, and plays seeds until one finds it. Ends with exit code 1
// where one is not found, with 2 where the command line is not understood (`--help`).
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { systemClock as clock } from '../../src/runtime/system-clock.ts';
import { type MutantsWanted, mutantsUsage, readMutantsCommand, readOrTell, refuse } from './command-line.ts';
import { playAll } from './worker-pool.ts';
import { type Mutant, mutants } from './mutants.ts';
import { plant } from './mutated-copy.ts';
import type { PlayReport } from './seed-worker.ts';

const startedAt = clock.monotonic();
const say = (text: string): void => {
  process.stdout.write(`${text}\n`);
};

interface Hunt {
  /** Seeds played until the mistake was found, or all. */
  readonly played: number;
  readonly found: PlayReport | undefined;
}

async function main(wanted: MutantsWanted): Promise<void> {
  const { only, skip, list } = wanted;
  const chosen = mutants.filter(({ name }) => name.includes(only)).slice(skip);
  if (chosen.length === 0)
    refuse(
      `--only ${JSON.stringify(only)} and --skip ${skip} leave none of the ${mutants.length}; see --list`,
    );
  else if (list) for (const { name } of chosen) say(name);
  else process.exitCode = await huntAll(chosen, wanted);
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

async function hunt(mutant: Mutant, { seeds, jobs }: MutantsWanted): Promise<Hunt> {
  const copy = plant(mutant);
  let played = 0;
  let found: PlayReport | undefined;
  const enough = new AbortController();
  try {
    await playAll(seeds, {
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

const wanted = readOrTell(readMutantsCommand, mutantsUsage);
if (wanted !== undefined) await main(wanted);
