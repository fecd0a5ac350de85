// When no block is written, to any object: the API server asks for a pause or denies every write, or no write could end
// within our own lease.
import type { Clock } from '../../runtime/clock.ts';

/** After all writes were denied, in ms. */
const deniedFor = 30_000;

export class WritePauses {
  readonly #clock: Clock;
  readonly #onEnd: () => void;
  /** In monotonic ms. */
  #notBefore = 0;
  /** Uids of objects whose writes were denied since one was not. */
  readonly #denied = new Set<string>();
  /** In monotonic ms. */
  #deniedUntil = 0;
  #cancelPause: (() => void) | undefined;
  #cancelDenial: (() => void) | undefined;
  #isStopped = false;

  /** `onEnd`: called when a pause may be over. */
  constructor(clock: Clock, onEnd: () => void) {
    this.#clock = clock;
    this.#onEnd = onEnd;
  }

  get isPausing(): boolean {
    return this.#clock.monotonic() < Math.max(this.#notBefore, this.#deniedUntil);
  }

  holdBack(ms: number): void {
    if (ms <= 0) return;
    const now = this.#clock.monotonic();
    this.#notBefore = Math.max(this.#notBefore, now + ms);
    this.#cancelPause?.();
    this.#cancelPause = this.#endIn(this.#notBefore - now);
  }

  /** A policy may deny writes of one object. If those of two are denied in a row, Headwater lacks the permission. */
  noteDenial(uid: string): void {
    if (this.#denied.add(uid).size < 2) return;
    this.#deniedUntil = this.#clock.monotonic() + deniedFor;
    this.#cancelDenial?.();
    this.#cancelDenial = this.#endIn(deniedFor);
  }

  noteSuccess(): void {
    this.#denied.clear();
    this.#deniedUntil = 0;
  }

  stop(): void {
    this.#isStopped = true;
    this.#cancelPause?.();
    this.#cancelDenial?.();
  }

  #endIn(ms: number): (() => void) | undefined {
    return this.#isStopped ? undefined : this.#clock.schedule(ms, this.#onEnd);
  }
}
