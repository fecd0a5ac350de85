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
  const text = typeof message === 'string' ? message : String(error);
  const isUnknown = !isSent || ofCredentials.has(name);
  const known = typeof code === 'string' ? code : undefined;
  const what = ofCredentials.has(name) ? (name as string) : (known ?? (isUnknown ? 'NoToken' : 'NoAnswer'));
  return new CallError(
    {
      result: isUnknown || notSent.has(code) ? 'notSent' : 'noAnswer',
      code: what,
      message: firstLine(text),
    },
    { cause: error },
  );
}

/** Errors of a chain of credentials list every attempt, and Entra adds traces with times. */
function firstLine(text: string): string {
  return text
    .replace(/\s*(Trace ID|Correlation ID|Timestamp): \S+( \S+Z)?/g, '')
    .replace(/\s+/g, ' ')
    .trim();
}
