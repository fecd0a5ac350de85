// Timeout of calls that take something away.

/** In ms. Such a call must end well within a lease. */
const longest = 5000;

/** Timeout of calls that take something away, in ms; `callTimeout` is that of other calls. */
export function fencedTimeoutOf(callTimeout: number): number {
  return Math.min(callTimeout, longest);
}
