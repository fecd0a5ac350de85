// npm run bench:blocks [-- --only NAME]... [-- --nodes N] [-- --idle-minutes N] [-- --list]
// Measures blocks to nodes on a real API server, beside Kubernetes' own node-ipam-controller, both built from their modules.
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { parseArgs, promisify } from 'node:util';
import { root } from '../../rig/child-process.ts';
import { endedBySignals } from '../../rig/ended-by-signals.ts';
import { systemClock as clock } from '../../src/runtime/system-clock.ts';
import { apiServerProgram, cidrSetProgram, nodeIpamProgram } from '../../test/e2e/rig/api-server-program.ts';
import { etcd, go, missingPieces, setpriv } from '../../test/e2e/rig/missing-pieces.ts';
import { buildProgram, type GoProgram, isThere, pathOfProgram } from '../../test/support/go-program.ts';
import { figuresCalled, isGood } from '../figure.ts';
import { measureAll } from '../measurement.ts';
import { renderTable } from '../report/table.ts';
import { Scenarios } from '../scenarios/scenarios.ts';
import { blockFigures, type BlockSettings, type SetSpeeds } from './block-figures.ts';
import { setSpeed } from './set-speed.ts';

const execute = promisify(execFile);
const say = (line: string): void => void process.stdout.write(`${line}\n`);

interface Wanted extends BlockSettings {
  readonly only: readonly string[];
  readonly isList: boolean;
}

function wantedOf(args: readonly string[]): Wanted {
  const { values } = parseArgs({
    args: [...args],
    options: {
      only: { type: 'string', multiple: true, default: [] },
      nodes: { type: 'string', default: '5000' },
      'idle-minutes': { type: 'string', default: '10' },
      list: { type: 'boolean', default: false },
    },
  });
  const [nodes, idleMinutes] = [Number(values.nodes), Number(values['idle-minutes'])];
  if (!Number.isInteger(nodes) || nodes < 1 || !(idleMinutes > 0))
    throw new Error('--nodes takes a whole number, and --idle-minutes a number above 0');
  return { nodes, idleMinutes, only: values.only, isList: values.list };
}

async function built(program: GoProgram, signal: AbortSignal): Promise<string> {
  const path = await pathOfProgram(program, process.env);
  if (!(await isThere(path))) await buildProgram(program, path, { environment: process.env, signal, say });
  return path;
}

async function main(args: readonly string[], signal: AbortSignal): Promise<number> {
  const { nodes, idleMinutes, only, isList } = wantedOf(args);
  let known: Promise<SetSpeeds> | undefined;
  const all = blockFigures({ nodes, idleMinutes }, () => (known ??= compareSets(signal)));
  if (isList) {
    for (const { name, title } of all) say(`${name.padEnd(24)} ${title}`);
    return 0;
  }
  const figures = figuresCalled(only, all);
  await prepare(signal);
  const harness = { clock, signal, say, profiles: undefined };
  const outcomes = await measureAll(figures, new Scenarios(harness), harness);
  for (const line of ['', ...renderTable(outcomes), '']) say(line);
  const good = outcomes.filter(isGood).length;
  say(`${good} passed, ${outcomes.length - good} failed`);
  return good === outcomes.length ? 0 : 1;
}

/** Builds what runs. */
async function prepare(signal: AbortSignal): Promise<void> {
  const missing = await missingPieces([etcd, setpriv, go]);
  if (missing.length > 0) throw new Error(['it cannot run:', ...missing].join('\n  '));
  process.env['HEADWATER_KUBE_APISERVER'] = await built(apiServerProgram, signal);
  process.env['HEADWATER_NODE_IPAM_CONTROLLER'] = await built(nodeIpamProgram, signal);
  await execute(process.execPath, [join(root, 'build.mjs')], { cwd: root, signal });
}

async function compareSets(signal: AbortSignal): Promise<SetSpeeds> {
  const { stdout } = await execute(await built(cidrSetProgram, signal), [], { signal });
  return { ours: setSpeed(clock), theirs: JSON.parse(stdout) as SetSpeeds['theirs'] };
}

await endedBySignals((signal) => main(process.argv.slice(2), signal));
