// Converts errors of Node.js and of the vendor's credentials to ours.
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

/** `isSent`: whether the request was handed to a connection. */
export function callErrorOf(error: unknown, { isSent }: { readonly isSent: boolean }): CallError {
  if (error instanceof CallError) return error;
  const { code } = (error ?? {}) as { readonly code?: unknown };
  return new CallError(
    {
      result: isSent && !notSent.has(code) ? 'noAnswer' : 'notSent',
      code: typeof code === 'string' ? code : 'NoAnswer',
      message: messageOf(error),
    },
    { cause: error },
  );
}

/** No request leaves without credentials. */
export function credentialsError(error: unknown): CallError {
  if (error instanceof CallError) return error;
  const message = messageOf(error).replace(/\s+/g, ' ').trim();
  return new CallError({ result: 'notSent', code: 'CredentialsError', message }, { cause: error });
}

function messageOf(error: unknown): string {
  const { message } = (error ?? {}) as { readonly message?: unknown };
  return typeof message === 'string' ? message : String(error);
}
