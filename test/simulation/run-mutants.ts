// npm run simulate:mutants -- [--only TEXT] [--skip N] [--most 200] [--jobs N] [--for SECONDS]
// Puts deliberate mistakes into the controller, one at a time, and plays seeds until one finds it. Ends with exit code 1
// where one is not found. `--list` names them.
import { rmSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { systemClock as clock } from '../../src/scheduling/system-clock.ts';
import { playAll } from './crew.ts';
import { type Mutant, mutants } from './mutants.ts';
import { plant } from './plant.ts';
import type { PlayReport } from './seed-worker.ts';
import { seedsIn } from './seed-list.ts';

const { values } = parseArgs({
  options: {
    only: { type: 'string', default: '' },
    skip: { type: 'string', default: '0' },
    most: { type: 'string', default: '200' },
    jobs: { type: 'string', default: String(availableParallelism()) },
    for: { type: 'string', default: 'Infinity' },
    list: { type: 'boolean', default: false },
  },
});
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
  const chosen = mutants.filter(({ name }) => name.includes(values.only)).slice(Number(values.skip));
  let missed = 0;
  let found = 0;
  for (const mutant of chosen) {
    if (values.list) {
      say(mutant.name);
      continue;
    }
    if (clock.monotonic() - startedAt > Number(values.for) * 1000) break;
    const result = await hunt(mutant);
    if (result.found === undefined) missed++;
    else found++;
    say(resultText(mutant, result));
  }
  if (!values.list) say(`${found} passed, ${missed} failed`);
  return missed > 0 || (!values.list && found === 0) ? 1 : 0;
}

function resultText({ name }: Mutant, { played, found }: Hunt): string {
  const [first] = found?.breaches ?? [];
  if (found === undefined || first === undefined) return `NOT FOUND in ${played} seeds: ${name}`;
  return `found by seed ${found.seed}, after ${played}: ${name}\n    ${first.invariant}: ${first.text.slice(0, 200)}`;
}

async function hunt(mutant: Mutant): Promise<Hunt> {
  const copy = plant(mutant);
  let played = 0;
  let found: PlayReport | undefined;
  const enough = new AbortController();
  try {
    await playAll(seedsIn(`1..${values.most}`), {
      jobs: Number(values.jobs),
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
