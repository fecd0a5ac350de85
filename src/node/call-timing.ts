// How long calls to the cloud may take, and their effects to show.

export interface CallTiming {
  /** How long a call's answer is waited for, in ms. */
  readonly callTimeout: number;
  /** How long the cloud may take to show a change, in ms. */
  readonly consistencyWindow: number;
}

/** How long a call whose answer got lost may yet take effect unseen, in ms. */
export function openFor({ callTimeout, consistencyWindow }: CallTiming): number {
  return callTimeout + consistencyWindow;
}
