// The calls that take addresses and prefixes off the interfaces of a node, one at a time for each interface, each after a
// last look at the CiliumNode as it is at that moment.
import type { AllocationImplementation } from '../providers/allocation-implementation.ts';
import type { CloudFailure } from '../providers/cloud-failure.ts';
import type { Answer } from '../providers/observation.ts';
import type { ReleaseIPs, ReleasePrefixes } from '../providers/operation.ts';
import { BegunWork } from '../scheduling/begun-work.ts';
import type { Clock } from '../scheduling/clock.ts';
import { FailureStreak } from '../scheduling/failure-streak.ts';
import { SeldomSet } from '../memory/seldom-filled.ts';
import type { Random } from '../scheduling/random.ts';
import type { Holding, ReleasePhase } from './address-release.ts';
import { type CallTiming, openFor } from './call-timing.ts';

export interface UnassignmentsDeps {
  readonly instanceId: string;
  readonly implementation: Pick<AllocationImplementation, 'admit' | 'perform'>;
  readonly clock: Clock;
  readonly random: Random;
  readonly timing: CallTiming;
  /** `hiddenFor`: how long it stays hidden from agents that are not asked, in ms. */
  readonly policy: { readonly hiddenFor: number };
  /** Whether addresses are being added to the interface at this moment. */
  readonly isGrowing: (interfaceId: string) => boolean;
  /** Takes the CiliumNode as it is now into what is known; false when that cannot be had now. */
  readonly readNode: (signal: AbortSignal) => Promise<boolean>;
  /** Decides anew by what is known now; false while too little is known. */
  readonly evaluate: () => boolean;
  /** What may be taken off an interface now. */
  readonly due: (interfaceId: string) => readonly Holding[];
  readonly subnetOf: (interfaceId: string) => string;
  /** These are in another phase now, or in none. */
  readonly enter: (holdings: readonly Holding[], phaseAt: (now: number) => ReleasePhase | undefined) => void;
  /** The cloud took something back; or it won't have anything back for now. */
  readonly onAccepted: () => void;
  readonly onRefused: () => void;
  readonly fold: (answer: Answer) => void;
  /** Something about the instance became unclear. */
  readonly doubt: (from: number) => void;
  readonly wake: () => void;
  readonly onRelease: (release: FinishedRelease) => void;
  readonly onBug: (error: unknown) => void;
}

export interface FinishedRelease {
  readonly kind: 'releaseIPs' | 'releasePrefixes';
  readonly interfaceId: string;
  readonly subnetId: string;
  /** Addresses, the members of prefixes counted. */
  readonly count: number;
  /** Undefined when they were given back. */
  readonly failure: CloudFailure | undefined;
  readonly isOpen: boolean;
  /** In ms. */
  readonly duration: number;
}

const backoffPolicy = { base: 1000, cap: 60_000 };

export class Unassignments {
  readonly #deps: UnassignmentsDeps;
  /** Interfaces with a call under way, or with one whose answer got lost, as long as it may yet take effect. */
  readonly #touched = new SeldomSet<string>();
  /** Ids of what was to be unassigned by a call whose answer got lost. */
  readonly #unanswered = new SeldomSet<string>();
  /** Interfaces that do not have all that was to be taken from them. */
  readonly #oneByOne = new SeldomSet<string>();
  /** By the interface that it is about. */
  readonly #work: BegunWork;
  readonly #streak: FailureStreak;

