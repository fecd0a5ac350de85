// Keeps one node's pool filled: plans what is missing, starts the steps, and plans again when each ends.
// Several steps may be in flight. The plan counts each of them, so no need is served twice.
import { prefixSize } from '../../providers/contract/network-interface.ts';
import { isPressing, rankOf, type Priority } from '../../providers/contract/priority.ts';
import type { CloudFailure } from '../../providers/contract/cloud-failure.ts';
import { mayConcern, policyOf, type WhatIsBlocked } from '../../providers/contract/failure-policy.ts';
import { leastOf, type Requeue, requeueAt } from '../../runtime/requeue.ts';
import { LazySet } from '../../runtime/lazy-collections.ts';
import type { StepProgress, StepResult, StepTrouble } from './step-result.ts';
import { LostAssignments } from './lost-assignments.ts';
import {
  deviceIndexOf,
  operationsOf,
  type PlannedStep,
  prefixesOf,
  subnetAddressesUsed,
} from './planned-step.ts';
import type { AllocationPlan } from './allocation-plan.ts';
import { prepareIPAllocation } from './prepare-ip-allocation.ts';
import {
  allScopesOf,
  isPerhapsOfAction,
  type StepPlace,
  type AllocationCall,
  type RefusedScope,
  scopesOf,
  blockedBy,
  blockedFor,
  blocksOnlyIpv6,
} from './refused-scope.ts';
import { AllocationBackoff } from './allocation-backoff.ts';
import { RefusedSizes } from './refused-sizes.ts';
import { type MaintainedFacts, StepExecution, type StepExecutionDeps } from './step-execution.ts';

/** The plan of the node for now, and when to plan again. */
export interface PoolStep extends Requeue {
  /** Undefined while the node cannot be served. */
  readonly plan: AllocationPlan | undefined;
}

/** How much longer a new interface takes than addresses on an existing one, after the calls are sent, in ms. */
const extraTime = 2000;

/** How many unattached interfaces may wait for deletion while the node continues. */
const maxClearings = 3;
/** How many interfaces in a row could not be attached before the instance is to blame, whatever the answers name. */
const maxUnattached = 20;

type StepKind = PlannedStep['kind'];

const stepKinds = Object.keys(operationsOf) as readonly StepKind[];

