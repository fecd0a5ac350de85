import { describe, expect, test } from '@jest/globals';
import { BodyGatherer } from '../../../../src/providers/aws/gathered-body.ts';

const pieceLength = 100_000;

/** Bytes that are all others than their neighbours. */
function answer(length: number): Buffer {
  return Buffer.from(Array.from({ length }, (_, index) => (index * 31 + (index >> 8)) % 251));
}

async function* pieces(bytes: Buffer): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.byteLength; at += pieceLength) {
    await Promise.resolve();
    yield bytes.subarray(at, at + pieceLength);
  }
}

describe('a body', () => {
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

  test('that breaks off rejects with what broke it', async () => {
    async function* broken(): AsyncGenerator<Uint8Array> {
      yield await Promise.resolve(answer(10));
      throw new Error('cut');
    }

    await expect(new BodyGatherer().gather(broken())).rejects.toThrow('cut');
  });

  test('takes the place of one that was given back, as long as it fits', async () => {
    const gatherer = new BodyGatherer();
    await gatherer.gather(pieces(answer(900_000)));
    const first = await gatherer.gather(pieces(answer(900_000)));
    gatherer.giveBack(first);

    const second = await gatherer.gather(pieces(answer(800_000)));

    expect(second.buffer).toBe(first.buffer);
    expect(second.equals(answer(800_000))).toBe(true);
  });

  test('leaves one alone that was not given back', async () => {
    const gatherer = new BodyGatherer();
    await gatherer.gather(pieces(answer(900_000)));
    const first = await gatherer.gather(pieces(answer(900_000)));
    const second = await gatherer.gather(pieces(answer(800_000)));
    gatherer.giveBack(second);

    const third = await gatherer.gather(pieces(answer(700_000)));

    expect(first.equals(answer(900_000))).toBe(true);
    expect(third.buffer).toBe(second.buffer);
  });
});
