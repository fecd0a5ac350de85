// Reads and writes the frames of a WebSocket, as a client. Pure but for the mask.
//
// https://www.rfc-editor.org/rfc/rfc6455#section-5
import { randomBytes } from 'node:crypto';

export const opcodes = { continued: 0, binary: 2, close: 8, ping: 9, pong: 10 } as const;

export interface Message {
  readonly opcode: number;
  readonly payload: Buffer;
}

/** A whole message, in one frame. */
export function clientFrame({ opcode, payload }: Message): Buffer {
  const mask = randomBytes(4);
  const length = payload.length;
  const head = Buffer.alloc(length < 126 ? 2 : length < 65_536 ? 4 : 10);
  head[0] = 0x80 | opcode;
  head[1] = 0x80 | Math.min(length, head.length === 4 ? 126 : head.length === 10 ? 127 : length);
  if (head.length === 4) head.writeUInt16BE(length, 2);
  if (head.length === 10) head.writeBigUInt64BE(BigInt(length), 2);
  return Buffer.concat([head, mask, payload.map((byte, index) => byte ^ (mask[index % 4] ?? 0))]);
}

/** Cuts what a server sends into messages. */
export class MessageReader {
  #rest: Buffer = Buffer.alloc(0);
  /** Frames of a message that goes on. */
  #parts: Buffer[] = [];
  #opcode: number = opcodes.binary;

  /** The messages that end in these bytes. */
  *read(bytes: Buffer): Generator<Message> {
    this.#rest = Buffer.concat([this.#rest, bytes]);
    for (let frame = firstFrame(this.#rest); frame !== undefined; frame = firstFrame(this.#rest)) {
      this.#rest = this.#rest.subarray(frame.end);
      const message = this.#messageWith(frame);
      if (message !== undefined) yield message;
    }
  }

  /** Control frames may come between the frames of a message. */
  #messageWith({ opcode, isLast, payload }: Frame): Message | undefined {
    if (opcode >= opcodes.close) return { opcode, payload };
    if (opcode !== opcodes.continued) [this.#opcode, this.#parts] = [opcode, []];
    this.#parts.push(payload);
    if (!isLast) return undefined;
    const whole = Buffer.concat(this.#parts);
    this.#parts = [];
    return { opcode: this.#opcode, payload: whole };
  }
}

interface Frame extends Message {
  readonly isLast: boolean;
  /** Where the next one begins. */
  readonly end: number;
}

function firstFrame(bytes: Buffer): Frame | undefined {
  const [first = 0, second = 0] = bytes;
  const short = second & 127;
  const start = short === 126 ? 4 : short === 127 ? 10 : 2;
  if (bytes.length < start) return undefined;
  const length =
    short === 126 ? bytes.readUInt16BE(2) : short === 127 ? Number(bytes.readBigUInt64BE(2)) : short;
  const end = start + length;
  if (bytes.length < end) return undefined;
  return { opcode: first & 15, isLast: (first & 0x80) !== 0, payload: bytes.subarray(start, end), end };
}
