import { describe, expect, test } from '@jest/globals';
import { LineStream } from '../../../../../src/simulator/kubernetes/reading/line-stream.ts';

async function collected(stream: LineStream): Promise<readonly string[]> {
  const pieces: string[] = [];
  for await (const piece of stream) pieces.push(piece);
  return pieces;
}

describe('LineStream', () => {
  test('hands over in one piece what was pushed while nobody read', async () => {
    const stream = new LineStream(() => undefined);
    stream.push('a\n');
    stream.push('b\n');
    stream.end();
    stream.push('too late\n');

    expect(await collected(stream)).toEqual(['a\nb\n']);
  });

  test('hands over each line at once while a reader waits', async () => {
    const stream = new LineStream(() => undefined);
    const reader = stream[Symbol.asyncIterator]();
    const first = reader.next();

    stream.push('a\n');

    expect(await first).toEqual({ done: false, value: 'a\n' });
    const second = reader.next();
    stream.end();
    expect(await second).toMatchObject({ done: true });
  });

  test('breaks off after the lines pushed before a failure', async () => {
    const stream = new LineStream(() => undefined);
    stream.push('a');
    stream.fail(new Error('cut'));
    const pieces: string[] = [];

    const reading = (async () => {
      for await (const piece of stream) pieces.push(piece);
    })();

    await expect(reading).rejects.toThrow('cut');
    expect(pieces).toEqual(['a']);
  });

  test('closes once, at its end or when its reader stops', async () => {
    let closed = 0;
    const ended = new LineStream(() => closed++);
    const left = new LineStream(() => closed++);
    left.push('a');

    ended.end();
    ended.end();
    for await (const piece of left) if (piece === 'a') break;

    expect(closed).toBe(2);
    expect(left.isOpen).toBe(false);
  });

  test('counts lines that nobody has read', () => {
    const stream = new LineStream(() => undefined);

    stream.push('a');
    stream.push('b');

    expect(stream.backlog).toBe(2);
  });
});
