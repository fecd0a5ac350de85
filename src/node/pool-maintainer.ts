// Keeps one node's pool of addresses filled: decides what is lacking, begins the steps that bring it, and decides again
// as each one ends. Several steps may be under way; each is taken into account, so that no need is served twice.
import type { NetworkInterface } from '../providers/network-interface.ts';
import type { InstanceOrphans } from '../providers/orphans.ts';
import { isPressing, rankOf, type Urgency } from '../providers/urgency.ts';
import type { CloudFailure } from '../providers/cloud-failure.ts';
import type { MutationPermission } from '../providers/mutation-permission.ts';
import type { OperationKind } from '../providers/operation.ts';
import type { SubnetLedger } from '../providers/subnet-ledger.ts';
import { BegunWork } from '../scheduling/begun-work.ts';
import { SeldomSet } from '../memory/seldom-filled.ts';
import type { FinishedStep, StepResult } from './finished-step.ts';
import { LostAssignments } from './lost-assignments.ts';
import { type PlannedStep, prefixesOf, slotsFilled, takenBy } from './planned-step.ts';
import { type AllocationFacts, type AllocationPlan, prepareIPAllocation } from './prepare-ip-allocation.ts';
import { Setbacks } from './setbacks.ts';
import { StepCalls, type StepCallsDeps } from './step-calls.ts';

export interface PoolMaintainerDeps
  extends Omit<StepCallsDeps, 'lost' | 'underway' | 'view' | 'context' | 'onThrottle'> {
  readonly ledger: SubnetLedger;
  readonly permission: Pick<MutationPermission, 'refusal'>;
  /** What is known now of what the plan rests on; undefined while the node cannot be served. */
  readonly facts: () => MaintainedFacts | undefined;
  readonly urgency: () => Urgency;
  /** Whether the rate limits may decide between an interface that is there and a new one. */
  readonly spreadCalls: boolean;
  /** Whether addresses are being taken from the interface, so that none may be added. */
  readonly isShrinking: (interfaceId: string) => boolean;
  /** Something about the instance became unclear. */
  readonly doubt: (from: number) => void;
  /** To be called back through `evaluate`: a step ended, or a wait did. */
  readonly wake: () => void;
  readonly onStep: (step: FinishedStep) => void;
  readonly onBug: (error: unknown) => void;
}

export type MaintainedFacts = Omit<AllocationFacts, 'underway' | 'frozen' | 'preferNew'>;

/** How much longer a new interface takes than addresses for one that is there, once the calls are sent, in ms. */
const extraTime = 2000;

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

