// Time, as everything in Headwater sees it. Nothing else reads a clock or sets a timer, so that a whole cluster can
// run in virtual time.

export interface Clock {
  /** Milliseconds since the epoch as this machine believes; it may jump. For texts, signatures and leases. */
  wall(): number;
  /** Milliseconds since an arbitrary start; never goes back. For durations and deadlines. */
  monotonic(): number;
  /**
   * Calls `action` once, `ms` from now at the earliest. The returned function cancels it and may be called twice. Actions
   * due within the same millisecond may run in any order. Of those that are due at once, pressing ones go first where the
   * machine is busy.
   */
  schedule(ms: number, action: () => void, isPressing?: boolean): () => void;
}

/** Waits `ms`; rejects with the signal's reason as soon as `signal` is aborted. */
export function sleep(clock: Clock, ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) {
      reject(signal.reason as Error);
      return;
    }
    const abandon = (): void => {
      cancel();
      reject(signal.reason as Error);
    };
    const cancel = clock.schedule(ms, () => {
      signal.removeEventListener('abort', abandon);
      resolve();
    });
    signal.addEventListener('abort', abandon, { once: true });
  });
}