export class PoolMaintainer {
  readonly #deps: StepExecutionDeps;
  /** Steps that bring nothing and still have to delete what they created. */
  readonly #clearing = new LazySet<PlannedStep>();
  /** Steps per kind that wait for the rate limits. What each does is decided when it is admitted. */
  readonly #waiting: Record<StepKind, number> = {
    allocateIPs: 0,
    adoptInterface: 0,
    allocatePrefixes: 0,
    allocateIpv6Prefix: 0,
    createInterface: 0,
  };
  #priority: Priority = 'housekeeping';
  readonly #lost: LostAssignments;
  readonly backoff: AllocationBackoff;
  readonly #sizes = new RefusedSizes();
  /** Interfaces in a row that could not be attached. */
  #unattached = 0;
  readonly #calls: StepExecution;
  #endWait: (() => void) | undefined;
  /** Whether calls of a former leader are awaited already: they are looked for once. */
  #isFormerAwaited = false;

  constructor(deps: StepExecutionDeps) {
    this.#deps = deps;
    const { node, settings, runtime } = deps;
    this.backoff = new AllocationBackoff(runtime, node.implementation.traits.newInstances);
    this.#lost = new LostAssignments(node, runtime, settings.timing);
    this.#calls = new StepExecution(deps, this.#lost);
  }

  /** Starts what the plan requires beyond the steps in flight. */
  step(now: number): PoolStep {
    const facts = this.#deps.node.forAllocation();
    this.#raiseQueuedPriority();
    if (facts?.need.ipv6 === 'wanted') this.#awaitFormer(now);
    const lost = this.#lost.step(now);
    const plan = this.#plan(facts);
    this.#awaitRefused(plan, now);
    if (plan !== undefined && this.#mayBegin()) this.#beginMissing(plan);
    // A step that ended since `now` may have been too late for this plan.
    const backoff = requeueAt([this.backoff.until], now);
    return { plan, ...leastOf([lost, backoff, this.#subnetsBack(plan, now)]) };
  }

  #awaitFormer(now: number): void {
    if (this.#isFormerAwaited) return;
    this.#isFormerAwaited = true;
    const until = this.#deps.settings.formerUntil();
    if (until > now) this.#lost.mayBeFormers(until);
  }

  #beginMissing({ steps }: AllocationPlan): void {
    for (const kind of stepKinds) {
      const wanted = steps.filter((step) => step.kind === kind).length;
      while (this.#waiting[kind] < wanted) this.#beginStep(kind);
    }
  }

  /** Exhausted subnets are tried again as soon as their back-off ends. */
  #subnetsBack(plan: AllocationPlan | undefined, now: number): Requeue {
    if (plan?.obstacle?.kind !== 'subnetsExhausted') return {};
    const blocked = this.#deps.supply.ledger.blocked(now);
    return requeueAt(
      plan.obstacle.subnetIds.map((id) => blocked.get(id) ?? Infinity),
      now,
    );
  }

  /** Waits for nothing any longer. */
  close(): void {
    this.#endWait?.();
  }

  /** If only blocked scopes could serve the node, retries as soon as one of them may be tried. */
  #awaitRefused(plan: AllocationPlan | undefined, now: number): void {
    this.#endWait?.();
    const refusals = [...(plan?.refusals ?? []), ...(plan?.ipv6?.refusals ?? [])];
    const scopes = refusals.map(({ scope }) => scope);
    const { supply, runtime, node } = this.#deps;
    const wake = (): void => runtime.tasks.report();
    const waiter = { instanceId: node.instanceId, wake, since: now };
    this.#endWait = scopes.length > 0 ? supply.blocked.awaitChange(scopes, waiter) : undefined;
  }

  /** Calls that wait for rate limits or a slot follow the current priority, so a rise is announced. */
  #raiseQueuedPriority(): void {
    const { node } = this.#deps;
    const [before, now] = [this.#priority, node.priority];
    this.#priority = now;
    if (node.growth.isComing && rankOf(now) < rankOf(before)) node.implementation.reconsider();
  }

  /** `admitted`: the kind of step that the rate limits allow now. */
  #plan(facts: MaintainedFacts | undefined, admitted?: StepKind): AllocationPlan | undefined {
    if (facts === undefined) return undefined;
    const { need, traits } = facts;
    const { growth } = this.#deps.node;
    const frozen = new Set(facts.shrinking);
    let { ipv6 } = need;
    for (const { step } of growth.lost) {
      if (step.kind === 'allocateIpv6Prefix') ipv6 = 'held';
      else frozen.add(step.interfaceId);
    }
    return prepareIPAllocation({
      ...facts,
      need: {
        ...need,
        max: need.max - this.#lost.unseen(facts.view),
        ipv6,
      },
      ongoing: { steps: [...growth.steps], frozen },
      calls: {
        traits,
        refusalOf: (scope) => this.#deps.supply.blocked.refusalOf(scope, this.#deps.node.instanceId),
        maxFor: (interfaceId) => this.#sizes.max(interfaceId),
        preferNew: this.#prefersNew(admitted),
      },
    });
  }

  /** Whether the rate limits let a new interface serve pods sooner than an existing one. */
  #prefersNew(admitted: StepKind | undefined): boolean {
    const { settings, node } = this.#deps;
    const { implementation, instanceId, priority: now } = node;
    if (!settings.spreadCalls || !isPressing(now)) return false;
    if (admitted !== undefined) return admitted === 'createInterface';
    const wait = (kind: StepKind): number => implementation.expectedWait(operationsOf[kind], now, instanceId);
    return wait('createInterface') + extraTime < wait('allocateIPs');
  }

  #beginStep(kind: StepKind): void {
    this.#waiting[kind]++;
    this.#deps.node.growth.waiting++;
    const backOff = (): void => this.backoff.add();
    this.#deps.runtime.tasks.beginTask(() => this.#run(kind), undefined, backOff);
  }

  async #run(kind: StepKind): Promise<void> {
    const { node, runtime } = this.#deps;
    const { implementation, instanceId } = node;
    const refund = await implementation
      .admit(operationsOf[kind], { caller: node, signal: runtime.tasks.closing, instanceId })
      .finally(() => {
        this.#waiting[kind]--;
        node.growth.waiting--;
      });
    // The wait may have been long: the current need decides.
    const facts = this.#mayBegin() ? node.forAllocation() : undefined;
    const steps = this.#plan(facts, kind)?.steps;
    const step = steps?.find((each) => each.kind === kind);
    if (facts === undefined || step === undefined) {
      refund();
      return;
    }
    node.growth.steps.add(step);
    const { nodeSubnetId } = facts.requirements;
    const place = { instanceId, nodeSubnetId };
    const startedAt = this.#deps.runtime.clock.monotonic();
    const attempt = {
      step,
      place,
      startedAt,
      endTry: this.#deps.supply.blocked.beginTry(allScopesOf(step, place), instanceId),
    };
    try {
      const result = await this.#perform(attempt);
      // The attach admitted together with a failed creation is never sent.
      const isUnattached = result.kind === 'failed' && result.at === 'create';
      if (step.kind === 'createInterface' && isUnattached) refund(['attachInterface']);
    } finally {
      this.#deps.node.growth.steps.delete(step);
      this.#clearing.delete(step);
      attempt.endTry();
    }
  }

  #mayBegin(): boolean {
    const isPaused = this.#deps.node.refusal('allocate') !== undefined;
    return !isPaused && !this.#deps.runtime.tasks.isClosing && !this.backoff.isPausing;
  }

  async #perform(attempt: Attempt): Promise<StepResult> {
    const { supply, node, runtime } = this.#deps;
    const { ledger } = supply;
    const { clock } = runtime;
    const { step, place, startedAt } = attempt;
    const used = subnetAddressesUsed(step);
    const reservation = ledger.reserve(step.subnetId, used, prefixesOf(step) * prefixSize);
    const onward = (progress: StepProgress): void => {
      if (progress.kind === 'created') reservation.took(clock.monotonic());
      else this.#progressed(attempt, progress);
    };
    const result = await this.#calls.carryOut(step, onward).catch((error: unknown) => {
      // How far the step came is unknown.
      reservation.settle(used, clock.monotonic());
      throw error;
    });
    reservation.settle(result.kind === 'done' ? used : result.taken, clock.monotonic());
    if (result.kind === 'done') {
      // An IPv6 prefix says nothing about what was refused of IPv4.
      if (step.kind !== 'allocateIpv6Prefix') this.backoff.forget();
      if (deviceIndexOf(step) !== undefined) this.#unattached = 0;
      this.#sizes.worked(step);
      this.#deps.supply.blocked.worked(allScopesOf(step, place), place.instanceId);
    } else if (!this.#clearing.has(step)) this.#learnFromFailure(attempt, result);
    node.tell({ kind: 'step', finished: { step, result, duration: clock.monotonic() - startedAt } });
    return result;
  }

  #progressed(attempt: Attempt, { kind, failure }: StepTrouble): void {
    if (kind === 'refused') this.#goOnWithout(attempt, failure);
    else {
      this.backoff.addThrottle(failure);
      this.#deps.runtime.tasks.report();
    }
  }

  /** Pods do not wait for a deletion that a new leader may not send in its first 20 s. */
  #goOnWithout(attempt: Attempt, failure: CloudFailure): void {
    const { step } = attempt;
    const isOfNode = ['node', 'nothing'].includes(blockedBy(failure, 'attach'));
    const isKnown = this.#clearing.has(step);
    if (isKnown || isOfNode || this.#clearing.size >= maxClearings) return;
    this.#deps.node.growth.steps.delete(step);
    this.#clearing.add(step);
    this.#learnFromFailure(attempt, { kind: 'failed', at: 'attach', failure, taken: 0, left: undefined });
    attempt.endTry();
    this.#deps.runtime.tasks.report();
  }

  #learnFromFailure(attempt: Attempt, result: FailedStep): void {
    const { step, place } = attempt;
    const { failure, at } = result;
    const { supply, node, runtime } = this.#deps;
    const created = scopesOf(step, 'create', place);
    // A successful creation before the failed attach shows that creating works.
    if (step.kind === 'createInterface' && at === 'attach')
      supply.blocked.worked(Object.values(created), place.instanceId);
    if (policyOf(failure).invalidates !== 'nothing') node.invalidate(runtime.clock.monotonic());
    const known = created.ipv6In && supply.blocked.refusalOf(created.ipv6In, place.instanceId);
    const blocked = blockedFor(step, failure, at, known?.failure);
    if (blocksOnlyIpv6(blocked) || !this.#asksForLess(step, result)) this.#setAside(attempt, result, blocked);
  }

  /** The next plans do without what was refused. */
  #setAside(attempt: Attempt, result: FailedStep, blocked: WhatIsBlocked): void {
    const { step, place } = attempt;
    const { failure, at } = result;
    switch (blocked) {
      case 'nothing':
        // A stopped step never started; the permission change that stopped it wakes the node when it may start.
        if (policyOf(failure).retry === 'byRateLimit') this.backoff.addThrottle(failure);
        return;
      case 'subnetItself':
      case 'subnetSpace':
      case 'subnetBlocks':
        this.#learnOfSubnet(step, blocked);
        return;
      case 'node':
        this.backoff.add(failure);
        return;
      default:
        this.#block(scopesOf(step, at, place)[this.#widened(blocked, result)], attempt, result);
    }
  }

  /** No interface can be attached to the instance, from whichever subnet: each costs a creation and a deletion. */
  #widened<Blocked extends WhatIsBlocked>(
    blocked: Blocked,
    { failure, at }: FailedStep,
  ): Blocked | 'newInterfaces' {
    if (at !== 'attach' || failure.kind === 'notAuthorized') return blocked;
    return ++this.#unattached > maxUnattached && blocked === 'attachment' ? 'newInterfaces' : blocked;
  }

  /**
   * The next try asks for less where the number may be what was refused. Returns whether nothing else follows: a limit was
   * met, and no new interface can be made instead.
   */
  #asksForLess(step: PlannedStep, { failure, at }: FailedStep): boolean {
    const isLimit = failure.kind === 'limitReached';
    const mayBe = at === 'create' ? isLimit : at === 'allocate' && mayConcern(failure, 'size');
    if (!mayBe || failure.about !== undefined || !this.#sizes.refused(step)) return false;
    if (!isLimit || this.#deps.node.implementation.traits.interfaces === 'made') return false;
    if (!this.backoff.mayTryAnother()) this.backoff.add(failure);
    return true;
  }

  /** The node is not at fault: the next best subnet is tried at once. */
  #learnOfSubnet(step: PlannedStep, blocked: 'subnetItself' | 'subnetSpace' | 'subnetBlocks'): void {
    const { ledger } = this.#deps.supply;
    const now = this.#deps.runtime.clock.monotonic();
    // A subnet without a free block of 16 may still have single addresses.
    const prefixes = prefixesOf(step);
    if (blocked === 'subnetItself') ledger.exhausted(step.subnetId, now, true);
    else if (prefixes > 0) ledger.fragmented(step.subnetId, prefixes, now);
    else ledger.exhausted(step.subnetId, now);
  }

  /** The next plan avoids the scope. It is made at once, unless too much was refused in this run. */
  #block(scope: RefusedScope | undefined, { step, place, startedAt }: Attempt, result: FailedStep): void {
    const { failure, at } = result;
    const { instanceId } = place;
    if (scope === undefined) {
      this.backoff.add(failure);
      return;
    }
    const perhaps = suspectOf(scope, { step, at, place, failure });
    const refused = { scope, failure, instanceId, startedAt };
    const isNews = this.#deps.supply.blocked.refused(
      perhaps === undefined ? refused : { ...refused, perhaps },
    );
    // There are few such scopes, and IPv4 does not wait for them.
    if (step.kind === 'allocateIpv6Prefix' || blocksOnlyIpv6(scope.kind)) return;
    if (isNews && !this.backoff.mayTryAnother()) this.backoff.add(failure);
  }
}

/** The action that may be to blame. That IPv6 is refused on creation says nothing about the creation of interfaces. */
function suspectOf(
  { kind }: RefusedScope,
  { step, at, place, failure }: Pick<Attempt, 'step' | 'place'> & Pick<FailedStep, 'at' | 'failure'>,
): AllocationCall | undefined {
  if (!isPerhapsOfAction(failure) || (blocksOnlyIpv6(kind) && at === 'create')) return undefined;
  return scopesOf(step, at, place).action?.action;
}

/** A step with calls sent. */
interface Attempt {
  readonly step: PlannedStep;
  readonly place: StepPlace;
  /** In monotonic ms. */
  readonly startedAt: number;
  /** Allows others to try what this step tried. */
  readonly endTry: () => void;
}

type FailedStep = Extract<StepResult, { kind: 'failed' }>;