export class PoolMaintainer {
  readonly #deps: PoolMaintainerDeps;
  /** Steps whose calls are under way. */
  readonly #underway = new SeldomSet<PlannedStep>();
  /** How many steps of each kind wait for the rate limits. What each will do is decided when it may. */
  readonly #waiting: Record<StepKind, number> = {
    allocateIPs: 0,
    adoptInterface: 0,
    allocatePrefixes: 0,
    createInterface: 0,
  };
  #urgency: Urgency = 'housekeeping';
  readonly #work: BegunWork;
  readonly #lost: LostAssignments;
  readonly #setbacks: Setbacks;
  readonly #calls: StepCalls;

  constructor(deps: PoolMaintainerDeps) {
    this.#deps = deps;
    this.#work = new BegunWork({
      clock: deps.clock,
      onBug: (error) => {
        deps.onBug(error);
        this.#pause();
      },
      onEnd: deps.wake,
    });
    this.#setbacks = new Setbacks(deps);
    const { clock, timing, doubt, look } = deps;
    this.#lost = new LostAssignments({
      clock,
      timing,
      doubt,
      look,
      later: (ms, action) => this.#work.later(ms, action),
      onFound: deps.wake,
    });
    this.#calls = new StepCalls({
      ...deps,
      lost: this.#lost,
      underway: this.#underway,
      onThrottle: (failure) => {
        this.#setbacks.addThrottle(failure);
        deps.wake();
      },
      view: () => deps.facts()?.view,
      context: () => ({ urgency: deps.urgency, signal: this.#work.deadline }),
    });
  }

  /** Begins whatever the plan asks for beyond what is under way; says what the plan is. */
  evaluate(): AllocationPlan | undefined {
    if (this.#work.isClosing) return undefined;
    this.#hurry();
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
    const steps = [...this.#underway, ...this.#lost.steps];
    return steps.some((step) => slotsFilled(step, interfaceId) > 0);
  }

  /** The failure that keeps the node from being served: one that somebody must act on, or the last of several. */
  get trouble(): CloudFailure | undefined {
    return this.#setbacks.trouble;
  }

  /** No step begins any more; resolves once those that were begun have ended, which `deadline` cuts short. */
  stop(deadline: AbortSignal): Promise<void> {
    return this.#work.stop(deadline);
  }

  /** What waits for the rate limits, or to be sent, goes by the urgency of now, once somebody says that it has risen. */
  #hurry(): void {
    const { urgency, implementation } = this.#deps;
    const [before, now] = [this.#urgency, urgency()];
    this.#urgency = now;
    const isWaiting = this.#underway.size > 0 || stepKinds.some((kind) => this.#waiting[kind] > 0);
    if (isWaiting && rankOf(now) < rankOf(before)) implementation.reconsider();
  }

  /** `admitted`: the kind of step that the rate limits allow right now. */
  #plan(admitted?: StepKind): AllocationPlan | undefined {
    const facts = this.#deps.facts();
    if (facts === undefined) return undefined;
    const lost = this.#lost.steps.map(({ interfaceId }) => interfaceId);
    const shrinking = facts.view.interfaces.map(({ id }) => id).filter(this.#deps.isShrinking);
    const frozen = new Set([...lost, ...shrinking]);
    const most = facts.most - this.#lost.unseen(facts.view);
    const preferNew = this.#prefersNew(admitted);
    // What is on its way out is not taken back as somebody's leftover.
    const orphans = without(facts.orphans, this.#deps.isShrinking);
    return prepareIPAllocation({
      ...facts,
      orphans,
      most,
      preferNew,
      underway: [...this.#underway],
      frozen,
    });
  }

  /** Whether pods are served sooner by a new interface than by one that is there, as far as the rate limits go. */
  #prefersNew(admitted: StepKind | undefined): boolean {
    const { spreadCalls, urgency, implementation } = this.#deps;
    const now = urgency();
    if (!spreadCalls || !isPressing(now)) return false;
    if (admitted !== undefined) return admitted === 'createInterface';
    const wait = (kind: StepKind): number => implementation.expectedWait(operationsOf[kind], now);
    return wait('createInterface') + extraTime < wait('allocateIPs');
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
    const step = this.#mayBegin() ? this.#plan(kind)?.steps.find((each) => each.kind === kind) : undefined;
    if (step === undefined) {
      giveBack();
      return;
    }
    this.#underway.add(step);
    try {
      const result = await this.#perform(step);
      // The attachment that was admitted with a creation comes after it, or not at all.
      const isUnattached = result.kind === 'failed' && result.at === 'create';
      if (step.kind === 'createInterface' && isUnattached) giveBack(['attachInterface']);
    } finally {
      this.#underway.delete(step);
    }
  }

  #mayBegin(): boolean {
    const isStopped = this.#deps.permission.refusal('give') !== undefined;
    return !isStopped && !this.#work.isClosing && !this.#setbacks.isPausing;
  }

  async #perform(step: PlannedStep): Promise<StepResult> {
    const { clock, ledger, onStep } = this.#deps;
    const begunAt = clock.monotonic();
    const reservation = ledger.reserve(step.subnetId, takenBy(step));
    const result = await this.#calls.carryOut(step).catch((error: unknown) => {
      // Nobody knows how far it came.
      reservation.settle(takenBy(step), clock.monotonic());
      throw error;
    });
    reservation.settle(result.kind === 'done' ? takenBy(step) : result.taken, clock.monotonic());
    this.#learn(step, result);
    onStep({ step, result, duration: clock.monotonic() - begunAt });
    return result;
  }

  #learn(step: PlannedStep, result: StepResult): void {
    if (result.kind === 'done') {
      this.#setbacks.forget();
      return;
    }
    const { clock, ledger, doubt } = this.#deps;
    const { failure } = result;
    // Nothing failed: it was not begun, and whoever stopped it wakes the node when it may be.
    if (failure.kind === 'stopped') return;
    if (failure.kind === 'throttled') {
      this.#setbacks.addThrottle(failure);
      return;
    }
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
    if (unclearAfter.has(failure.kind)) doubt(clock.monotonic());
    this.#pause(failure);
  }

  #pause(failure?: CloudFailure): void {
    this.#work.later(this.#setbacks.add(failure), this.#deps.wake);
  }
}

/** Failures that say that the instance is not as it is thought to be. */
const unclearAfter: ReadonlySet<CloudFailure['kind']> = new Set([
  'limitReached',
  'instanceGone',
  'instanceNotRunning',
  'interfaceGone',
  'deviceIndexTaken',
  'conflict',
]);

function without(
  { read, fit, unclear }: InstanceOrphans,
  isLeaving: (interfaceId: string) => boolean,
): InstanceOrphans {
  const stays = ({ id }: NetworkInterface): boolean => !isLeaving(id);
  return { read, fit: fit.filter(stays), unclear: unclear.filter(stays) };
}
