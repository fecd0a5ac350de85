// Reads answers of Compute Engine: JSON within limits, errors with their reason, and the members of what may have any shape.
import type { IncomingAnswer } from '../../network/http-sender.ts';
import { answeredJson, isRefusal, secondsIn, UnreadableAnswer } from '../../network/bounded-body.ts';
import type { Clock } from '../../runtime/clock.ts';
import { isList, isObject, type JsonObject, textAt, valueAt } from '../../runtime/json.ts';
import { CallError } from '../gate/cloud-call.ts';

/** Limit for an answer, in bytes. An instance has metadata of 512 KiB at most. */
const maxAnswerBytes = 4 * 2 ** 20;

/** Rejects with a CallError for a refusal, and with an UnreadableAnswer for an answer that is not from the cloud. */
export async function readBody(answer: IncomingAnswer, clock: Clock): Promise<JsonObject> {
  const content = await answeredJson(answer, maxAnswerBytes, clock);
  if (isRefusal(answer)) throw refusalOf(answer, content);
  if (!isObject(content)) throw new UnreadableAnswer('the answer is no JSON object');
  return content;
}

function refusalOf({ statusCode: status, headers }: IncomingAnswer, content: unknown): CallError {
  const [first] = objectsIn(valueAt(content, 'error', 'errors')) ?? [];
  return new CallError({
    // A 5xx may come after the change was made.
    result: status < 500 ? 'refused' : 'noAnswer',
    code: textAt(first, 'reason') || `HTTP${status}`,
    message: textAt(content, 'error', 'message') || `the answer has status ${status}`,
    status,
    retryAfter: secondsIn(headers['retry-after'], 300),
  });
}

/** Undefined if it is no list of objects. */
export function objectsIn(value: unknown): readonly JsonObject[] | undefined {
  return isList(value) && value.every(isObject) ? value : undefined;
}
