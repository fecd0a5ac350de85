import { describe, expect, test } from '@jest/globals';
import { BodyGatherer } from '../../../src/network/body-gatherer.ts';

const pieceLength = 100_000;

/** Bytes that each differ from their neighbors. */
function answer(length: number): Buffer {
  const bytes = Buffer.alloc(length);
  for (let index = 0; index < length; index++) bytes[index] = (index * 31 + (index >> 8)) % 251;
  return bytes;
}

async function* pieces(bytes: Buffer): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.byteLength; at += pieceLength) {
    await Promise.resolve();
    yield bytes.subarray(at, at + pieceLength);
  }
}

describe('a gathered body', () => {
  test.each<[string, readonly number[]]>([
    ['that is empty', [0]],
    ['of one piece', [5]],
    ['that is as long as the one before', [900_000, 900_000]],
    ['that is a little longer', [900_000, 950_000]],
    ['that is much longer', [300_000, 2_000_000, 300_000]],
    ['that is shorter', [2_000_000, 300_000, 7]],
  ])('%s is gathered byte by byte', async (_, lengths) => {
    const gatherer = new BodyGatherer();

    for (const length of lengths) {
      const bytes = answer(length);
      expect((await gatherer.gather(pieces(bytes))).equals(bytes)).toBe(true);
    }
  });

  test('fails with the cause when it breaks off', async () => {
    async function* broken(): AsyncGenerator<Uint8Array> {
      yield await Promise.resolve(answer(10));
      throw new Error('cut');
    }

    await expect(new BodyGatherer().gather(broken())).rejects.toThrow('cut');
  });

  test('reuses the memory of one that was returned', async () => {
    const gatherer = new BodyGatherer();
    await gatherer.gather(pieces(answer(900_000)));
    const first = await gatherer.gather(pieces(answer(900_000)));
    gatherer.recycle(first);

    const second = await gatherer.gather(pieces(answer(800_000)));

    expect(second.buffer).toBe(first.buffer);
    expect(second.equals(answer(800_000))).toBe(true);
  });

  test('leaves the memory of one alone that was not returned', async () => {
    const gatherer = new BodyGatherer();
    await gatherer.gather(pieces(answer(900_000)));
    const first = await gatherer.gather(pieces(answer(900_000)));
    const second = await gatherer.gather(pieces(answer(800_000)));
    gatherer.recycle(second);

    const third = await gatherer.gather(pieces(answer(700_000)));

    expect(first.equals(answer(900_000))).toBe(true);
    expect(third.buffer).toBe(second.buffer);
  });

  test('keeps its memory while it grows, until that is full', async () => {
    const gatherer = new BodyGatherer();
    const buffers: ArrayBufferLike[] = [];
    for (const length of [900_000, 910_000, 920_000, 930_000, 1_200_000]) {
      const bytes = await gatherer.gather(pieces(answer(length)));
      expect(bytes.equals(answer(length))).toBe(true);
      buffers.push(bytes.buffer);
      gatherer.recycle(bytes);
    }

    expect(new Set(buffers.slice(0, 2)).size).toBe(2);
    expect(new Set(buffers.slice(2, 4)).size).toBe(1);
    expect(buffers[4]).not.toBe(buffers[3]);
  });

  test('has memory of its own next to another one', async () => {
    const gatherer = new BodyGatherer();
    await gatherer.gather(pieces(answer(900_000)));
    gatherer.recycle(await gatherer.gather(pieces(answer(900_000))));
    const other = answer(890_000).reverse();

    const [one, another] = await Promise.all([
      gatherer.gather(pieces(answer(900_000))),
      gatherer.gather(pieces(other)),
    ]);

    expect(one.equals(answer(900_000))).toBe(true);
    expect(another.equals(other)).toBe(true);
  });
});
