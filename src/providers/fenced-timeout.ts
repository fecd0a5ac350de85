// How long the answer to a call that takes something away is waited for.

/** In ms: such a call must end well within a lease. */
const longest = 5000;

/** Of calls that take something away, in ms, where other calls are waited for as long as `callTimeout`. */
export function fencedTimeoutOf(callTimeout: number): number {
  return Math.min(callTimeout, longest);
}
