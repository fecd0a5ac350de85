import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from '@jest/globals';
import { type ActDigest, Acts, firstDifference, readActs, writeActs } from './action-digest.ts';

const folder = mkdtempSync(join(tmpdir(), 'acts-'));
afterAll(() => rmSync(folder, { recursive: true }));

function digestOf(...acts: readonly (readonly [at: number, text: string])[]): ActDigest {
  const all = new Acts(false);
  for (const [at, text] of acts) all.add(at, text);
  return all.end();
}

describe('what controllers did', () => {
  const before = digestOf([1, 'a'], [2, 'b'], [2, 'c'], [3, 'd']);

  test.each([
    ['the same acts are no difference', digestOf([1, 'a'], [2, 'b'], [2, 'c'], [3, 'd']), undefined],
    [
      'the order within one instant is no difference',
      digestOf([1, 'a'], [2, 'c'], [2, 'b'], [3, 'd']),
      undefined,
    ],
    ['another act is one', digestOf([1, 'a'], [2, 'b'], [2, 'c'], [3, 'x']), 3],
    ['another time is one', digestOf([1, 'a'], [2, 'b'], [2.5, 'c'], [3, 'd']), 2],
    ['an act less is one', digestOf([1, 'a'], [2, 'b'], [2, 'c']), 3],
    ['an act more is one', digestOf([1, 'a'], [2, 'b'], [2, 'c'], [3, 'd'], [4, 'e']), 4],
  ])('%s', (_, after, place) => {
    expect(firstDifference(before, after)).toBe(place);
  });

  test('is read as it was written', () => {
    const file = join(folder, 'acts');
    const all = new Map([
      ['r:1', before],
      ['r:2', digestOf()],
    ]);

    writeActs(file, all);

    expect(readActs(file)).toEqual(all);
  });

  test('is not read from another file', () => {
    const file = join(folder, 'other');
    writeFileSync(file, 'hello\n');

    expect(() => readActs(file)).toThrow(`${file}:1 is not a seed`);
  });
});
