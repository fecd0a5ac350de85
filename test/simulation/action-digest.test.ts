import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from '@jest/globals';
import {
  type ActionDigest,
  ActionRecorder,
  firstDifference,
  readActionDigests,
  writeActionDigests,
} from './action-digest.ts';

const folder = mkdtempSync(join(tmpdir(), 'action-digest-'));
afterAll(() => rmSync(folder, { recursive: true }));

function digestOf(...actions: readonly (readonly [at: number, text: string])[]): ActionDigest {
  const recorder = new ActionRecorder(false);
  for (const [at, text] of actions) recorder.add(at, text);
  return recorder.end();
}

const before = digestOf([1, 'a'], [2, 'b'], [2, 'c'], [3, 'd']);

test.each([
  ['equal actions do not differ', digestOf([1, 'a'], [2, 'b'], [2, 'c'], [3, 'd']), undefined],
  [
    'actions in another order within one instant do not differ',
    digestOf([1, 'a'], [2, 'c'], [2, 'b'], [3, 'd']),
    undefined,
  ],
  ['another action differs', digestOf([1, 'a'], [2, 'b'], [2, 'c'], [3, 'x']), 3],
  ['another time differs', digestOf([1, 'a'], [2, 'b'], [2.5, 'c'], [3, 'd']), 2],
  ['a missing action differs', digestOf([1, 'a'], [2, 'b'], [2, 'c']), 3],
  ['an additional action differs', digestOf([1, 'a'], [2, 'b'], [2, 'c'], [3, 'd'], [4, 'e']), 4],
])('a comparison of action digests: %s', (_, after, index) => {
  expect(firstDifference(before, after)).toBe(index);
});

test('action digests are read as they were written', () => {
  const file = join(folder, 'digests');
  const all = new Map([
    ['r:1', before],
    ['r:2', digestOf()],
  ]);

  writeActionDigests(file, all);

  expect(readActionDigests(file)).toEqual(all);
});

test('a file without action digests is refused', () => {
  const file = join(folder, 'other');
  writeFileSync(file, 'hello\n');

  expect(() => readActionDigests(file)).toThrow(`${file}:1 is not a seed`);
});
