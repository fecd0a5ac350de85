// What `npm run bench -- ...` takes.
import { parseArgs } from 'node:util';
import type { Figure, Settings } from './figure.ts';

export interface Wanted {
  readonly settings: Settings;
  readonly figures: readonly Figure[];
  /** Where the JSON goes. */
  readonly json: string | undefined;
}

export const usage = `npm run bench -- [--only NAME]... [--nodes N] [--small] [--json FILE] [--list]
  --only NAME  only this figure; may be given several times
  --nodes N    size of the fleet (1000)
  --small      100 nodes, counts only, no times: what holds on any machine
  --json FILE  writes the figures there as JSON as well
  --list       names all figures`;

const fullSize = 1000;
const smallSize = 100;

/** Throws an Error that says what is wrong. */
export function readCommandLine(args: readonly string[], all: readonly Figure[]): Wanted | 'list' {
  const { values } = parseArgs({
    args: [...args],
    options: {
      only: { type: 'string', multiple: true },
      nodes: { type: 'string' },
      small: { type: 'boolean', default: false },
      json: { type: 'string' },
      list: { type: 'boolean', default: false },
    },
  });
  if (values.list) return 'list';
  const isSmall = values.small;
  const nodes = values.nodes === undefined ? (isSmall ? smallSize : fullSize) : Number(values.nodes);
  if (!Number.isInteger(nodes) || nodes < 1)
    throw new Error(`--nodes is ${values.nodes}; a whole number is accepted`);
  const figures = values.only === undefined ? all : values.only.map((name) => figureCalled(name, all));
  return {
    settings: { nodes, isSmall },
    figures: isSmall ? figures.filter(({ inSmallForm }) => inSmallForm) : figures,
    json: values.json,
  };
}

function figureCalled(name: string, all: readonly Figure[]): Figure {
  const found = all.find((figure) => figure.name === name);
  if (found !== undefined) return found;
  throw new Error(`there is no figure ${name}; there are: ${all.map((figure) => figure.name).join(', ')}`);
}
