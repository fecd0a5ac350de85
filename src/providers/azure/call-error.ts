// Converts errors of the SDK and of Node.js to ours.
import { untrustedCertificate } from '../../network/certificate-trouble.ts';
import { CallError } from '../gate/cloud-call.ts';

/** Codes for a request that never left. */
const notSent: ReadonlySet<unknown> = new Set([
  ...untrustedCertificate,
  'ECONNREFUSED',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
  'NotConnected',
  'ProxyError',
]);

/** Names of errors of credentials: no request leaves without a token. */
const ofCredentials: ReadonlySet<unknown> = new Set([
  'AuthenticationError',
  'AggregateAuthenticationError',
  'AuthenticationRequiredError',
  'CredentialUnavailableError',
]);

interface SdkError {
  readonly name?: unknown;
  readonly message?: unknown;
  readonly code?: unknown;
}

/** `isSent`: whether the request was handed to a connection. */
export function callErrorOf(error: unknown, { isSent }: { readonly isSent: boolean }): CallError {
  if (error instanceof CallError) return error;
  const { name, message, code } = (error ?? {}) as SdkError;
  const mayHaveLeft = isSent && !ofCredentials.has(name) && !notSent.has(code);
  const text = typeof message === 'string' ? message : String(error);
  return new CallError(
    { result: mayHaveLeft ? 'noAnswer' : 'notSent', code: codeOf(error), message: firstLine(text) },
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
