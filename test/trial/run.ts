// npm run trial: runs a large fleet through faults under which absence must take nothing away. The EC2 model, the Kubernetes
// API and each shipped controller have their own processes; the agents run in this one. The checks read the model's state
// and what the agents saw, and never trust the controller's own reports.
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { root } from '../../rig/child-process.ts';
import { systemClock as clock } from '../../src/runtime/system-clock.ts';
import { readCommandLine, usage, type Wanted } from './command-line.ts';
import { complaintsOf, count, lineOf } from './findings.ts';
import { withTrialCluster } from './rig/trial-cluster.ts';
import { halfVisibleRole } from './scenarios/half-visible-role.ts';
import { heldAndKilled } from './scenarios/held-and-killed.ts';
import { scaleDown } from './scenarios/scale-down.ts';
import { wrongRegion } from './scenarios/wrong-region.ts';
import { zoneEnd } from './scenarios/zone-end.ts';
import type { Trial } from './trial.ts';

const allTrials: readonly Trial[] = [wrongRegion, halfVisibleRole, scaleDown, zoneEnd, heldAndKilled];

/** Up to so many nodes it is waiting that takes the time, and trials do not slow each other down. */
const smallFleet = 200;

const say = (text: string): void => void process.stdout.write(`${text}\n`);

/** Says what came of it; resolves to whether it passed. */
async function played({ name, terminatedVisibleMs, play }: Trial, nodes: number): Promise<boolean> {
  const { signal } = interrupt;
  const plan = { nodes, terminatedVisibleMs };
  try {
    const findings = await withTrialCluster(plan, { clock, signal }, play);
    say(lineOf(name, findings));
    return complaintsOf(findings).length === 0;
  } catch (error) {
    signal.throwIfAborted();
    say(`FAILED  ${name}\n        ${messageOf(error)}`);
    return false;
  }
}

async function playAll({ nodes, trials }: Wanted): Promise<number> {
  say('building the bundle');
  await promisify(execFile)(process.execPath, [join(root, 'build.mjs')], {
    cwd: root,
    signal: interrupt.signal,
  });
  say(`${trials.length} trials with ${count(nodes)} nodes each`);
  const start = clock.monotonic();
  const lanes = nodes <= smallFleet ? trials.length : 1;
  const left = trials.values();
  const passed: boolean[] = [];
  const lane = async (): Promise<void> => {
    for (const trial of left) passed.push(await played(trial, nodes));
  };
  await Promise.all(Array.from({ length: lanes }, lane));
  const good = passed.filter(Boolean).length;
  say(`after ${((clock.monotonic() - start) / 1000).toFixed(0)} s`);
  say(`${good} passed, ${passed.length - good} failed`);
  return good === trials.length ? 0 : 1;
}

// Each child process ends with this one.
process.setMaxListeners(0);
const interrupt = new AbortController();
for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.on(name, () => interrupt.abort(new Error(`interrupted by ${name}`)));
}
process.exitCode = await run();

async function run(): Promise<number> {
  const wanted = readOrTell();
  if (wanted === undefined) return 2;
  if (wanted === 'help') say(usage);
  else if (wanted === 'list') allTrials.forEach(({ name, title }) => say(`${name.padEnd(20)} ${title}`));
  else return playOrTell(wanted);
  return 0;
}

function readOrTell(): ReturnType<typeof readCommandLine> | undefined {
  try {
    return readCommandLine(process.argv.slice(2), allTrials);
  } catch (error) {
    process.stderr.write(`${messageOf(error)}\n${usage}\n`);
    return undefined;
  }
}

async function playOrTell(wanted: Wanted): Promise<number> {
  try {
    return await playAll(wanted);
  } catch (error) {
    process.stderr.write(`${messageOf(error)}\n`);
    return interrupt.signal.aborted ? 130 : 1;
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
