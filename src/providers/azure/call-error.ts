// Converts errors of the SDK and of Node.js to ours.
import { CallError, messageOf } from '../gate/cloud-call.ts';

/** Names of errors of credentials: no request leaves without a token. */
const ofCredentials: ReadonlySet<unknown> = new Set([
  'AuthenticationError',
  'AggregateAuthenticationError',
  'AuthenticationRequiredError',
  'CredentialUnavailableError',
]);

interface SdkError {
  readonly name?: unknown;
  readonly code?: unknown;
}

/** `mayHaveLeft`: whether the request may have arrived. */
export function callErrorOf(error: unknown, mayHaveLeft: boolean): CallError {
  if (error instanceof CallError) return error;
  const { name } = (error ?? {}) as SdkError;
  const result = mayHaveLeft && !ofCredentials.has(name) ? 'noAnswer' : 'notSent';
  return new CallError(
    { result, code: codeOf(error), message: firstLine(messageOf(error)) },
    { cause: error },
  );
}

function codeOf(error: unknown): string {
  const { name, code } = (error ?? {}) as SdkError;
  if (ofCredentials.has(name)) return String(name);
  return typeof code === 'string' ? code : 'NoAnswer';
}

/** Errors of a chain of credentials list every attempt, and Entra adds traces with times. */
function firstLine(text: string): string {
  return text
    .replace(/\s*(Trace ID|Correlation ID|Timestamp): \S+( \S+Z)?/g, '')
    .replace(/\s+/g, ' ')
    .trim();
}
