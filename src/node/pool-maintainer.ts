// Keeps one node's pool of addresses filled: decides what is lacking, begins the steps that bring it, and decides again
// as each one ends. Several steps may be under way; each is taken into account, so that no need is served twice.
import { BegunWork } from '../scheduling/begun-work.ts';
import { type Backoff, backOff } from '../scheduling/exponential-backoff.ts';
import type { Clock } from '../scheduling/clock.ts';
import type { Random } from '../scheduling/random.ts';
import type { AllocationImplementation, CallContext } from '../providers/allocation-implementation.ts';
import type { Urgency } from '../providers/call-budget.ts';
import type { CloudFailure } from '../providers/cloud-failure.ts';
import type { MutationPermission } from '../providers/mutation-permission.ts';
import type { InstanceView } from '../providers/instance-view.ts';
import type { NetworkInterface, Tags } from '../providers/network-interface.ts';
import type { Answer } from '../providers/observation.ts';
import type { OperationKind } from '../providers/operation.ts';
import type { Orphans } from '../providers/orphans.ts';
import { ownershipTags } from '../providers/ownership-tags.ts';
import type { SubnetLedger } from '../providers/subnet-ledger.ts';
import { descriptionPrefix } from './delete-on-termination.ts';
import { adoptInterface, createInterface, type CreateInterfaceDeps } from './create-interface.ts';
import { deviceIndexOf, prefixesOf, type PlannedStep, slotsFilled, takenBy } from './planned-step.ts';
import { type AllocationFacts, type AllocationPlan, prepareIPAllocation } from './prepare-ip-allocation.ts';

export interface PoolMaintainerDeps {
  readonly instanceId: string;
  readonly implementation: AllocationImplementation;
  readonly ledger: SubnetLedger;
  readonly clock: Clock;
  readonly random: Random;
  readonly timing: CallTiming;
  /** Tags of the interfaces that it creates. */
  readonly interfaceTags: Tags;
  readonly permission: Pick<MutationPermission, 'refusal'>;
  /** What is known now of what the plan rests on; undefined while the node cannot be served. */
  readonly facts: () => MaintainedFacts | undefined;
  readonly urgency: () => Urgency;
  readonly fold: (answer: Answer) => void;
  readonly orphans: Pick<Orphans, 'begin' | 'claim'>;
  /** An interface is about to be attached that was left over; or nothing more is done to attach one. */
  readonly adopt: (item: NetworkInterface) => void;
  readonly abandon: (interfaceId: string) => void;
  readonly look: () => Promise<void>;
  /** Whether addresses are being taken from the interface, so that none may be added. */
  readonly isShrinking: (interfaceId: string) => boolean;
  /** Something about the instance became unclear. */
  readonly doubt: (from: number) => void;
  /** To be called back through `evaluate`: a step ended, or a wait did. */
  readonly wake: () => void;
  readonly onStep: (step: FinishedStep) => void;
  readonly onBug: (error: unknown) => void;
}

export type MaintainedFacts = Omit<AllocationFacts, 'underway' | 'frozen'>;

type Allocation = PlannedStep & { readonly kind: 'allocateIPs' | 'allocatePrefixes' };

/** An assignment whose answer got lost. */
interface LostAssignment {
  readonly step: Allocation;
  /** What of the kind that was asked for the interface had before. */
  readonly before: ReadonlySet<string>;
}

export interface CallTiming {
  /** How long a call's answer is waited for, in ms. */
  readonly callTimeout: number;
  /** How long the cloud may take to show a change, in ms. */
  readonly consistencyWindow: number;
}

export interface FinishedStep {
  readonly step: PlannedStep;
  readonly result: StepResult;
  /** In ms, from the grant of its tokens to its end. */
  readonly duration: number;
}

export type StepResult =
  | { readonly kind: 'done'; readonly interfaceId: string }
  | {
      readonly kind: 'failed';
      readonly at: 'create' | 'attach' | 'allocate';
      readonly failure: CloudFailure;
      /** Addresses that may have been taken from the subnet all the same. */
      readonly taken: number;
      readonly left: string | undefined;
      /** An interface may exist of which nothing but its tags is known. */
      readonly uncertain?: boolean;
    };

type StepKind = PlannedStep['kind'];

const stepKinds: readonly StepKind[] = [
  'allocateIPs',
  'allocatePrefixes',
  'adoptInterface',
  'createInterface',
];

/** Operations that a step makes no sense without, to be admitted together. */
const operationsOf: Record<StepKind, readonly OperationKind[]> = {
  allocateIPs: ['allocateIPs'],
  adoptInterface: ['attachInterface'],
  allocatePrefixes: ['allocatePrefixes'],
  createInterface: ['createInterface', 'attachInterface'],
};

