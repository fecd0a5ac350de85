// When a part of a loop has to run again although nothing happens until then. Each part returns that; the loop keeps the
// least in its one timer.

export interface Requeue {
  /** In ms; 0: at once; undefined: not before something happens. */
  readonly requeueAfter?: number | undefined;
}

/** Until the first of these monotonic times that lies ahead of `now`. */
export function requeueAt(times: readonly number[], now: number): Requeue {
  const next = Math.min(...times.filter((time) => time > now));
  return next < Infinity ? { requeueAfter: next - now } : {};
}

/** The least wait of all parts. */
export function leastOf(parts: readonly Requeue[]): Requeue {
  const least = Math.min(...parts.map(({ requeueAfter = Infinity }) => requeueAfter));
  return least < Infinity ? { requeueAfter: least } : {};
}
