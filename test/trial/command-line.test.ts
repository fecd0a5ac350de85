import { expect, test } from '@jest/globals';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { readCommandLine } from './command-line.ts';
import type { Trial } from './trial.ts';

const play: Trial['play'] = () => Promise.reject(new Error('is not played here'));
const [one, two]: readonly [Trial, Trial] = [
  { name: 'one', title: 'one', terminatedVisibleMs: 0, play },
  { name: 'two', title: 'two', terminatedVisibleMs: 0, play },
];

test.each<[readonly string[], ReturnType<typeof readCommandLine>]>([
  [[], { nodes: 2000, trials: [one, two] }],
  [['--nodes', '60', '--only', 'two'], { nodes: 60, trials: [two] }],
  [['--list'], 'list'],
  [['--help', '--nodes', 'many'], 'help'],
])('the command line %j is parsed', (args, wanted) => {
  expect(readCommandLine(args, [one, two])).toEqual(wanted);
});

test.each<[readonly string[], string]>([
  [['--nodes', '59'], '--nodes is 59; a whole number from 60 to 4000 is accepted'],
  [['--nodes', '60.5'], '--nodes is 60.5; a whole number from 60 to 4000 is accepted'],
  [['--only', 'three'], 'there is no trial three; there are: one, two'],
  [['--more'], "Unknown option '--more'"],
  [['two'], "Unexpected argument 'two'"],
])('the command line %j is refused with what is accepted', (args, problem) => {
  expect(() => readCommandLine(args, [one, two])).toThrow(problem);
});

test.each<[readonly string[], number, RegExp]>([
  [
    ['--list'],
    0,
    /^wrong-region .*\nhalf-visible-role .*\nscale-down .*\nzone-end .*\nheld-and-killed .*\n$/,
  ],
  [['--help'], 0, /^npm run trial -- /],
  [['--only', 'nothing'], 2, /^$/],
])('the command ends %j with exit code %i', (args, status, said) => {
  const ended = spawnSync(process.execPath, [join(import.meta.dirname, 'run.ts'), ...args], {
    encoding: 'utf8',
  });

  expect(ended.status).toBe(status);
  expect(ended.stdout).toMatch(said);
});
