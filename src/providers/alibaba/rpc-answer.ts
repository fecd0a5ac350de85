// Reads answers of the RPC protocol: JSON within limits, and errors with their code.
import type { IncomingAnswer } from '../../network/http-sender.ts';
import { answeredJson, isRefusal, UnreadableAnswer } from '../../network/bounded-body.ts';
import type { Clock } from '../../runtime/clock.ts';
import { isObject, textAt, valueAt } from '../../runtime/json.ts';
import { CallError, type Denial } from '../gate/cloud-call.ts';

/** Limit for an answer, in bytes. A page of 500 interfaces with 50 addresses each has 5 MB. */
const maxAnswerBytes = 32 * 2 ** 20;

/** Rejects with a CallError for a refusal, and with an UnreadableAnswer for an answer that is not from the cloud. */
export async function readBody(answer: IncomingAnswer, clock: Clock): Promise<unknown> {
  return understood(answer, await answeredJson(answer, maxAnswerBytes, clock));
}

type Head = Pick<IncomingAnswer, 'statusCode' | 'headers'>;

/** Returns the body of a success. Throws as `readBody` rejects. */
export function understood(answer: Head, content: unknown): unknown {
  if (isRefusal(answer)) throw refusalOf(answer, content);
  const problem = problemOf(answer.statusCode, content);
  if (problem !== undefined) throw new UnreadableAnswer(problem);
  return content;
}

/** Some calls answer with a request id and nothing else, so its absence must not pass for success. */
function problemOf(status: number, body: unknown): string | undefined {
  if (!isObject(body)) return 'the answer is no JSON object';
  // No success of ECS or VPC has this member.
  const code = textAt(body, 'Code');
  if (code !== undefined) return `the answer has status ${status} and the error ${code}`;
  return textAt(body, 'RequestId') ? undefined : 'the answer has no RequestId';
}

function refusalOf({ statusCode: status, headers }: Head, body: unknown): CallError {
  const code = textAt(body, 'Code') || `HTTP${status}`;
  return new CallError({
    result: isOpen(status, code) ? 'noAnswer' : 'refused',
    code,
    message: textAt(body, 'Message') ?? `the answer has status ${status}`,
    status,
    requestId: textAt(body, 'RequestId'),
    retryAfter: waitIn(headers['x-acs-retry-after']),
    denial: denialIn(valueAt(body, 'AccessDeniedDetail')),
  });
}

/** https://www.alibabacloud.com/help/en/ram/support/how-to-troubleshoot-an-access-denied-error */
function denialIn(detail: unknown): Denial | undefined {
  if (!isObject(detail)) return undefined;
  return {
    permission: textAt(detail, 'AuthAction') || undefined,
    policy: textAt(detail, 'PolicyType') || undefined,
    isExplicit: textAt(detail, 'NoPermissionType') === 'ExplicitDeny',
    encoded: textAt(detail, 'EncodedDiagnosticMessage') || undefined,
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
