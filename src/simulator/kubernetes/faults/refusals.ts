// Refusals of faults: the usual reason and message of each HTTP code.
import type { Failure } from '../api-status.ts';

const usual: Readonly<Record<number, { readonly reason: string; readonly message: string }>> = {
  409: { reason: 'Conflict', message: 'the server reported a conflict' },
  429: {
    reason: 'TooManyRequests',
    message: 'the server has received too many requests and has asked us to try again later',
  },
  500: {
    reason: 'InternalError',
    message: 'an error on the server has prevented the request from succeeding',
  },
  503: { reason: 'ServiceUnavailable', message: 'the server is currently unable to handle the request' },
};

export interface RefusalDetails {
  readonly message?: string;
  readonly reason?: string;
  readonly retryAfterSeconds?: number;
}

/** The refusal for an HTTP code. */
export function refusalWith(code: number, given: RefusalDetails = {}): Failure {
  const { reason = 'Unknown', message = `the server answered ${code}` } = usual[code] ?? {};
  const failure = { code, reason: given.reason ?? reason, message: given.message ?? message };
  const { retryAfterSeconds } = given;
  return retryAfterSeconds === undefined ? failure : { ...failure, details: { retryAfterSeconds } };
}
