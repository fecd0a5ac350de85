// The port for time. Nothing else reads a clock or sets a timer, so that a whole cluster can run in virtual time.

export interface Clock {
  /** Ms since the epoch by this machine; it may jump. For text, signatures and leases. */
  wall(): number;
  /** Ms since an arbitrary start; never decreases. For durations and deadlines. */
  monotonic(): number;
  /**
   * Calls `action` once, in `ms` or later. The returned function cancels it and is idempotent. Actions due within the
   * same millisecond may run in any order. On a busy machine, pressing actions run first among those due at once.
   */
  schedule(ms: number, action: () => void, isPressing?: boolean): () => void;
}

/** Waits `ms`; rejects with the signal's reason as soon as `signal` aborts. */
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
