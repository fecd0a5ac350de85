// The only file that knows the reasons of Compute Engine's errors
// (https://cloud.google.com/compute/docs/troubleshooting/troubleshooting-general).
import { sanitizedAnswer } from '../../network/untrusted-text.ts';
import type { CloudFailure, CloudFailureKind } from '../contract/cloud-failure.ts';
import { insideCloud, isOfInside, mapOf } from '../contract/failure-tables.ts';
import { type CallError, ownCodes } from '../gate/cloud-call.ts';

const kinds = mapOf<CloudFailureKind>({
  rateLimitExceeded: 'throttled',
  userRateLimitExceeded: 'throttled',
  quotaExceeded: 'limitReached',
  notFound: 'instanceGone',
  conditionNotMet: 'conflict',
  resourceInUseByAnotherResource: 'conflict',
  resourceNotReady: 'conflict',
  CredentialsError: 'notAuthorized',
  ...ownCodes,
});

/** The words of the token service for an assertion whose time is wrong by its clock. */
const ofClock = /\bin a reasonable timeframe\b/;

const byStatus: ReadonlyMap<number | undefined, CloudFailureKind> = new Map([
  [400, 'invalid'],
  [401, 'notAuthorized'],
  [403, 'notAuthorized'],
  [404, 'instanceGone'],
  [409, 'conflict'],
  [412, 'conflict'],
  [429, 'throttled'],
]);

export function failureOf(action: string, error: CallError): CloudFailure {
  const { code, message, status } = error;
  const kind = kindOf(error);
  const permission = kind === 'notAuthorized' && status === 403 ? permissionIn(action, message) : undefined;
  const isUnknownIdentity = status === 401 || code === 'CredentialsError';
  const isInside = kind === 'unreachable' && isOfInside(error);
  return {
    kind,
    action,
    ...sanitizedAnswer(error, message),
    ...(permission !== undefined && { permission }),
    ...(isInside && { remedy: insideCloud }),
    ...(isUnknownIdentity && { credentials: ofClock.test(message) ? 'clock' : 'invalid', about: 'action' }),
  };
}

function kindOf({ code, status, result }: CallError): CloudFailureKind {
  const known = kinds.get(code) ?? byStatus.get(status);
  if (known !== undefined) return known;
  return result === 'refused' ? 'unknown' : 'unreachable';
}

/** The message names the permission; the call's own is a good guess otherwise. */
function permissionIn(action: string, message: string): string {
  const [, named] = /Required '([a-zA-Z.]{1,80})' permission/.exec(message) ?? [];
  return named ?? `compute.${action}`;
}
