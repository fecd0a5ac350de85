// What `npm run bench -- ...` takes.
import { parseArgs } from 'node:util';
import type { Figure, Settings } from './figure.ts';

export interface Wanted {
  readonly settings: Settings;
  readonly figures: readonly Figure[];
  /** Where the JSON goes. */
  readonly json: string | undefined;
  /** Where CPU profiles go. */
  readonly profiles: string | undefined;
}

export const usage = `npm run bench -- [--only NAME]... [--nodes N] [--scale N] [--small] [--json FILE] [--profile DIR] [--list]
  --only NAME  only this figure; may be given several times
  --nodes N    size of the fleet (1000)
  --scale N    multiplies the limits of the cloud, and divides its latencies, for scaled figures (10)
  --small      100 nodes, counts only, no times: what holds on any machine
  --json FILE  writes the figures there as JSON as well
  --profile DIR  leaves a CPU profile of each controller there; times are then not those of the table
  --list       names all figures`;

const fullSize = 1000;
const smallSize = 100;
const fullScale = 10;

/** Throws an Error that says what is wrong. */
export function readCommandLine(args: readonly string[], all: readonly Figure[]): Wanted | 'list' {
  const { values } = parseArgs({
    args: [...args],
    options: {
      only: { type: 'string', multiple: true },
      nodes: { type: 'string' },
      scale: { type: 'string' },
      small: { type: 'boolean', default: false },
      json: { type: 'string' },
      profile: { type: 'string' },
      list: { type: 'boolean', default: false },
    },
  });
  if (values.list) return 'list';
  const isSmall = values.small;
  const nodes = wholeNumber('nodes', values.nodes) ?? (isSmall ? smallSize : fullSize);
  const scale = wholeNumber('scale', values.scale) ?? (isSmall ? 1 : fullScale);
  const figures = values.only === undefined ? all : values.only.map((name) => figureCalled(name, all));
  return {
    settings: { nodes, isSmall, scale },
    figures: isSmall ? figures.filter(({ inSmallForm }) => inSmallForm) : figures,
    json: values.json,
    profiles: values.profile,
  };
}

function wholeNumber(name: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const value = Number(text);
  if (Number.isInteger(value) && value > 0) return value;
  throw new Error(`--${name} is ${text}; a whole number above 0 is accepted`);
}

function figureCalled(name: string, all: readonly Figure[]): Figure {
  const found = all.find((figure) => figure.name === name);
  if (found !== undefined) return found;
  throw new Error(`there is no figure ${name}; there are: ${all.map((figure) => figure.name).join(', ')}`);
}
