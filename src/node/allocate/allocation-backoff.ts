// Tracks a node's consecutive step failures: how long the node backs off, and which failure to report.
import type { CloudFailure } from '../../providers/contract/cloud-failure.ts';
import { isWorthReporting } from '../../providers/contract/failure-policy.ts';
import type { Clock } from '../../runtime/clock.ts';
import { type BackoffState, backOff } from '../../runtime/exponential-backoff.ts';
import type { Random } from '../../runtime/random.ts';

const backoffPolicy = { base: 1000, cap: 60_000 };
/** Back-off for an instance that is not running, in ms. */
const notRunningFor = 60_000;
/** How many alternatives a run tries after refusals. */
const mostAlternatives = 3;

export class AllocationBackoff {
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #random: Random;
  #backoff: BackoffState | undefined;
  #last: CloudFailure | undefined;
  #throttles = 0;
  /** Refusals in this run, each followed by a plan without the refused scope. */
  #alternatives = 0;

  constructor({ clock, random }: { readonly clock: Pick<Clock, 'monotonic'>; readonly random: Random }) {
    this.#clock = clock;
    this.#random = random;
  }

  get isPausing(): boolean {
    return this.#clock.monotonic() < (this.#backoff?.until ?? 0);
  }

  /** The failure to report: one that needs user action, or the last of several. */
  get trouble(): CloudFailure | undefined {
    if (this.#last === undefined) return undefined;
    const inARow = (this.#backoff?.failures ?? 0) + this.#throttles;
    return isWorthReporting(this.#last, inARow) ? this.#last : undefined;
  }

  /** Records a failed step; without a failure, a bug ended it. Returns the node's back-off in ms. */
  add(failure?: CloudFailure): number {
    const now = this.#clock.monotonic();
    this.#last = failure ?? this.#last;
    this.#alternatives = 0;
    // Steps that start together and fail together count as one failure.
    const known = this.isPausing ? this.#backoff : undefined;
    const backoff = known ?? backOff(this.#backoff, backoffPolicy, now, this.#random);
    const until = failure?.kind === 'instanceNotRunning' ? now + notRunningFor : backoff.until;
    this.#backoff = { ...backoff, until };
    return until - now;
  }

  /** The remaining back-off of the node, in ms. */
  get remaining(): number {
    return Math.max(0, (this.#backoff?.until ?? 0) - this.#clock.monotonic());
  }

  /** Records that one scope was refused and is blocked. Returns whether an alternative may be tried at once. */
  mayTryAnother(): boolean {
    if (this.#alternatives >= mostAlternatives) return false;
    this.#alternatives++;
    return true;
  }

  /** Records a throttled step. It causes no node back-off: the rate limiter delays this action for all nodes. */
  addThrottle(failure: CloudFailure): void {
    this.#last = failure;
    this.#throttles++;
  }

  /** A step succeeded. */
  forget(): void {
    this.#throttles = 0;
    this.#alternatives = 0;
    this.#backoff = undefined;
    this.#last = undefined;
  }
}
