// Answers housekeeping calls (releases, deletions, ...) that the account's policies deny, for all nodes. After a denial
// one caller repeats the call when its back-off ends; until then all get the known answer without a call. A call for
// another thing is sent, unless the denial concerns the action itself.
//
// Allocations never come here. What was refused to them is blocked in src/node/allocate *before* a plan is made, so that
// the node can plan something else and say why it waits. No plan depends on a housekeeping call, so that is answered
// where it would be sent.
import type { CloudFailure } from '../contract/cloud-failure.ts';
import { type Refusal, Refusals, type RefusalsDeps } from '../../runtime/refusals.ts';

/** In ms. Callers that are answered without a call have longer back-offs of their own. */
const policy = { base: 5000, cap: 60_000 };
/** A denial that is not repeated for this long is forgotten, in ms: releases are repeated once an hour. */
const remembered = 2 * 3_600_000;
/** Maximum things kept per action. */
const maxThings = 20_000;

interface Denial {
  answer: CloudFailure;
  /** What it was denied for, oldest first. */
  readonly things: Set<string>;
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
  readonly #clock: RefusalsDeps<Denial>['clock'];
  /** By action. */
  readonly #refusals: Refusals<Denial>;

  constructor(clock: RefusalsDeps<Denial>['clock']) {
    this.#clock = clock;
    this.#refusals = new Refusals({ clock, policyFor: () => policy, remembered });
  }

  /** `thing`: what the action is asked for. */
  beginAttempt(action: string, thing: string): Attempt {
    const startedAt = this.#clock.monotonic();
    const denial = this.#denialFor(action, thing);
    if (denial?.isDue === false)
      return { known: denial.failure.answer, granted: nothing, failed: nothing, end: nothing };
    return {
      known: undefined,
      granted: () => {
        // What was never denied says nothing about what was.
        if (this.#denialFor(action, thing) !== undefined) this.#refusals.worked(action);
      },
      failed: (failure) => {
        if (failure.permission !== undefined) this.#denied({ action, thing, startedAt }, failure);
      },
      end: denial === undefined ? nothing : this.#refusals.beginTry([action]),
    };
  }

  /** Undefined if nothing is known against the action for this thing. */
  #denialFor(action: string, thing: string): Refusal<Denial> | undefined {
    const refusal = this.#refusals.of(action);
    if (refusal === undefined) return undefined;
    const { answer, things } = refusal.failure;
    return answer.about === 'action' || things.has(thing) ? refusal : undefined;
  }

  #denied({ action, thing, startedAt }: SentCall, answer: CloudFailure): void {
    const known = this.#refusals.of(action);
    const isRepeated = this.#denialFor(action, thing) !== undefined;
    const denial = known?.failure ?? { answer, things: new Set<string>() };
    remember(denial.things, thing);
    denial.answer = answer;
    // What is denied for another thing, or was sent before the last denial, is no repetition.
    const isCounted = known === undefined || (isRepeated && startedAt >= known.until);
    if (isCounted) this.#refusals.refused(action, denial);
  }
}

interface SentCall {
  readonly action: string;
  readonly thing: string;
  /** In monotonic ms. */
  readonly startedAt: number;
}

function remember(things: Set<string>, thing: string): void {
  const [oldest] = things;
  if (things.size >= maxThings && oldest !== undefined) things.delete(oldest);
  things.add(thing);
}
