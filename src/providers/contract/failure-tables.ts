// The base of the tables of codes of all clouds: how a table is looked up, and the remedy for trouble that each
// cloud has.
import type { CloudFailure } from './cloud-failure.ts';

/** A code comes from outside and may be the name of a member of every object: an object is no table for it. */
export function mapOf<T>(rows: Readonly<Record<string, T>>): ReadonlyMap<string, T> {
  return new Map(Object.entries(rows));
}

/** For a code that says that the time of a request is too far from the cloud's. */
export const setClock =
  'set the clock of the machine that Headwater runs on: the cloud refuses the time in its requests, and the credentials may be right';

/** The words of a message about an account with which nothing can be done, whatever its code is. */
export const ofLostAccount =
  /\byour (?:[a-z]+ ){0,2}account (?:is|was|has been|has)(?: currently| an| been)* (?:blocked|closed|deactivated|disabled|frozen|locked|suspended|terminated)\b/i;

/** The same of an account that owes money. */
export const ofUnpaidAccount =
  /\byour (?:[a-z]+ ){0,2}account (?:is|was|has|does)\b[^.]{0,40}\b(?:in arrears|past due|overdue|outstanding payments?|not have (?:enough|sufficient) balance)/i;

/** For an error inside the cloud. */
export const insideCloud =
  'the cloud failed inside, so Headwater retries; if it lasts, give the request id to its support';

/** Whether an answer comes from the inside of the cloud. A gateway in between answers without a code of the cloud. */
export function isOfInside({
  code,
  status = 0,
}: {
  readonly code: string;
  readonly status: number | undefined;
}): boolean {
  return status >= 500 && !/^HTTP50[234]$/.test(code);
}

/** How much is kept of what only a cloud can decode of a denial, in characters. */
export const maxEncodedDenial = 8192;

type Required = 'kind' | 'action' | 'code' | 'message' | 'requestId';

/** A failure with what is known of it besides. */
export function failureWith(
  failure: Pick<CloudFailure, Required>,
  known: { readonly [Member in keyof Omit<CloudFailure, Required>]: CloudFailure[Member] | undefined },
): CloudFailure {
  const members = Object.entries(known).filter(([, value]) => value !== undefined);
  return { ...failure, ...Object.fromEntries(members) };
}
