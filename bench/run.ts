// Measures the controller as it ships against the limits of a cloud: the model of the cloud, the Kubernetes API and the
// controller each in a process of its own, the agents in this one.
import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { systemClock as clock } from '../src/runtime/system-clock.ts';
import { allFigures } from './all-figures.ts';
import { readCommandLine, usage, type Wanted, type WantedList } from './command-line.ts';
import { isGood } from './figure.ts';
import { measureAll } from './measurement.ts';
import { comparison } from './peers/comparison.ts';
import { reportOf } from './report/json-report.ts';
import { renderTable } from './report/table.ts';
import { root } from '../rig/child-process.ts';
import { Scenarios } from './scenarios/scenarios.ts';

const say = (text: string): void => void process.stdout.write(`${text}\n`);

async function run({ settings, figures, json, profiles }: Wanted, signal: AbortSignal): Promise<number> {
  say('building the bundle');
  await promisify(execFile)(process.execPath, [join(root, 'build.mjs')], { cwd: root, signal });
  const harness = { clock, signal, say, profiles };
  const scenarios = new Scenarios(harness);
  const outcomes = await measureAll(figures, scenarios, harness);
  const peers = await comparison({ ...settings, scenarios });
  say('');
  for (const line of [...renderTable(outcomes), '', ...peers.lines]) say(line);
  const good = outcomes.filter(isGood).length;
  if (json !== undefined) {
    const report = {
      ...settings,
      figures: outcomes.map((each) => reportOf(each)),
      peers: peers.scaleUps,
    };
    await writeFile(json, `${JSON.stringify(report, undefined, 2)}\n`);
  }
  say('');
  say(`${good} passed, ${outcomes.length - good} failed`);
  return good === outcomes.length ? 0 : 1;
}

const interrupt = new AbortController();
for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.on(name, () => interrupt.abort(new Error(`interrupted by ${name}`)));
}
// The reader of the output is gone, as `| head` is after its lines.
for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
    interrupt.abort(new Error('nobody reads the output any more'));
  });
}
const wanted = readOrRefuse();
if (wanted?.kind === 'list') wanted.figures.forEach(({ name, title }) => say(`${name.padEnd(30)} ${title}`));
else if (wanted !== undefined) process.exitCode = await runOrTell(wanted);

function readOrRefuse(): Wanted | WantedList | undefined {
  try {
    return readCommandLine(process.argv.slice(2), allFigures);
  } catch (error) {
    process.stderr.write(`${messageOf(error)}\n${usage}\n`);
    process.exitCode = 2;
    return undefined;
  }
}

async function runOrTell(wanted: Wanted): Promise<number> {
  try {
    return await run(wanted, interrupt.signal);
  } catch (error) {
    process.stderr.write(`${messageOf(error)}\n`);
    return interrupt.signal.aborted ? 130 : 1;
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
