// What the tables of codes of all clouds share: how a table is looked up, and what a person can do about trouble that each
// cloud has.

/** A code comes from outside and may be the name of a member of every object: an object is no table for it. */
export function mapOf<T>(rows: Readonly<Record<string, T>>): ReadonlyMap<string, T> {
  return new Map(Object.entries(rows));
}

/** For a code that says that the time of a request is too far from the cloud's. */
export const setClock =
  'set the clock of the machine that Headwater runs on: the cloud refuses the time in its requests, and the credentials may be right';

/** For an error inside the cloud. */
export const insideCloud =
  'the cloud failed inside, so Headwater retries; if it lasts, give the request id to its support';
