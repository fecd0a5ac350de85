// Sends the calls that unassign addresses and prefixes from a node's interfaces, one at a time per interface.
// Each call follows a live read of the CiliumNode.
import type { AllocationImplementation } from '../../providers/contract/allocation-implementation.ts';
import type { CloudFailure } from '../../providers/contract/cloud-failure.ts';
import type { Answer } from '../../providers/contract/observation.ts';
import type { ReleaseIPs, ReleasePrefixes } from '../../providers/contract/operation.ts';
import type { Clock } from '../../runtime/clock.ts';
import { LazySet } from '../../runtime/lazy-collections.ts';
import type { Random } from '../../runtime/random.ts';
import type { ReleasePhase } from './release-state.ts';
import { ReleaseTasks } from './release-tasks.ts';
import type { Holding } from '../demand/holdings.ts';
import { type CallTiming, mayTakeEffectFor } from '../../providers/contract/call-timing.ts';

export interface UnassignmentsDeps {
  readonly instanceId: string;
  readonly implementation: Pick<AllocationImplementation, 'admit' | 'perform'>;
  readonly clock: Clock;
  readonly random: Random;
  readonly timing: CallTiming;
  /** `hiddenFor`: how long a holding stays hidden from multi-pool agents, in ms. */
  readonly policy: { readonly hiddenFor: number };
  /** Whether addresses are being added to the interface now. */
  readonly isGrowing: (interfaceId: string) => boolean;
  /** Reads the CiliumNode live; false when that fails. */
  readonly readNode: (signal: AbortSignal) => Promise<boolean>;
  /** Decides again from the facts known now; false while too little is known. */
  readonly evaluate: () => boolean;
  /** What may be unassigned from an interface now. */
  readonly due: (interfaceId: string) => readonly Holding[];
  readonly subnetOf: (interfaceId: string) => string;
  /** Moves these holdings to another phase, or to none. */
  readonly enter: (holdings: readonly Holding[], phaseAt: (now: number) => ReleasePhase | undefined) => void;
  /** The cloud accepted a release, or refuses every release for now. */
  readonly onAccepted: () => void;
  readonly onRefused: () => void;
  readonly applyAnswer: (answer: Answer) => void;
  /** The state of the instance became uncertain. */
  readonly invalidate: (from: number) => void;
  readonly wake: () => void;
  readonly onRelease: (release: FinishedRelease) => void;
  readonly onBug: (error: unknown) => void;
}

export interface FinishedRelease {
  readonly kind: 'releaseIPs' | 'releasePrefixes';
  readonly interfaceId: string;
  readonly subnetId: string;
  /** Addresses, including those of prefixes. */
  readonly count: number;
  /** Undefined on success. */
  readonly failure: CloudFailure | undefined;
  readonly isOpen: boolean;
  /** In ms. */
  readonly duration: number;
}

const backoffPolicy = { base: 1000, cap: 60_000 };

export class Unassignments {
  readonly #deps: UnassignmentsDeps;
  /** Interfaces with a call in flight, or with a lost answer whose call may still take effect. */
  readonly #touched = new LazySet<string>();
  /** Ids whose unassign call has a lost answer. */
  readonly #unanswered = new LazySet<string>();
  /** Interfaces that refused a call because they lack one of the holdings that it named. */
  readonly #oneByOne = new LazySet<string>();
  /** Keyed by interface id. */
  readonly #work: ReleaseTasks;

  constructor(deps: UnassignmentsDeps) {
    this.#deps = deps;
    this.#work = new ReleaseTasks(backoffPolicy, deps);
  }

  /** No call starts earlier, after failures; in monotonic ms. */
  get pausedUntil(): number {
    return this.#work.backoff.until;
  }

  /** Whether a call may still take something off the interface; without one, off any. */
  mayTouch(interfaceId?: string): boolean {
    return interfaceId === undefined ? this.#touched.size > 0 : this.#touched.has(interfaceId);
  }

  /** Unassigns what is due on the interface, as soon as a call may be sent; at most one call is in flight. */
  begin(interfaceId: string): void {
    this.#work.beginOnce(interfaceId, () => this.#run(interfaceId));
  }

  /** Starts no more calls; resolves once the calls in flight have ended, at `deadline` at the latest. */
  stop(deadline: AbortSignal): Promise<void> {
    return this.#work.stop(deadline);
  }

  /** Forgets the calls of a release that is over: they say nothing about a later one of the same holding. */
  forget(id: string): void {
    this.#unanswered.delete(id);
  }

