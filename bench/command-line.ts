// What `npm run bench -- ...` takes.
import { parseArgs } from 'node:util';
import type { CloudName } from './clouds/bench-cloud.ts';
import { cloudNames, cloudOf } from './clouds/clouds.ts';
import { type CloudFigure, type Figure, figuresCalled, figuresOn, type Settings } from './figure.ts';

export interface Wanted {
  readonly kind: 'measurement';
  readonly settings: Settings;
  readonly figures: readonly Figure[];
  /** Where the JSON goes. */
  readonly json: string | undefined;
  /** Where CPU profiles go. */
  readonly profiles: string | undefined;
}

/** The figures of a cloud, or those of its small form, to be named. */
export interface WantedList {
  readonly kind: 'list';
  readonly figures: readonly Figure[];
}

export const usage = `npm run bench -- [--cloud NAME] [--only NAME]... [--nodes N] [--scale N] [--small] [--json FILE] [--profile DIR] [--list]
  --cloud NAME one of: ${cloudNames.join(', ')} (aws)
  --only NAME  only this figure; may be given several times
  --nodes N    size of the fleet (1000)
  --scale N    multiplies the limits of the cloud, and divides its latencies: of all figures that are not unscaled (10 on AWS, 1 elsewhere)
  --small      100 nodes, counts only, no times: what holds on any machine
  --json FILE  writes the figures there as JSON as well
  --profile DIR  leaves a CPU profile of each controller there; times are then not those of the table
  --list       names the figures: with --small those of that form`;

const fullSize = 1000;
const smallSize = 100;

/** Throws an Error that says what is wrong. */
export function readCommandLine(args: readonly string[], all: readonly CloudFigure[]): Wanted | WantedList {
  const { values } = parseArgs({
    args: [...args],
    options: {
      cloud: { type: 'string', default: 'aws' },
      only: { type: 'string', multiple: true, default: [] },
      nodes: { type: 'string' },
      scale: { type: 'string' },
      small: { type: 'boolean', default: false },
      json: { type: 'string' },
      profile: { type: 'string' },
      list: { type: 'boolean', default: false },
    },
  });
  const cloud = cloudCalled(values.cloud);
  const isSmall = values.small;
  const nodes = wholeNumber('nodes', values.nodes) ?? (isSmall ? smallSize : fullSize);
  const usualScale = cloudOf({ cloud }).scale;
  const scale = wholeNumber('scale', values.scale) ?? (isSmall ? usualScale.small : usualScale.full);
  const settings = { cloud, nodes, isSmall, scale };
  const known = figuresOn(settings, all);
  if (values.list) return { kind: 'list', figures: known };
  return {
    kind: 'measurement',
    settings,
    figures: figuresCalled(values.only, known),
    json: values.json,
    profiles: values.profile,
  };
}

function cloudCalled(name: string): CloudName {
  const found = cloudNames.find((each) => each === name);
  if (found !== undefined) return found;
  throw new Error(`--cloud is ${name}; there are: ${cloudNames.join(', ')}`);
}

function wholeNumber(name: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const value = Number(text);
  if (Number.isInteger(value) && value > 0) return value;
  throw new Error(`--${name} is ${text}; a whole number above 0 is accepted`);
}
