import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { textLines } from '../../../../src/kubernetes/transport/text-lines.ts';
import type { StreamLine } from '../../../../src/kubernetes/transport/transport.ts';

async function linesOf(chunks: readonly (StreamLine | Uint8Array)[]): Promise<StreamLine[]> {
  const lines: StreamLine[] = [];
  for await (const line of textLines(chunks.values() as unknown as AsyncIterable<string>)) lines.push(line);
  return lines;
}

describe('textLines', () => {
  test.each<[readonly StreamLine[], readonly StreamLine[]]>([
    [['one\ntwo\n'], ['one', 'two']],
    [
      ['o', 'ne\nt', 'wo', '\n'],
      ['one', 'two'],
    ],
    [['one\r\n\n\ntwo\r\n'], ['one', 'two']],
    [['one\ncut sho'], ['one']],
    [[], []],
    [
      [{ n: 1 }, 'one\n', { n: 2 }, 'cut sho'],
      [{ n: 1 }, 'one', { n: 2 }],
    ],
  ])('splits %j into the lines %j', async (chunks, lines) => {
    expect(await linesOf(chunks)).toEqual(lines);
  });

  test('gives the same lines wherever the bytes are cut, even within a character', async () => {
    const text = 'größe\nдлина\n長さ\n';
    const bytes = new TextEncoder().encode(text);

    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat(bytes.length), { maxLength: 6 }), async (cuts) => {
        const places = [0, ...cuts.toSorted((a, b) => a - b), bytes.length];
        const chunks = places.slice(1).map((end, index) => bytes.subarray(places[index], end));

        expect(await linesOf(chunks)).toEqual(['größe', 'длина', '長さ']);
      }),
    );
  });
});
