// What `npm run trial -- ...` takes.
import { parseArgs } from 'node:util';
import type { Trial } from './trial.ts';

export interface Wanted {
  readonly nodes: number;
  readonly trials: readonly Trial[];
}

export const usage = `npm run trial -- [--nodes N] [--only NAME]... [--list]
  --nodes N    size of the fleet, from 60 to 4000; up to 200 all trials run side by side (2000)
  --only NAME  only this trial; may be given several times
  --list       names all trials and plays none
In parentheses: what holds if not given. Exit code 1: a trial failed; 2: the command line is not understood.`;

const fewest = 60;
const max = 4000;

/** Throws an Error that says what is wrong. */
export function readCommandLine(args: readonly string[], all: readonly Trial[]): Wanted | 'list' | 'help' {
  const { values } = parseArgs({
    args: [...args],
    options: {
      nodes: { type: 'string', default: '2000' },
      only: { type: 'string', multiple: true },
      list: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) return 'help';
  if (values.list) return 'list';
  const nodes = Number(values.nodes);
  if (!Number.isInteger(nodes) || nodes < fewest || nodes > max)
    throw new Error(`--nodes is ${values.nodes}; a whole number from ${fewest} to ${max} is accepted`);
  const names = values.only;
  return { nodes, trials: names === undefined ? all : names.map((name) => trialCalled(name, all)) };
}

function trialCalled(name: string, all: readonly Trial[]): Trial {
  const found = all.find((trial) => trial.name === name);
  if (found !== undefined) return found;
  throw new Error(`there is no trial ${name}; there are: ${all.map((trial) => trial.name).join(', ')}`);
}
