// How long calls to the cloud may take and when their effects are visible.

export interface CallTiming {
  /** How long to wait for the answer to a call, in ms. */
  readonly callTimeout: number;
  /** How long the cloud may take to show a change, in ms. */
  readonly consistencyWindow: number;
}

/** How long a call whose answer was lost may still take effect unseen, in ms. */
export function mayTakeEffectFor({ callTimeout, consistencyWindow }: CallTiming): number {
  return callTimeout + consistencyWindow;
}

/** In ms. A call that takes something away must end well within a lease. */
const maxFencedTimeout = 5000;

/** Timeout of calls that take something away, in ms; `callTimeout` is that of other calls. */
export function fencedTimeoutOf(callTimeout: number): number {
  return Math.min(callTimeout, maxFencedTimeout);
}
