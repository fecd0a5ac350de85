// Reads answers of the RPC protocol: JSON within limits, and errors with their code.
import type { IncomingAnswer } from '../../network/http-sender.ts';
import { boundedText, jsonIn, UnreadableAnswer } from '../../network/bounded-body.ts';
import type { Clock } from '../../runtime/clock.ts';
import { CallError, type Denial } from '../gate/cloud-call.ts';

/** Limits for an answer and for an error, in bytes. A page of 500 interfaces with 50 addresses each has 5 MB. */
const maxAnswerBytes = 32 * 2 ** 20;
const maxRefusalBytes = 2 ** 16;

type Headers = Readonly<Record<string, string | undefined>>;

/** Rejects with a CallError for a refusal, and with an UnreadableAnswer for an answer that is not from the cloud. */
export async function readBody(
  { statusCode: status, headers, body }: IncomingAnswer,
  clock: Clock,
): Promise<unknown> {
  const isRefused = status < 200 || status >= 300;
  const max = isRefused ? maxRefusalBytes : maxAnswerBytes;
  const content = await boundedText(body, { max, clock, headers }).catch((error: unknown) => {
    // The status of a refusal is enough.
    if (isRefused) return '';
    throw error;
  });
  return understood({ status, headers, content });
}

/** Parses the body of an answer. Throws as `readBody` rejects. */
export function understood({
  status,
  headers,
  content,
}: {
  readonly status: number;
  readonly headers: Headers;
  readonly content: string;
}): unknown {
  const body = jsonIn(content);
  if (status < 200 || status >= 300) throw refusalOf(status, headers, body);
  const problem = problemOf(status, body);
  if (problem !== undefined) throw new UnreadableAnswer(problem);
  return body;
}

/** Some calls answer with a request id and nothing else, so its absence must not pass for success. */
function problemOf(status: number, body: unknown): string | undefined {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return 'the answer is no JSON object';
  const { Code, RequestId } = body as Readonly<Record<string, unknown>>;
  // No success of ECS or VPC has this member.
  if (typeof Code === 'string') return `the answer has status ${status} and the error ${Code}`;
  return typeof RequestId === 'string' && RequestId !== '' ? undefined : 'the answer has no RequestId';
}

function refusalOf(status: number, headers: Headers, body: unknown): CallError {
  const { Code, Message, RequestId, AccessDeniedDetail } = (body ?? {}) as Readonly<Record<string, unknown>>;
  const code = typeof Code === 'string' && Code !== '' ? Code : `HTTP${status}`;
  return new CallError({
    result: isOpen(status, code) ? 'noAnswer' : 'refused',
    code,
    message: typeof Message === 'string' ? Message : `the answer has status ${status}`,
    status,
    requestId: typeof RequestId === 'string' ? RequestId : undefined,
    retryAfter: waitIn(headers['x-acs-retry-after']),
    denial: denialIn(AccessDeniedDetail),
  });
}

/** https://www.alibabacloud.com/help/en/ram/support/how-to-troubleshoot-an-access-denied-error */
function denialIn(detail: unknown): Denial | undefined {
  if (typeof detail !== 'object' || detail === null) return undefined;
  const said = detail as Readonly<Record<string, unknown>>;
  const textOf = (name: string): string | undefined => {
    const value = said[name];
    return typeof value === 'string' && value !== '' ? value : undefined;
  };
  return {
    permission: textOf('AuthAction'),
    policy: textOf('PolicyType'),
    isExplicit: textOf('NoPermissionType') === 'ExplicitDeny',
    encoded: textOf('EncodedDiagnosticMessage'),
  };
}

/**
 * Whether the change may have been made although it was refused: by a request that something in between sent twice, or
 * before a 5xx other than a throttle.
 */
function isOpen(status: number, code: string): boolean {
  return code === 'SignatureNonceUsed' || (status >= 500 && !code.startsWith('Throttling'));
}

/** In ms, as the header has it. */
function waitIn(header: string | undefined): number | undefined {
  return header !== undefined && /^\d{1,7}$/.test(header) ? Math.min(Number(header), 300_000) : undefined;
}