  constructor(deps: UnassignmentsDeps) {
    this.#deps = deps;
    this.#streak = new FailureStreak(backoffPolicy, deps);
    this.#work = new BegunWork({
      clock: deps.clock,
      onBug: (error) => {
        deps.onBug(error);
        this.#streak.fail();
      },
      onEnd: deps.wake,
    });
  }

  /** None begins before, after failures; in monotonic ms. */
  get pausedUntil(): number {
    return this.#streak.until;
  }

  /** Whether a call may yet take something off the interface. */
  mayTouch(interfaceId: string): boolean {
    return this.#touched.has(interfaceId);
  }

  /** Takes off the interface what is due when that may be sent; at most one such call is under way. */
  begin(interfaceId: string): void {
    if (!this.#work.isAbout(interfaceId)) this.#work.begin(() => this.#run(interfaceId), interfaceId);
  }

  /** No call begins any more; resolves once those that were begun have ended, which `deadline` cuts short. */
  stop(deadline: AbortSignal): Promise<void> {
    return this.#work.stop(deadline);
  }

  async #run(interfaceId: string): Promise<void> {
    const { implementation, readNode, evaluate, isGrowing } = this.#deps;
    const { closing: signal } = this.#work;
    const giveBack = await implementation.admit(['releaseIPs'], { urgency, signal });
    // The last look before it is sent: what the agent says now counts, not what it said when it was asked.
    const isRead = await readNode(signal).catch((error: unknown) => {
      giveBack();
      throw error;
    });
    if (!isRead) this.#streak.fail();
    const isKnown = isRead && evaluate();
    const holdings = isKnown && !isGrowing(interfaceId) ? this.#dueOn(interfaceId) : [];
    if (holdings.length === 0) {
      giveBack();
      return;
    }
    await this.#unassign(interfaceId, holdings);
  }

  /** What is due on an interface, of one kind: prefixes, or single addresses. */
  #dueOn(interfaceId: string): readonly Holding[] {
    const due = this.#deps.due(interfaceId);
    const prefixes = due.filter(isPrefix);
    const alike = prefixes.length > 0 ? prefixes : due;
    return this.#oneByOne.has(interfaceId) ? alike.slice(0, 1) : alike;
  }

  async #unassign(interfaceId: string, holdings: readonly Holding[]): Promise<void> {
    const { implementation, clock, enter, subnetOf, onRelease } = this.#deps;
    const begunAt = clock.monotonic();
    const subnetId = subnetOf(interfaceId);
    enter(holdings, () => ({ kind: 'unassigning' }));
    this.#touched.add(interfaceId);
    const operation = this.#operation(interfaceId, holdings);
    const outcome = await implementation.perform(operation, { urgency, signal: this.#work.deadline });
    // What was to be taken and is not there was taken.
    const isGone =
      outcome.kind === 'failed' && outcome.failure.kind === 'notAssigned' && holdings.length === 1;
    if (outcome.kind === 'ambiguous') this.#await(interfaceId, holdings);
    else this.#touched.delete(interfaceId);
    if (outcome.kind === 'done' || isGone) {
      this.#released(interfaceId, holdings);
    } else if (outcome.kind === 'failed') this.#failed(interfaceId, holdings, outcome.failure);
    onRelease({
      kind: operation.kind,
      interfaceId,
      subnetId,
      count: holdings.reduce((sum, { addresses }) => sum + addresses.length, 0),
      failure: outcome.kind === 'done' || isGone ? undefined : outcome.failure,
      isOpen: outcome.kind === 'ambiguous',
      duration: clock.monotonic() - begunAt,
    });
  }

  #released(interfaceId: string, holdings: readonly Holding[]): void {
    const { instanceId, enter, fold, onAccepted } = this.#deps;
    for (const { id } of holdings) this.#unanswered.delete(id);
    enter(holdings, (now) => ({ kind: 'released', since: now }));
    fold({ kind: 'released', interfaceId, instanceId, holdings: holdings.map(({ id }) => id) });
    this.#streak.forget();
    onAccepted();
    if (this.#dueOn(interfaceId).length === 0) this.#oneByOne.delete(interfaceId);
  }

  #operation(interfaceId: string, holdings: readonly Holding[]): ReleaseIPs | ReleasePrefixes {
    const { instanceId } = this.#deps;
    const ids = holdings.map(({ id }) => id);
    return holdings.some(isPrefix)
      ? { kind: 'releasePrefixes', instanceId, interfaceId, prefixes: ids }
      : { kind: 'releaseIPs', instanceId, interfaceId, addresses: ids };
  }

  /**
   * An unassignment whose answer got lost may yet happen: until it can't, nothing is added to the interface, because the
   * late call would take an address away again that was given anew. Repeating it then is safe.
   */
  #await(interfaceId: string, holdings: readonly Holding[]): void {
    const { clock, timing, doubt, wake } = this.#deps;
    doubt(clock.monotonic());
    for (const { id } of holdings) this.#unanswered.add(id);
    this.#work.later(openFor(timing), () => {
      this.#touched.delete(interfaceId);
      this.#hide(holdings);
      wake();
    });
  }

  #failed(interfaceId: string, holdings: readonly Holding[], failure: CloudFailure): void {
    const { clock, doubt, enter, onRefused } = this.#deps;
    // One of several is not there: each by itself will say which.
    if (failure.kind === 'notAssigned') this.#oneByOne.add(interfaceId);
    else this.#streak.fail();
    if (passing.has(failure.kind)) return this.#hide(holdings);
    onRefused();
    // Shown to the agent again, unless it may be gone.
    const isOpen = ({ id }: Holding): boolean => this.#unanswered.has(id);
    this.#hide(holdings.filter(isOpen));
    enter(
      holdings.filter((holding) => !isOpen(holding)),
      () => undefined,
    );
    doubt(clock.monotonic());
  }

  /** To be tried again: hidden for as long as is asked for. */
  #hide(holdings: readonly Holding[]): void {
    const { enter, policy } = this.#deps;
    for (const holding of holdings) {
      const isOpen = this.#unanswered.has(holding.id);
      enter([holding], (now) =>
        isOpen ? { kind: 'unanswered' } : { kind: 'hidden', since: now - policy.hiddenFor },
      );
    }
  }
}

const urgency = (): 'release' => 'release';

/** Failures after which the same call may succeed. */
const passing: ReadonlySet<CloudFailure['kind']> = new Set([
  'throttled',
  'fenced',
  'stopped',
  'unreachable',
  'conflict',
  'notYetVisible',
  'notAssigned',
]);

function isPrefix({ id }: Holding): boolean {
  return id.includes('/');
}