const backoffPolicy = { base: 1000, cap: 60_000 };
/** How long an instance that is not running is left alone, in ms. */
const notRunningFor = 60_000;

export class PoolMaintainer {
  readonly #deps: PoolMaintainerDeps;
  /** Steps whose calls are under way. */
  readonly #underway = new Set<PlannedStep>();
  /** How many steps of each kind wait for the rate limits. What each will do is decided when it may. */
  readonly #waiting: Record<StepKind, number> = {
    allocateIPs: 0,
    adoptInterface: 0,
    allocatePrefixes: 0,
    createInterface: 0,
  };
  readonly #work: BegunWork;
  /** Assignments whose answer got lost, as long as they may still take effect unseen. */
  readonly #lost = new Set<LostAssignment>();
  /** Addresses and prefixes that answers to assignments named. */
  readonly #answered = new Set<string>();
  #backoff: Backoff | undefined;
  #lastFailure: CloudFailure | undefined;

  constructor(deps: PoolMaintainerDeps) {
    this.#deps = deps;
    this.#work = new BegunWork({
      clock: deps.clock,
      onBug: (error) => {
        deps.onBug(error);
        this.#backOff(undefined);
      },
      onEnd: deps.wake,
    });
  }

  /** Begins whatever the plan asks for beyond what is under way; says what the plan is. */
  evaluate(): AllocationPlan | undefined {
    if (this.#work.isClosing) return undefined;
    const plan = this.#plan();
    if (plan === undefined || !this.#mayBegin()) return plan;
    for (const kind of stepKinds) {
      const wanted = plan.steps.filter((step) => step.kind === kind).length;
      while (this.#waiting[kind] < wanted) this.#begin(kind);
    }
    return plan;
  }

  /** Whether addresses are being added to the interface, or may yet be by a call whose answer got lost. */
  isGrowing(interfaceId: string): boolean {
    const steps = [...this.#underway, ...[...this.#lost].map(({ step }) => step)];
    return steps.some((step) => slotsFilled(step, interfaceId) > 0);
  }

  /** The failure that keeps the node from being served: one that somebody must act on, or the last of several. */
  get trouble(): CloudFailure | undefined {
    const failure = this.#lastFailure;
    if (failure === undefined) return undefined;
    return needsSomebody.has(failure.kind) || (this.#backoff?.failures ?? 0) > 1 ? failure : undefined;
  }

  /** No step begins any more; resolves once those that were begun have ended, which `deadline` cuts short. */
  stop(deadline: AbortSignal): Promise<void> {
    return this.#work.stop(deadline);
  }

  #plan(): AllocationPlan | undefined {
    const facts = this.#deps.facts();
    if (facts === undefined) return undefined;
    const lost = [...this.#lost].map(({ step }) => step.interfaceId);
    const shrinking = facts.view.interfaces.map(({ id }) => id).filter(this.#deps.isShrinking);
    const frozen = new Set([...lost, ...shrinking]);
    const most = facts.most - this.#unresolved(facts);
    return prepareIPAllocation({ ...facts, most, underway: [...this.#underway], frozen });
  }

  /** Addresses that lost assignments may have brought, or may yet bring, and that are not seen so far. */
  #unresolved({ view }: MaintainedFacts): number {
    let sum = 0;
    // What several on one interface brought cannot be told apart: it counts once for all of them.
    const groups = Map.groupBy(this.#lost, ({ step }) => `${step.kind} ${step.interfaceId}`);
    for (const group of groups.values()) {
      const [{ step } = { step: undefined }] = group;
      if (step === undefined) continue;
      const isNew = (holding: string): boolean => group.some(({ before }) => !before.has(holding));
      const brought = shownOn(view, step).filter((each) => isNew(each) && !this.#answered.has(each));
      const asked = group.reduce((count, other) => count + other.step.count, 0);
      sum += takenBy({ ...step, count: Math.max(0, asked - brought.length) });
    }
    return sum;
  }

  #begin(kind: StepKind): void {
    this.#waiting[kind]++;
    this.#work.begin(() => this.#run(kind));
  }

  async #run(kind: StepKind): Promise<void> {
    const { implementation, urgency } = this.#deps;
    const giveBack = await implementation
      .admit(operationsOf[kind], { urgency, signal: this.#work.closing })
      .finally(() => this.#waiting[kind]--);
    // The wait may have been long: what is needed now decides, not what was needed then.
    const step = this.#mayBegin() ? this.#plan()?.steps.find((each) => each.kind === kind) : undefined;
    if (step === undefined) {
      giveBack();
      return;
    }
    this.#underway.add(step);
    try {
      await this.#perform(step);
    } finally {
      this.#underway.delete(step);
    }
  }

  #mayBegin(): boolean {
    const isStopped = this.#deps.permission.refusal('give') !== undefined;
    return !isStopped && !this.#work.isClosing && !this.#isPausing();
  }

  #isPausing(): boolean {
    return this.#deps.clock.monotonic() < (this.#backoff?.until ?? 0);
  }

  async #perform(step: PlannedStep): Promise<void> {
    const { clock, ledger, onStep } = this.#deps;
    const begunAt = clock.monotonic();
    const reservation = ledger.reserve(step.subnetId, takenBy(step));
    const result = await this.#carryOut(step).catch((error: unknown) => {
      // Nobody knows how far it came.
      reservation.settle(takenBy(step), clock.monotonic());
      throw error;
    });
    reservation.settle(result.kind === 'done' ? takenBy(step) : result.taken, clock.monotonic());
    this.#learn(step, result);
    onStep({ step, result, duration: clock.monotonic() - begunAt });
  }

  #carryOut(step: PlannedStep): Promise<StepResult> {
    switch (step.kind) {
      case 'allocateIPs':
      case 'allocatePrefixes':
        return this.#allocate(step);
      case 'adoptInterface':
        return this.#adopt(step);
      case 'createInterface':
        return this.#create(step);
    }
  }

  async #create(step: PlannedStep & { kind: 'createInterface' }): Promise<StepResult> {
    const { instanceId, interfaceTags, random, orphans, abandon, clock } = this.#deps;
    const token = random.uuid();
    const request = {
      kind: 'createInterface',
      instanceId,
      subnetId: step.subnetId,
      securityGroupIds: step.securityGroupIds,
      addressCount: step.count,
      prefixCount: step.prefixCount,
      description: `${descriptionPrefix}${instanceId})`,
      tags: { ...interfaceTags, ...ownershipTags(instanceId, token) },
      token,
    } as const;
    const end = orphans.begin(token);
    // Until it is known better: nobody knows how far a unit came that fails by a bug.
    let leavesSomething = true;
    try {
      const result = await createInterface(request, step.deviceIndex, this.#unitDeps());
      leavesSomething = result.kind === 'failed' && (result.left !== undefined || result.uncertain);
      if (result.kind === 'attached') return { kind: 'done', interfaceId: result.interfaceId };
      if (result.left !== undefined) abandon(result.left);
      return { ...result, taken: leavesSomething ? takenBy(step) : 0 };
    } finally {
      end(leavesSomething ? { instanceId, at: clock.monotonic() } : undefined);
    }
  }

  async #adopt(step: PlannedStep & { kind: 'adoptInterface' }): Promise<StepResult> {
    const { instanceId, orphans, adopt, abandon } = this.#deps;
    const { interfaceId, deviceIndex } = step;
    const claim = orphans.claim(interfaceId);
    if (claim === undefined) throw new Error('an interface was to be adopted that somebody acts on');
    adopt(claim.interface);
    let end: 'gone' | 'unfit' | 'kept' = 'kept';
    try {
      const failure = await adoptInterface({ interfaceId, instanceId, deviceIndex }, this.#unitDeps());
      if (failure === undefined) {
        end = 'gone';
        return { kind: 'done', interfaceId };
      }
      if (!nothingAgainstIt.has(failure.kind)) end = 'unfit';
      abandon(interfaceId);
      return { kind: 'failed', at: 'attach', failure, taken: 0, left: undefined };
    } finally {
      claim.release(end);
    }
  }

  #unitDeps(): CreateInterfaceDeps {
    const { implementation, clock, random, timing, fold, look } = this.#deps;
    const attachments = (): readonly { id: string; deviceIndex: number | undefined }[] => {
      const { interfaces = [], unreadable = [] } = this.#deps.facts()?.view ?? {};
      const read = interfaces.map(({ id, attachment }) => ({ id, deviceIndex: attachment?.deviceIndex }));
      return [...read, ...unreadable];
    };
    return {
      implementation,
      clock,
      random,
      consistencyWindow: timing.consistencyWindow,
      context: this.#begunContext(),
      fold,
      look,
      attachedAt: (interfaceId) => attachments().find(({ id }) => id === interfaceId)?.deviceIndex,
      indexAfter: (index) => {
        const coming = [...this.#underway].map(deviceIndexOf);
        const taken = new Set([...attachments().map(({ deviceIndex }) => deviceIndex), ...coming]);
        let next = index + 1;
        while (taken.has(next)) next++;
        return next;
      },
    };
  }

  async #allocate(step: Allocation): Promise<StepResult> {
    const { implementation, instanceId, fold } = this.#deps;
    const { kind, interfaceId, count } = step;
    const before = new Set(shownOn(this.#deps.facts()?.view, step));
    const outcome = await implementation.perform(
      { kind, instanceId, interfaceId, count },
      this.#begunContext(),
    );
    if (outcome.kind === 'done') {
      if (outcome.answer.kind === 'allocated') {
        const { addresses, prefixes } = outcome.answer;
        for (const holding of [...addresses, ...prefixes]) this.#answered.add(holding);
      }
      fold(outcome.answer);
      return { kind: 'done', interfaceId };
    }
    const ambiguous = outcome.kind === 'ambiguous';
    if (ambiguous) this.#freeze({ step, before });
    return {
      kind: 'failed',
      at: 'allocate',
      failure: outcome.failure,
      taken: ambiguous ? takenBy(step) : 0,
      left: undefined,
    };
  }

  /**
   * An assignment has no token: repeated, it may assign twice. The interface is left alone until the lost call can no
   * longer take effect unseen, and what two looks show in the meantime is its result.
   */
  #freeze(lost: LostAssignment): void {
    const { clock, timing, doubt, look, wake } = this.#deps;
    this.#lost.add(lost);
    doubt(clock.monotonic());
    this.#work.later(timing.callTimeout + timing.consistencyWindow, () => {
      // Thawed by a look that begins now, not by one before.
      void look().then(() => {
        this.#lost.delete(lost);
        wake();
      });
    });
  }

  #begunContext(): CallContext {
    return { urgency: this.#deps.urgency, signal: this.#work.deadline };
  }

  #learn(step: PlannedStep, result: StepResult): void {
    if (result.kind === 'done') {
      this.#backoff = undefined;
      this.#lastFailure = undefined;
      return;
    }
    const { clock, ledger, doubt } = this.#deps;
    const { failure } = result;
    // Nothing failed: it was not begun, and whoever stopped it wakes the node when it may be.
    if (failure.kind === 'stopped') return;
    // Neither are these the node's fault: the next best subnet is tried at once.
    if (failure.kind === 'subnetGone') {
      ledger.exhausted(step.subnetId, clock.monotonic(), true);
      return;
    }
    if (failure.kind === 'subnetExhausted' || failure.kind === 'prefixSpaceFragmented') {
      // One without 16 addresses may have single ones.
      const prefixes = prefixesOf(step);
      if (prefixes > 0) ledger.fragmented(step.subnetId, prefixes, clock.monotonic());
      else ledger.exhausted(step.subnetId, clock.monotonic());
      return;
    }
    this.#lastFailure = failure;
    if (unclearAfter.has(failure.kind)) doubt(clock.monotonic());
    this.#backOff(failure.kind);
  }

  #backOff(kind: CloudFailure['kind'] | undefined): void {
    const { clock, random, wake } = this.#deps;
    const now = clock.monotonic();
    // Steps that were begun together and fail together are one failure.
    const known = this.#isPausing() ? this.#backoff : undefined;
    const backoff = known ?? backOff(this.#backoff, backoffPolicy, now, random);
    const until = kind === 'instanceNotRunning' ? now + notRunningFor : backoff.until;
    this.#backoff = { ...backoff, until };
    this.#work.later(until - now, wake);
  }
}

/** What the interface of a step has of the kind that the step brings. */
function shownOn(view: InstanceView | undefined, step: Allocation): readonly string[] {
  const shown = view?.interfaces.find(({ id }) => id === step.interfaceId);
  return (step.kind === 'allocatePrefixes' ? shown?.prefixes : shown?.addresses) ?? [];
}

/** Failures that don't go away by trying again. */
const needsSomebody: ReadonlySet<CloudFailure['kind']> = new Set([
  'notAuthorized',
  'limitReached',
  'invalid',
]);

/** Failures to attach an interface that say nothing of the interface. */
const nothingAgainstIt: ReadonlySet<CloudFailure['kind']> = new Set([
  'throttled',
  'unreachable',
  'limitReached',
  'instanceGone',
  'instanceNotRunning',
  'deviceIndexTaken',
  'notAuthorized',
]);

/** Failures that say that the instance is not as it is thought to be. */
const unclearAfter: ReadonlySet<CloudFailure['kind']> = new Set([
  'limitReached',
  'instanceGone',
  'instanceNotRunning',
  'interfaceGone',
  'deviceIndexTaken',
  'conflict',
]);
