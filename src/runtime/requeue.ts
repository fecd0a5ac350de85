// When a part of a loop has to run again although nothing happens until then. Each part returns that; the loop keeps the
// least in its one timer.
import type { Clock } from './clock.ts';

export interface Requeue {
  /** In ms; 0: at once; undefined: not before something happens. */
  readonly requeueAfter?: number | undefined;
}

/** Until the first of these monotonic times that lies ahead of `now`. */
export function requeueAt(times: readonly number[], now: number): Requeue {
  let next = Infinity;
  for (const time of times) if (time > now) next = Math.min(next, time);
  return next < Infinity ? { requeueAfter: next - now } : {};
}

/** The least wait of all parts. */
export function leastOf(parts: readonly Requeue[]): Requeue {
  let least = Infinity;
  for (const { requeueAfter = Infinity } of parts) least = Math.min(least, requeueAfter);
  return least < Infinity ? { requeueAfter: least } : {};
}

/** The timer of a loop: when a part of it takes its next step although nothing happens. */
export class RequeueTimer {
  readonly #clock: Clock;
  readonly #wake: () => void;
  #next: { readonly due: number; readonly cancel: () => void } | undefined;

  constructor(clock: Clock, wake: () => void) {
    this.#clock = clock;
    this.#wake = wake;
  }

  /** Wakes then, or earlier if that was asked for before. */
  set({ requeueAfter = Infinity }: Requeue, now: number): void {
    const due = now + requeueAfter;
    if (due >= (this.#next?.due ?? Infinity)) return;
    this.#next?.cancel();
    this.#next = { due, cancel: this.#clock.schedule(requeueAfter, () => this.#fire()) };
  }

  cancel(): void {
    this.#next?.cancel();
    this.#next = undefined;
  }

  #fire(): void {
    this.#next = undefined;
    this.#wake();
  }
}
