// Reads answers of Compute Engine: JSON within limits, errors with their reason, and the members of what may have any shape.
import type { IncomingAnswer } from '../../network/http-sender.ts';
import { boundedText, jsonIn, secondsIn, UnreadableAnswer } from '../../network/bounded-body.ts';
import type { Clock } from '../../runtime/clock.ts';
import { CallError } from '../gate/cloud-call.ts';

/** Limits for an answer and for an error, in bytes. An instance has metadata of 512 KiB at most. */
const maxAnswerBytes = 4 * 2 ** 20;
const maxRefusalBytes = 2 ** 16;

/** Rejects with a CallError for a refusal, and with an UnreadableAnswer for an answer that is not from the cloud. */
export async function readBody({ statusCode, headers, body }: IncomingAnswer, clock: Clock): Promise<object> {
  const isRefused = statusCode < 200 || statusCode >= 300;
  const max = isRefused ? maxRefusalBytes : maxAnswerBytes;
  const text = await boundedText(body, { max, clock, headers }).catch((error: unknown) => {
    // The status of a refusal is enough.
    if (isRefused) return '';
    throw error;
  });
  const content = jsonIn(text);
  if (isRefused) throw refusalOf(statusCode, headers['retry-after'], content);
  if (typeof content !== 'object' || content === null || Array.isArray(content))
    throw new UnreadableAnswer('the answer is no JSON object');
  return content;
}

function refusalOf(status: number, retryAfter: string | undefined, content: unknown): CallError {
  const error = shownObject(shownObject(content)['error']);
  const [first = {}] = shownList(error['errors']) ?? [];
  return new CallError({
    // A 5xx may come after the change was made.
    result: status < 500 ? 'refused' : 'noAnswer',
    code: firstText(first['reason']) ?? `HTTP${status}`,
    message: firstText(error['message']) ?? `the answer has status ${status}`,
    status,
    retryAfter: secondsIn(retryAfter, 300),
  });
}

export type Shown = Readonly<Record<string, unknown>>;

/** Without any member if it is no object. */
export function shownObject(value: unknown): Shown {
  return typeof value === 'object' && value !== null ? (value as Shown) : {};
}

/** The objects of a list; undefined if it is no list of objects. */
export function shownList(value: unknown): readonly Shown[] | undefined {
  if (!Array.isArray(value)) return undefined;
  const items: readonly unknown[] = value;
  const isEach = items.every((item) => typeof item === 'object' && item !== null);
  return isEach ? items.map(shownObject) : undefined;
}

/** The first of `values` that is a text, and not empty. */
export function firstText(...values: readonly unknown[]): string | undefined {
  return values.find((value) => typeof value === 'string' && value !== '') as string | undefined;
}
