// The only timer of a node: when a part of it takes its next step although nothing happens.
import type { Clock } from '../../runtime/clock.ts';
import type { Requeue } from '../../runtime/requeue.ts';

export class WakeTimer {
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
