// Reads answer bodies within limits of size and time. Rejects a body that is compressed, too long, too slow
// or truncated before it is parsed, and closes its connection.
import type { Readable } from 'node:stream';
import type { Clock } from '../runtime/clock.ts';

/** The answer is incomplete or not from the cloud. It proves nothing: neither what exists nor what was done. */
export class UnreadableAnswer extends Error {
  /** A cloud's `errors.ts` recognizes it by this code. */
  readonly code = 'UnreadableAnswer';
}

export interface Bounds {
  /** In bytes. */
  readonly max: number;
  readonly clock: Clock;
  /** Those of the answer may show that its body cannot be read. */
  readonly headers?: Headers | undefined;
}

type Headers = Readonly<Record<string, string | undefined>>;

/** Time allowed for a body, in ms, and the extra time per received byte: 512 KiB/s is fast enough. */
const patience = 3000;
const patiencePerByte = 1000 / (512 * 1024);

/** Throws an UnreadableAnswer if the headers show that the body cannot be read. */
function checkHeaders(headers: Headers, max: number): void {
  const encoding = headers['content-encoding'] ?? 'identity';
  // Headwater requests no compression, and a compressed body can expand to any length.
  if (encoding.toLowerCase() !== 'identity') throw new UnreadableAnswer(`the answer is packed: ${encoding}`);
  const length = headers['content-length'];
  if (length !== undefined && Number(length) > max) throw tooLong(max);
}

/** The chunks of a body as they arrive. Rejects with an UnreadableAnswer; closes a body that is not read to its end. */
export async function* boundedBody(
  body: Readable,
  { max, clock, headers = {} }: Bounds,
): AsyncGenerator<Uint8Array> {
  const startedAt = clock.monotonic();
  let length = 0;
  let cancel = (): void => undefined;
  const watch = (): void => {
    const left = patience + length * patiencePerByte - (clock.monotonic() - startedAt);
    if (left > 0) cancel = clock.schedule(left, watch);
    else body.destroy(new UnreadableAnswer('the answer comes too slowly'));
  };
  try {
    checkHeaders(headers, max);
    watch();
    for await (const piece of body as AsyncIterable<Uint8Array>) {
      length += piece.byteLength;
      if (length > max) throw tooLong(max);
      yield piece;
    }
  } catch (error) {
    if (error instanceof UnreadableAnswer) throw error;
    throw new UnreadableAnswer(`the answer is cut off: ${(error as Error).message}`, {
      cause: error,
    });
  } finally {
    cancel();
    body.destroy();
  }
}

/** The same as one text. */
export async function boundedText(body: Readable, bounds: Bounds): Promise<string> {
  const pieces: Uint8Array[] = [];
  for await (const piece of boundedBody(body, bounds)) pieces.push(piece);
  return Buffer.concat(pieces).toString('utf8');
}

/** Limit for a refusal, in bytes. */
const maxRefusalBytes = 2 ** 16;

/**
 * The JSON that an answer with an HTTP status holds; undefined if it holds none. The status of a refusal is enough, so what
 * cannot be read of one is left out. Rejects with an UnreadableAnswer. `max`: limit for an answer, in bytes.
 */
export async function answeredJson(
  { statusCode, headers, body }: StatusAnswer,
  max: number,
  clock: Clock,
): Promise<unknown> {
  const isRefused = isRefusal({ statusCode });
  const bounds = { max: isRefused ? maxRefusalBytes : max, clock, headers };
  const text = await boundedText(body, bounds).catch((error: unknown) => {
    if (isRefused) return '';
    throw error;
  });
  return jsonIn(text);
}

export function isRefusal({ statusCode }: Pick<StatusAnswer, 'statusCode'>): boolean {
  return statusCode < 200 || statusCode >= 300;
}

interface StatusAnswer {
  readonly statusCode: number;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly body: Readable;
}

/** The value that a text holds; undefined if it is no JSON, such as an error page of something in between. */
export function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

/** The time that a header names in seconds, in ms; undefined if it names none. `max`: in seconds. */
export function secondsIn(header: string | undefined, max: number): number | undefined {
  return header !== undefined && /^\d{1,6}$/.test(header) ? Math.min(Number(header), max) * 1000 : undefined;
}

function tooLong(max: number): UnreadableAnswer {
  return new UnreadableAnswer(`the answer has more than ${max} bytes`);
}
