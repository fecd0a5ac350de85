// Failures of a node's steps in a row: how long it is left alone because of them, and which of them is worth telling.
import type { CloudFailure } from '../providers/cloud-failure.ts';
import type { Clock } from '../scheduling/clock.ts';
import { type Backoff, backOff } from '../scheduling/exponential-backoff.ts';
import type { Random } from '../scheduling/random.ts';

const backoffPolicy = { base: 1000, cap: 60_000 };
/** How long an instance that is not running is left alone, in ms. */
const notRunningFor = 60_000;

export class Setbacks {
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #random: Random;
  #backoff: Backoff | undefined;
  #last: CloudFailure | undefined;
  #throttles = 0;

  constructor({ clock, random }: { readonly clock: Pick<Clock, 'monotonic'>; readonly random: Random }) {
    this.#clock = clock;
    this.#random = random;
  }

  get isPausing(): boolean {
    return this.#clock.monotonic() < (this.#backoff?.until ?? 0);
  }

  /** The failure that keeps the node from being served: one that somebody must act on, or the last of several. */
  get trouble(): CloudFailure | undefined {
    if (this.#last === undefined) return undefined;
    const inARow = (this.#backoff?.failures ?? 0) + this.#throttles;
    const isWorthTelling = needsSomebody.has(this.#last.kind) || inARow > 1;
    return isWorthTelling ? this.#last : undefined;
  }

  /** A step failed, by a bug where no failure is known. Returns how long to leave the node alone, in ms. */
  add(failure?: CloudFailure): number {
    const now = this.#clock.monotonic();
    this.#last = failure ?? this.#last;
    // Steps that were begun together and fail together are one failure.
    const known = this.isPausing ? this.#backoff : undefined;
    const backoff = known ?? backOff(this.#backoff, backoffPolicy, now, this.#random);
    const until = failure?.kind === 'instanceNotRunning' ? now + notRunningFor : backoff.until;
    this.#backoff = { ...backoff, until };
    return until - now;
  }

  /** A step was one call too many. That is no reason to leave the node alone: the call budget slows all calls. */
  addThrottle(failure: CloudFailure): void {
    this.#last = failure;
    this.#throttles++;
  }

  /** A step succeeded. */
  forget(): void {
    this.#throttles = 0;
    this.#backoff = undefined;
    this.#last = undefined;
  }
}

/** Failures that don't go away by trying again. */
const needsSomebody: ReadonlySet<CloudFailure['kind']> = new Set([
  'notAuthorized',
  'limitReached',
  'invalid',
]);
