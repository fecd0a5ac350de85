import { describe, expect, test } from '@jest/globals';
import {
  clientFrame,
  MessageReader,
  opcodes,
} from '../../../../src/kubernetes/port-forward/web-socket-frames.ts';

/** A frame of a server: not masked. */
function serverFrame(first: number, payload: Buffer): Buffer {
  const { length } = payload;
  const head = Buffer.alloc(length < 126 ? 2 : length < 65_536 ? 4 : 10);
  head[0] = first;
  head[1] = length < 126 ? length : length < 65_536 ? 126 : 127;
  if (head.length === 4) head.writeUInt16BE(length, 2);
  if (head.length === 10) head.writeBigUInt64BE(BigInt(length), 2);
  return Buffer.concat([head, payload]);
}

const bytesOf = (length: number): Buffer => Buffer.from(Array.from({ length }, (_, index) => index % 251));
const bytesIn = (text: string): Buffer => Buffer.from(text);
const last = 0x80;

describe('a reader of messages', () => {
  test.each([0, 1, 125, 126, 65_535, 65_536, 200_000])('reads one of %d bytes', (length) => {
    const payload = bytesOf(length);

    expect([...new MessageReader().read(serverFrame(last | opcodes.binary, payload))]).toEqual([
      { opcode: opcodes.binary, payload },
    ]);
  });

  test('reads the same messages wherever the bytes are cut', () => {
    const bytes = Buffer.concat(
      [bytesOf(3), bytesOf(300), bytesOf(0)].map((payload) => serverFrame(last | opcodes.binary, payload)),
    );
    const whole = [...new MessageReader().read(bytes)];

    for (const size of [1, 2, 3, 7, 128]) {
      const reader = new MessageReader();
      const pieces = Array.from({ length: Math.ceil(bytes.length / size) }, (_, index) =>
        bytes.subarray(index * size, (index + 1) * size),
      );
      expect(pieces.flatMap((piece) => [...reader.read(piece)])).toEqual(whole);
    }
    expect(whole.map(({ payload }) => payload.length)).toEqual([3, 300, 0]);
  });

  test('joins the frames of a message, also around a ping', () => {
    const frames = [
      serverFrame(opcodes.binary, bytesIn('one ')),
      serverFrame(last | opcodes.ping, bytesIn('!')),
      serverFrame(opcodes.continued, bytesIn('two ')),
      serverFrame(last | opcodes.continued, bytesIn('three')),
      serverFrame(last | opcodes.close, Buffer.alloc(0)),
    ];

    const messages = [...new MessageReader().read(Buffer.concat(frames))];

    expect(messages.map(({ opcode, payload }) => [opcode, payload.toString()])).toEqual([
      [opcodes.ping, '!'],
      [opcodes.binary, 'one two three'],
      [opcodes.close, ''],
    ]);
  });
});

describe('a frame of a client', () => {
  test.each([0, 125, 126, 65_535, 65_536])('holds %d bytes, which its mask shows again', (length) => {
    const payload = bytesOf(length);

    const frame = clientFrame({ opcode: opcodes.binary, payload });

    const start = frame.length - length;
    const mask = frame.subarray(start - 4, start);
    expect(Buffer.from(frame.subarray(start).map((byte, index) => byte ^ (mask[index % 4] ?? 0)))).toEqual(
      payload,
    );
    expect(frame[0]).toBe(last | opcodes.binary);
    expect((frame[1] ?? 0) & last).toBe(last);
    const unmasked = Buffer.concat([frame.subarray(0, start - 4), payload]);
    unmasked[1] = (unmasked[1] ?? 0) & 0x7f;
    expect([...new MessageReader().read(unmasked)]).toEqual([{ opcode: opcodes.binary, payload }]);
  });
});
