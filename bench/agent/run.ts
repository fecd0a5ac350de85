// npm run bench:agent [-- --only NAME]... [-- --calls N] [-- --attachments N] [-- --idle-minutes N] [-- --list]
// Measures the agent of a node and the CNI plugin beside host-local, which is built from its module.
import { execFile, spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { parseArgs, promisify } from 'node:util';
import { root } from '../../rig/child-process.ts';
import { endedBySignals } from '../../rig/ended-by-signals.ts';
import { systemClock as clock } from '../../src/runtime/system-clock.ts';
import { cniPrograms } from '../../test/cni/rig/cni-programs.ts';
import { buildProgram, isThere, pathOfProgram } from '../../test/support/go-program.ts';
import { figuresCalled, isGood } from '../figure.ts';
import { measureAll } from '../measurement.ts';
import { renderTable } from '../report/table.ts';
import { Scenarios } from '../scenarios/scenarios.ts';
import { agentFigures, type AgentSizes } from './agent-figures.ts';

const execute = promisify(execFile);
const say = (line: string): void => void process.stdout.write(`${line}\n`);

interface Wanted extends Omit<AgentSizes, 'hostLocal'> {
  readonly only: readonly string[];
  readonly isList: boolean;
}

function wantedOf(args: readonly string[]): Wanted {
  const { values } = parseArgs({
    args: [...args],
    options: {
      only: { type: 'string', multiple: true, default: [] },
      calls: { type: 'string', default: '1000' },
      attachments: { type: 'string', default: '10000' },
      'idle-minutes': { type: 'string', default: '10' },
      list: { type: 'boolean', default: false },
    },
  });
  const [calls, attachments] = [Number(values.calls), Number(values.attachments)];
  const idleMinutes = Number(values['idle-minutes']);
  if (![calls, attachments].every((count) => Number.isInteger(count) && count >= 30 && count <= 50_000))
    throw new Error('--calls and --attachments take a whole number from 30 to 50000');
  if (!(idleMinutes > 0)) throw new Error('--idle-minutes takes a number above 0');
  return { calls, attachments, idleMinutes, only: values.only, isList: values.list };
}

async function hostLocalProgram(signal: AbortSignal): Promise<string> {
  const program = cniPrograms.find(({ name }) => name === 'host-local');
  if (program === undefined) throw new Error('nobody pins host-local');
  const path = await pathOfProgram(program, process.env);
  if (!(await isThere(path))) await buildProgram(program, path, { environment: process.env, signal, say });
  return path;
}

async function main(args: readonly string[], signal: AbortSignal): Promise<number> {
  const { only, isList, ...sizes } = wantedOf(args);
  if (isList) {
    for (const { name, title } of agentFigures({ ...sizes, hostLocal: '' }))
      say(`${name.padEnd(20)} ${title}`);
    return 0;
  }
  const figures = figuresCalled(only, agentFigures({ ...sizes, hostLocal: await hostLocalProgram(signal) }));
  await execute(process.execPath, [join(root, 'build.mjs')], { cwd: root, signal });
  if (spawnSync(process.execPath, [join(root, 'plugin/build.mjs')], { stdio: 'inherit' }).status !== 0)
    return 1;
  const harness = { clock, signal, say, profiles: undefined };
  const outcomes = await measureAll(figures, new Scenarios(harness), harness);
  for (const line of ['', ...renderTable(outcomes), '']) say(line);
  const good = outcomes.filter(isGood).length;
  say(`${good} passed, ${outcomes.length - good} failed`);
  return good === outcomes.length ? 0 : 1;
}

await endedBySignals((signal) => main(process.argv.slice(2), signal));
