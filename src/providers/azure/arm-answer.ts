// Reads answers of ARM: their bodies within limits, and the headers that say what comes next.
import type { IncomingMessage } from 'node:http';
import { boundedBody, checkHeaders, UnreadableAnswer } from '../../network/bounded-body.ts';
import type { Clock } from '../../runtime/clock.ts';
import { CallError } from '../gate/cloud-call.ts';
import { type ArmAnswer, type ArmRequest, type Json, list, text } from './arm-api.ts';
import { CountingReader } from './counted-json.ts';
import { throttledLimit } from './limit-headers.ts';

export interface RawAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly body: IncomingMessage | undefined;
}

/** Twice a page of 1,000 interfaces with 50 addresses each, in bytes. */
const mostOfPage = 64 * 2 ** 20;
/** Limit for an error, in bytes. */
const mostOfRefusal = 2 ** 16;

/** Rejects with a CallError for a refusal, and with an UnreadableAnswer for an answer that is not from ARM. */
export async function readAnswer(request: ArmRequest, raw: RawAnswer, clock: Clock): Promise<ArmAnswer> {
  const { status, headers } = raw;
  if (status < 200 || status >= 300) throw await refusalOf(request, raw, clock);
  const { content, count } = await contentOf(request, raw, clock);
  const body = parsed(content);
  const progressUrl = headers['azure-asyncoperation'] ?? headers['location'];
  return {
    status,
    body,
    count,
    etag: text(body, 'etag') ?? headers['etag'],
    progressUrl: progressUrl === '' ? undefined : progressUrl,
    retryAfter: secondsIn(headers['retry-after']),
    remaining: remainingIn(headers),
  };
}

async function contentOf(
  { counted, method }: ArmRequest,
  { headers, body }: RawAnswer,
  clock: Clock,
): Promise<{ readonly content: string; readonly count?: number | undefined }> {
  if (body === undefined) return { content: '' };
  const most = method === 'GET' ? mostOfPage : 2 ** 22;
  const pieces = bounded(headers, body, { most, clock });
  if (counted === undefined) return { content: await joined(pieces) };
  const reader = new CountingReader(counted);
  for await (const piece of pieces) reader.take(piece);
  return { content: reader.end(), count: reader.count };
}

function bounded(
  headers: RawAnswer['headers'],
  body: IncomingMessage,
  bounds: { readonly most: number; readonly clock: Clock },
): AsyncIterable<Uint8Array> {
  try {
    checkHeaders(headers, bounds.most);
  } catch (error) {
    body.destroy();
    throw error;
  }
  return boundedBody(body, bounds);
}

async function joined(pieces: AsyncIterable<Uint8Array>): Promise<string> {
  const all: Uint8Array[] = [];
  for await (const piece of pieces) all.push(piece);
  return Buffer.concat(all).toString('utf8');
}

function parsed(content: string): Json {
  if (content.trim() === '') return null;
  try {
    return JSON.parse(content) as Json;
  } catch (cause) {
    throw new UnreadableAnswer('the answer is no JSON', { cause });
  }
}

async function refusalOf(
  request: ArmRequest,
  { status, headers, body }: RawAnswer,
  clock: Clock,
): Promise<CallError> {
  const content =
    body === undefined
      ? ''
      : await joined(bounded(headers, body, { most: mostOfRefusal, clock })).catch(() => '');
  const { code, message } = errorIn(content, status);
  return new CallError({
    // A 5xx may come after the change was made.
    result: status < 500 ? 'refused' : 'noAnswer',
    code,
    message,
    status,
    requestId: headers['x-ms-request-id'],
    retryAfter: secondsIn(headers['retry-after']),
    ...(status === 429 && {
      limit: throttledLimit(request, { code, remaining: remainingIn(headers) }),
    }),
  });
}

/** The error that a body holds, as an answer or as the end of a long operation. */
export function errorIn(
  content: string | Json,
  status: number,
): { readonly code: string; readonly message: string } {
  let body: Json = null;
  try {
    body = typeof content === 'string' ? (JSON.parse(content) as Json) : content;
  } catch {
    // An error page of something in between.
  }
  const inner = text(body, 'error', 'code') === undefined ? [] : ['error'];
  const code = text(body, ...inner, 'code') ?? `HTTP${status}`;
  const message = text(body, ...inner, 'message') ?? `the answer has status ${status}`;
  const [detail] = list(body, ...inner, 'details') ?? [];
  const detailed = text(detail, 'code');
  // A general code hides the one that says what is wrong.
  const isGeneral = detailed !== undefined && generalCodes.has(code);
  return { code: isGeneral ? detailed : code, message: text(detail, 'message') && isGeneral ? `${message} ${text(detail, 'message')}` : message };
}

const generalCodes: ReadonlySet<string> = new Set(['OperationNotAllowed', 'BadRequest', 'Conflict', 'InternalExecutionError']);

/** In ms. */
function secondsIn(header: string | undefined): number | undefined {
  return header !== undefined && /^\d{1,6}$/.test(header) ? Math.min(Number(header), 3600) * 1000 : undefined;
}

const prefix = 'x-ms-ratelimit-remaining-';

function remainingIn(headers: RawAnswer['headers']): ReadonlyMap<string, number> {
  return new Map(
    Object.entries(headers).flatMap(([name, value]) =>
      name.startsWith(prefix) && value !== undefined && /^\d{1,9}$/.test(value)
        ? [[name.slice(prefix.length), Number(value)] as const]
        : [],
    ),
  );
}

/** Whether a URL leads to the same service, or to a region of it. */
export function isSameService(url: string, endpoint: string): boolean {
  const [target, own] = [URL.parse(url), URL.parse(endpoint)];
  if (target === null || own === null || target.protocol !== own.protocol) return false;
  return target.host === own.host || target.host.endsWith(`.${own.host}`);
}
