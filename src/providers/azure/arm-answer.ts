// Reads answers of ARM: their bodies within limits, and the headers that say what comes next.
import type { Readable } from 'node:stream';
import { boundedBody, jsonIn, secondsIn, UnreadableAnswer } from '../../network/bounded-body.ts';
import type { Clock } from '../../runtime/clock.ts';
import { CallError } from '../gate/cloud-call.ts';
import { type ArmAnswer, type ArmRequest, list, text } from './arm-api.ts';
import { type Json, valueAt } from '../../runtime/json.ts';
import { CountingReader } from './counting-reader.ts';
import { remainingIn, throttledLimit } from './limit-headers.ts';

export interface AnswerHead {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | undefined>>;
}

export interface RawAnswer extends AnswerHead {
  readonly body: Readable | undefined;
}

/** Limits for a page, for the answer to a change, and for an error, in bytes. */
const maxPageBytes = 64 * 2 ** 20;
const maxChangeBytes = 4 * 2 ** 20;
const maxRefusalBytes = 2 ** 16;
/** In seconds. */
const maxRetryAfter = 3600;

/** Rejects with a CallError for a refusal, and with an UnreadableAnswer for an answer that is not from ARM. */
export async function readAnswer(request: ArmRequest, raw: RawAnswer, clock: Clock): Promise<ArmAnswer> {
  const { headers, body } = raw;
  const isRefused = !isSuccess(raw);
  const max = isRefused ? maxRefusalBytes : request.method === 'GET' ? maxPageBytes : maxChangeBytes;
  const reader = new BodyReader(request, raw);
  try {
    if (body !== undefined)
      for await (const piece of boundedBody(body, { max, clock, headers })) reader.take(piece);
  } catch (error) {
    // The status of a refusal is enough.
    if (!isRefused) throw error;
  }
  return reader.end();
}

/** Takes the body of an answer in pieces. */
export class BodyReader {
  readonly #request: ArmRequest;
  readonly #head: AnswerHead;
  readonly #counting: CountingReader | undefined;
  readonly #pieces: Uint8Array[] = [];

  constructor(request: ArmRequest, head: AnswerHead) {
    this.#request = request;
    this.#head = head;
    const { counted } = request;
    this.#counting = counted === undefined ? undefined : new CountingReader(counted);
  }

  take(piece: Uint8Array): void {
    if (this.#counting === undefined) this.#pieces.push(piece);
    else this.#counting.take(piece);
  }

  /** Throws as `readAnswer` rejects. */
  end(): ArmAnswer {
    const content = this.#counting?.end() ?? Buffer.concat(this.#pieces).toString('utf8');
    if (!isSuccess(this.#head)) throw refusalOf(this.#request, this.#head, content);
    const { status, headers } = this.#head;
    const body = parsed(content);
    const progressUrl = headers['azure-asyncoperation'] ?? headers['location'];
    return {
      status,
      requestId: headers['x-ms-request-id'],
      body,
      count: this.#counting?.count,
      etag: text(body, 'etag') ?? headers['etag'],
      progressUrl: progressUrl === '' ? undefined : progressUrl,
      retryAfter: secondsIn(headers['retry-after'], maxRetryAfter),
      remaining: remainingIn(headers),
    };
  }
}

function isSuccess({ status }: AnswerHead): boolean {
  return status >= 200 && status < 300;
}

function parsed(content: string): Json {
  if (content.trim() === '') return null;
  try {
    return JSON.parse(content) as Json;
  } catch (cause) {
    throw new UnreadableAnswer('the answer is no JSON', { cause });
  }
}

function refusalOf(request: ArmRequest, { status, headers }: AnswerHead, content: string): CallError {
  const { code, message } = errorIn(content, status);
  return new CallError({
    // A 5xx may come after the change was made.
    result: status < 500 ? 'refused' : 'noAnswer',
    code,
    message,
    status,
    requestId: headers['x-ms-request-id'],
    retryAfter: secondsIn(headers['retry-after'], maxRetryAfter),
    ...(status === 429 && {
      limit: throttledLimit(request, { code, target: targetIn(content), remaining: remainingIn(headers) }),
    }),
  });
}

/** The error that a body holds, as an answer or as the end of a long operation. */
export function errorIn(
  content: string | Json,
  status: number,
): { readonly code: string; readonly message: string } {
  const body = typeof content === 'string' ? jsonOrNull(content) : content;
  const error = errorOf(body);
  const code = text(error, 'code') ?? `HTTP${status}`;
  const message = text(error, 'message') ?? `the answer has status ${status}`;
  const [detail] = list(error, 'details') ?? [];
  const detailedCode = text(detail, 'code');
  if (detailedCode === undefined || !generalCodes.has(code)) return { code, message };
  return { code: detailedCode, message: `${message} ${text(detail, 'message') ?? ''}`.trim() };
}

/** The subject of a refusal, as its provider names it. */
function targetIn(content: string): string | undefined {
  const [detail] = list(errorOf(jsonOrNull(content)), 'details') ?? [];
  return text(detail, 'target');
}

function errorOf(body: Json): Json {
  return text(body, 'error', 'code') === undefined ? body : (valueAt(body, 'error') ?? null);
}

/** Codes that hide the one that says what is wrong. */
const generalCodes: ReadonlySet<string> = new Set([
  'OperationNotAllowed',
  'BadRequest',
  'Conflict',
  'RetryableError',
]);

function jsonOrNull(content: string): Json {
  return (jsonIn(content) ?? null) as Json;
}

/** Whether a URL leads to the same service, or to a region of it. */
export function isSameService(url: string, endpoint: string): boolean {
  const [target, own] = [URL.parse(url), URL.parse(endpoint)];
  if (target === null || own === null || target.protocol !== own.protocol) return false;
  return target.host === own.host || target.host.endsWith(`.${own.host}`);
}
