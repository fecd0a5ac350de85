// Answers housekeeping calls (releases, deletions, ...) that the account's policies deny, for all nodes. After a denial
// one caller repeats the call when its back-off ends; until then all get the known answer without a call. A call for
// another thing is sent, unless the denial concerns the action itself.
//
// Allocations never come here. What was refused to them is blocked in src/node/allocate *before* a plan is made, so that
// the node can plan something else and say why it waits. No plan depends on a housekeeping call, so that is answered
// where it would be sent.
import type { CloudFailure } from '../contract/cloud-failure.ts';
import type { Clock } from '../../runtime/clock.ts';
import { exponentialWait } from '../../runtime/exponential-backoff.ts';

/** In ms. Callers that are answered without a call have longer back-offs of their own. */
const policy = { base: 5000, cap: 60_000 };
/** A denial that is not repeated for this long is forgotten, in ms: releases are repeated once an hour. */
const remembered = 2 * 3_600_000;
/** Maximum things kept per action. */
const mostThings = 20_000;

interface Denial {
  failure: CloudFailure;
  /** What it was denied for, oldest first. */
  readonly things: Set<string>;
  /** Whether the answer concerned the action itself. */
  isOfAction: boolean;
  failures: number;
  /** In monotonic ms. */
  until: number;
  isTried: boolean;
}

export interface Attempt {
  /** The known answer; undefined if the call may be sent. */
  readonly known: CloudFailure | undefined;
  readonly granted: () => void;
  readonly failed: (failure: CloudFailure) => void;
  /** Always called, whatever came of the call: others may try. */
  readonly end: () => void;
}

const nothing = (): void => undefined;

export class DeniedActions {
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #denials = new Map<string, Denial>();

  constructor(clock: Pick<Clock, 'monotonic'>) {
    this.#clock = clock;
  }

  /** `thing`: what the action is asked for. */
  try(action: string, thing: string): Attempt {
    const startedAt = this.#clock.monotonic();
    const denial = this.#denialFor(action, thing, startedAt);
    if (denial !== undefined && (denial.isTried || startedAt < denial.until))
      return { known: denial.failure, granted: nothing, failed: nothing, end: nothing };
    if (denial !== undefined) denial.isTried = true;
    return {
      known: undefined,
      granted: () => {
        // What was never denied says nothing about what was.
        if (this.#denialFor(action, thing, startedAt) !== undefined) this.#denials.delete(action);
      },
      failed: (failure) => {
        if (failure.permission !== undefined) this.#denied({ action, thing, startedAt }, failure);
      },
      end: () => {
        if (denial !== undefined) denial.isTried = false;
      },
    };
  }

  /** Undefined if nothing is known against the action for this thing. */
  #denialFor(action: string, thing: string, now: number): Denial | undefined {
    const denial = this.#denials.get(action);
    if (denial === undefined) return undefined;
    if (!denial.isTried && now >= denial.until + remembered) {
      this.#denials.delete(action);
      return undefined;
    }
    return denial.isOfAction || denial.things.has(thing) ? denial : undefined;
  }

  #denied({ action, thing, startedAt }: SentCall, failure: CloudFailure): void {
    const known = this.#denials.get(action);
    const denial = known ?? { failure, things: new Set<string>(), ...untried };
    this.#denials.set(action, denial);
    const isRepeated = denial.isOfAction || denial.things.has(thing);
    remember(denial.things, thing);
    denial.failure = failure;
    denial.isOfAction = failure.about === 'action';
    // What is denied for another thing, or was sent before the last denial, is no repetition.
    if (known !== undefined && (!isRepeated || startedAt < denial.until)) return;
    denial.failures++;
    denial.until = this.#clock.monotonic() + exponentialWait(policy, denial.failures);
  }
}

interface SentCall {
  readonly action: string;
  readonly thing: string;
  /** In monotonic ms. */
  readonly startedAt: number;
}

const untried = { isOfAction: false, failures: 0, until: -Infinity, isTried: false };

function remember(things: Set<string>, thing: string): void {
  const [oldest] = things;
  if (things.size >= mostThings && oldest !== undefined) things.delete(oldest);
  things.add(thing);
}
