// Answers housekeeping calls (releases, deletions, ...) that the account's policies deny, for all nodes. After a denial
// one caller repeats the call when its back-off ends; until then all get the known answer without a call. A call for
// another thing is sent, unless the denial concerns the action itself: then calls for what it was not denied for have turns
// of their own. Once one of them is granted, only what is denied further is answered here.
//
// Allocations never come here. What was refused to them is blocked in src/node/allocate *before* a plan is made, so that
// the node can plan something else and say why it waits. No plan depends on a housekeeping call, so that is answered
// where it would be sent.
import type { CloudFailure } from '../contract/cloud-failure.ts';
import { type Refusal, Refusals, type RefusalsDeps } from '../../runtime/refusals.ts';
import { RefusedParties } from '../../runtime/refused-parties.ts';

/** In ms. Callers that are answered without a call have longer back-offs of their own. */
const policy = { base: 5000, cap: 60_000 };
/** A denial that is not repeated for this long is forgotten, in ms: releases are repeated once an hour. */
const remembered = 2 * 3_600_000;

interface Denial {
  /** The last one. */
  answer: CloudFailure;
  /** Whether the denial may concern the action itself, as far as is known. */
  isOfAction: boolean;
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
  readonly #clock: RefusalsDeps['clock'];
  /** By action, and by the turns of what the action was not denied for. */
  readonly #refusals: Refusals<Denial>;
  /** Things that each action was denied for. */
  readonly #things: RefusedParties<CloudFailure>;

  constructor(clock: RefusalsDeps['clock']) {
    this.#clock = clock;
    this.#refusals = new Refusals({ clock, remembered });
    this.#things = new RefusedParties(clock, remembered + policy.cap);
  }

  /** `thing`: what the action is asked for. */
  beginAttempt(action: string, thing: string): Attempt {
    const startedAt = this.#clock.monotonic();
    const key = this.#wasDenied(action, thing) ? action : turnOfOthers(action);
    const denial = this.#denialFor(action, thing);
    if (denial?.isDue === false)
      return { known: denial.failure.answer, granted: nothing, failed: nothing, end: nothing };
    return {
      known: undefined,
      granted: () => {
        // A grant of what was never denied says nothing about what was.
        if (this.#denialFor(action, thing) !== undefined) this.#granted(action);
        this.#things.worked(action, thing);
      },
      failed: (failure) => {
        if (failure.permission !== undefined) this.#denied({ action, thing, startedAt }, failure);
      },
      end: denial === undefined ? nothing : this.#refusals.beginTry([key]),
    };
  }

  #wasDenied(action: string, thing: string): boolean {
    return this.#things.failureOf(action, thing) !== undefined;
  }

  /** Undefined if nothing is known against the action for this thing. */
  #denialFor(action: string, thing: string): Refusal<Denial> | undefined {
    const refusal = this.#refusals.of(action);
    if (refusal === undefined || this.#wasDenied(action, thing)) return refusal;
    return refusal.failure.isOfAction ? this.#refusals.of(turnOfOthers(action)) : undefined;
  }

  #granted(action: string): void {
    for (const key of [action, turnOfOthers(action)]) this.#refusals.worked(key);
  }

  #denied({ action, thing, startedAt }: SentCall, answer: CloudFailure): void {
    const known = this.#refusals.of(action);
    const isFirst = !this.#wasDenied(action, thing);
    const isRepeated = this.#denialFor(action, thing) !== undefined;
    this.#things.refused(action, thing, answer);
    const isOfAction = answer.about === 'action' && !this.#things.isAlone(action, thing);
    const denial = known?.failure ?? { answer, isOfAction };
    denial.answer = answer;
    denial.isOfAction ||= isOfAction;
    // A denial for another thing, or of a call sent before the last denial, is no repetition.
    const isCounted = known === undefined || (isRepeated && startedAt >= known.until);
    if (isCounted) this.#refusals.refused(action, denial, { policy });
    if (isFirst && isOfAction) this.#refusals.refused(turnOfOthers(action), denial, { policy, startedAt });
  }
}

interface SentCall {
  readonly action: string;
  readonly thing: string;
  /** In monotonic ms. */
  readonly startedAt: number;
}

function turnOfOthers(action: string): string {
  return `${action} for others`;
}