  async #run(interfaceId: string): Promise<void> {
    const { implementation, instanceId, readNode, evaluate, isGrowing } = this.#deps;
    const { closing: signal } = this.#work;
    const refund = await implementation.admit(['releaseIPs'], { priority, signal, instanceId });
    // The final check before sending: what the agent says now counts, not its earlier answer.
    const isRead = await readNode(signal).catch((error: unknown) => {
      refund();
      throw error;
    });
    if (!isRead) this.#work.backoff.fail();
    const isKnown = isRead && evaluate();
    const holdings = isKnown && !isGrowing(interfaceId) ? this.#dueOn(interfaceId) : [];
    if (holdings.length === 0) {
      refund();
      return;
    }
    await this.#unassign(interfaceId, holdings);
  }

  /** What is due on an interface, of one kind: prefixes or single addresses. */
  #dueOn(interfaceId: string): readonly Holding[] {
    const due = this.#deps.due(interfaceId);
    const prefixes = due.filter(isPrefix);
    const alike = prefixes.length > 0 ? prefixes : due;
    return this.#oneByOne.has(interfaceId) ? alike.slice(0, 1) : alike;
  }

  async #unassign(interfaceId: string, holdings: readonly Holding[]): Promise<void> {
    const { implementation, clock, enter, subnetOf, onRelease } = this.#deps;
    const startedAt = clock.monotonic();
    const subnetId = subnetOf(interfaceId);
    enter(holdings, () => ({ kind: 'unassigning' }));
    this.#touched.add(interfaceId);
    const operation = this.#operation(interfaceId, holdings);
    const { deadline: signal } = this.#work;
    const outcome = await implementation.perform(operation, {
      priority,
      signal,
      instanceId: this.#deps.instanceId,
    });
    // A holding that the call asked to unassign and that is missing was unassigned.
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
      duration: clock.monotonic() - startedAt,
    });
  }

  #released(interfaceId: string, holdings: readonly Holding[]): void {
    const { instanceId, enter, applyAnswer, onAccepted } = this.#deps;
    for (const { id } of holdings) this.#unanswered.delete(id);
    enter(holdings, (now) => ({ kind: 'released', since: now }));
    applyAnswer({ kind: 'released', interfaceId, instanceId, holdings: holdings.map(({ id }) => id) });
    this.#work.backoff.forget();
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
   * An unassign call with a lost answer may still take effect. Until it cannot, nothing is added to the
   * interface: the late call could remove an address that was assigned again. After that, repeating the call
   * is safe.
   */
  #await(interfaceId: string, holdings: readonly Holding[]): void {
    const { instanceId, clock, timing, invalidate, applyAnswer, wake } = this.#deps;
    const now = clock.monotonic();
    const open = mayTakeEffectFor(timing);
    const ids = holdings.map(({ id }) => id);
    // The next CiliumNode of the instance must not be offered them before that, either.
    applyAnswer({ kind: 'releasing', interfaceId, instanceId, holdings: ids, until: now + open });
    invalidate(now);
    for (const id of ids) this.#unanswered.add(id);
    this.#work.later(open, () => {
      this.#touched.delete(interfaceId);
      this.#hide(holdings);
      wake();
    });
  }

  #failed(interfaceId: string, holdings: readonly Holding[], failure: CloudFailure): void {
    const { instanceId, clock, invalidate, enter, applyAnswer, onRefused } = this.#deps;
    // One of several is missing: single calls show which.
    if (failure.kind === 'notAssigned') this.#oneByOne.add(interfaceId);
    else this.#work.backoff.fail();
    // Another client of the cloud detached or deleted the interface: what the agent gave up is not offered on it again.
    if (failure.kind === 'interfaceGone') applyAnswer({ kind: 'notFound', interfaceId, instanceId });
    if (passing.has(failure.kind)) return this.#hide(holdings);
    onRefused();
    // Shown to the agent again, unless it may be gone.
    const isOpen = ({ id }: Holding): boolean => this.#unanswered.has(id);
    this.#hide(holdings.filter(isOpen));
    enter(
      holdings.filter((holding) => !isOpen(holding)),
      () => undefined,
    );
    invalidate(clock.monotonic());
  }

  /** Keeps the holdings hidden for the next attempt. Their quarantine is over: the call before it was due. */
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

const priority = (): 'release' => 'release';

/** Failures after which the holdings stay hidden: the same call may succeed, or nothing is there to offer again. */
const passing: ReadonlySet<CloudFailure['kind']> = new Set([
  'throttled',
  'fenced',
  'stopped',
  'unreachable',
  'conflict',
  'notYetVisible',
  'notAssigned',
  'interfaceGone',
]);

function isPrefix({ id }: Holding): boolean {
  return id.includes('/');
}
