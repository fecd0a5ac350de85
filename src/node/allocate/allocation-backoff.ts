// Tracks a node's consecutive step failures: how long the node backs off, and which failure to report.
import type { CloudFailure } from '../../providers/contract/cloud-failure.ts';
import type { CloudTraits } from '../../providers/contract/cloud.ts';
import { isWorthReporting } from '../../providers/contract/failure-policy.ts';
import { Backoff, type BackoffDeps } from '../../runtime/backoff.ts';

const policy = { base: 1000, cap: 60_000 };
/** Back-off for an instance that is not running, in ms. */
const notRunningFor = 60_000;
/** The same for one that the cloud says is gone, or is going: the first time, and later. The reads that follow decide. */
const goneFor = [60_000, 300_000] as const;
/** For how long a cloud may not know yet an instance that runs, in ms. */
const unknownFor = 30_000;
/** How many alternatives a run tries after refusals. */
const maxAlternatives = 3;

export class AllocationBackoff extends Backoff {
  readonly #clock: BackoffDeps['clock'];
  readonly #newInstances: CloudTraits['newInstances'];
  /** A step has succeeded: the cloud knows the instance. */
  #isKnown = false;
  /** When calls began to show the instance gone, in monotonic ms. */
  #goneSince: number | undefined;
  /** How often in a row they did so that it must be. */
  #gone = 0;
  #last: CloudFailure | undefined;
  #throttles = 0;
  /** Refusals in this run, each followed by a plan without the refused scope. */
  #alternatives = 0;

  constructor(deps: BackoffDeps, newInstances: CloudTraits['newInstances']) {
    super(policy, deps);
    this.#clock = deps.clock;
    this.#newInstances = newInstances;
  }

  /** The failure to report: one that needs user action, or the last of several. */
  get trouble(): CloudFailure | undefined {
    const isTold = this.#last !== undefined && isWorthReporting(this.#last, this.failures + this.#throttles);
    return isTold ? this.#last : undefined;
  }

  /** Records a failed step; without a failure, a bug ended it. */
  add(failure?: CloudFailure): void {
    this.#last = failure ?? this.#last;
    this.#alternatives = 0;
    // Steps that start together and fail together count as one failure.
    const isNews = !this.isPausing;
    if (isNews) this.fail();
    if (failure?.kind === 'instanceNotRunning') this.pauseFor(notRunningFor);
    if (failure?.kind === 'instanceGone' && !this.#mayBeNew()) {
      if (isNews) this.#gone++;
      this.pauseFor(goneFor[this.#gone > 1 ? 1 : 0]);
    }
  }

  /** The cloud may not know the instance yet: its pods wait. */
  #mayBeNew(): boolean {
    const now = this.#clock.monotonic();
    this.#goneSince ??= now;
    return this.#newInstances === 'knownLate' && !this.#isKnown && now < this.#goneSince + unknownFor;
  }

  /** Records that one scope was refused and is blocked. Returns whether an alternative may be tried at once. */
  mayTryAnother(): boolean {
    if (this.#alternatives >= maxAlternatives) return false;
    this.#alternatives++;
    return true;
  }

  /** Records a throttled step. It causes no node back-off: the rate limiter delays this action for all nodes. */
  addThrottle(failure: CloudFailure): void {
    this.#last = failure;
    this.#throttles++;
  }

  /** A step succeeded. */
  override forget(): void {
    super.forget();
    this.#isKnown = true;
    this.#goneSince = undefined;
    this.#gone = 0;
    this.#throttles = 0;
    this.#alternatives = 0;
    this.#last = undefined;
  }
}
