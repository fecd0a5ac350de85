import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { CountingReader } from '../../../../src/providers/azure/counting-reader.ts';

function read(text: string, size: number) {
  const reader = new CountingReader('list');
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += size) reader.take(bytes.subarray(at, at + size));
  return { count: reader.count, kept: JSON.parse(reader.end()) as unknown };
}

describe('a counted list', () => {
  test.each([
    ['{"a":{"list":[{"id":"x,\\"]"},{"id":[1,2]}]},"b":1}', 2, { a: { list: [] }, b: 1 }],
    ['{"list" : [ 1 , 2,3 ] }', 3, { list: [] }],
    ['{"list":[]}', 0, { list: [] }],
    ['{"list":null,"x":"list"}', undefined, { list: null, x: 'list' }],
    ['{"b":["list",[1]]}', undefined, { b: ['list', [1]] }],
    ['{"lists":[1],"alist":[2]}', undefined, { lists: [1], alist: [2] }],
  ])('in %s has %s members', (text, count, kept) => {
    for (const size of [1, 2, 7, 1000]) expect(read(text, size)).toEqual({ count, kept });
  });

  test('changes nothing else, whatever the answer and its pieces', () => {
    fc.assert(
      fc.property(
        fc.jsonValue(),
        fc.array(fc.jsonValue()),
        fc.integer({ min: 1, max: 9 }),
        (other, list, size) => {
          const text = JSON.stringify({ other: { inner: other }, list, after: 'list' });
          fc.pre(!JSON.stringify(other).includes('"list"'));

          expect(read(text, size)).toEqual({
            count: list.length,
            kept: { ...(JSON.parse(text) as object), list: [] },
          });
        },
      ),
    );
  });
});
