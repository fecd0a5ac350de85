// Gives back network interfaces that no pod has had an address of for a long time: each takes a slot of the instance and
// a primary address of the subnet. An interface is hidden from the agent, looked at once more, detached and deleted,
// in this order; what a crash leaves detached is an orphan, and is collected as such.
import type { CiliumNode } from '../kubernetes/cilium-node.ts';
import type { AllocationImplementation } from '../providers/allocation-implementation.ts';
import type { CloudFailure } from '../providers/cloud-failure.ts';
import type { InstanceView } from '../providers/instance-view.ts';
import type { MutationPermission } from '../providers/mutation-permission.ts';
import type { NetworkInterface } from '../providers/network-interface.ts';
import type { Answer } from '../providers/observation.ts';
import type { Operation, Outcome } from '../providers/operation.ts';
import { BegunWork } from '../scheduling/begun-work.ts';
import { type Clock, sleep } from '../scheduling/clock.ts';
import { FailureStreak } from '../scheduling/failure-streak.ts';
import { SeldomMap } from '../memory/seldom-filled.ts';
import type { Random } from '../scheduling/random.ts';
import { doneOrAborted } from '../scheduling/done-or-aborted.ts';
import { descriptionPrefix } from './delete-on-termination.ts';
import { exclusionOf, type NodeRequirements } from './node-requirements.ts';

export interface IdleInterfacesDeps {
  readonly instanceId: string;
  readonly implementation: Pick<AllocationImplementation, 'admit' | 'perform'>;
  readonly clock: Clock;
  readonly random: Random;
  /** How long an interface must be idle, in ms; undefined keeps all. */
  readonly delay: number | undefined;
  readonly permission: Pick<MutationPermission, 'refusal'>;
  /** What is known now of what this rests on; undefined while the node cannot be served. */
  readonly facts: () => IdleFacts | undefined;
  /** Whether something is being added to an interface, or taken from it. */
  readonly isBusy: (interfaceId: string) => boolean;
  /** Asks the cloud what the instance has, and takes the answer into what is known, however long that takes. */
  readonly look: () => Promise<void>;
  /** Takes the CiliumNode as it is now into what is known; false when that cannot be had now. */
  readonly readNode: (signal: AbortSignal) => Promise<boolean>;
  readonly fold: (answer: Answer) => void;
  readonly doubt: (from: number) => void;
  /** To be called back through `evaluate`. */
  readonly wake: () => void;
  readonly onGivenBack: (given: GivenBack) => void;
  readonly onBug: (error: unknown) => void;
}

export interface IdleFacts {
  readonly node: CiliumNode;
  readonly view: InstanceView;
  readonly requirements: NodeRequirements;
  /** Whether the node lacks addresses. */
  readonly isShort: boolean;
}

export interface GivenBack {
  readonly interfaceId: string;
  readonly subnetId: string;
  readonly at: 'detach' | 'delete';
  /** Undefined when it is gone. */
  readonly failure: CloudFailure | undefined;
}

type Phase =
  | { readonly kind: 'idle'; readonly since: number }
  /** To be hidden from the agent, or hidden. */
  | { readonly kind: 'leaving' }
  /** Its detachment may have begun: there is no way back. */
  | { readonly kind: 'detaching' };

const backoffPolicy = { base: 5000, cap: 600_000 };
/** Between two tries to delete what is being detached, and for how long, in ms. */
const deletePause = 5000;
const deleteFor = 120_000;

export class IdleInterfaces {
  readonly #deps: IdleInterfacesDeps;
  readonly #phases = new SeldomMap<string, Phase>();
  /** By the interface that it is about. */
  readonly #work: BegunWork;
  #cancelNext: (() => void) | undefined;
  readonly #streak: FailureStreak;

  constructor(deps: IdleInterfacesDeps) {
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

  /** Interfaces that are not to be shown to the agent, nor to be given addresses. */
  get leaving(): ReadonlySet<string> {
    return new Set([...this.#phases].filter(([, { kind }]) => kind !== 'idle').map(([id]) => id));
  }

  /** Takes every idle interface as far as it can go now. */
  evaluate(): void {
    const facts = this.#work.isClosing ? undefined : this.#deps.facts();
    if (facts === undefined) return;
    const { clock, delay = Infinity } = this.#deps;
    const now = clock.monotonic();
    for (const item of facts.view.interfaces) this.#step(item, facts, now);
    const known = new Set(facts.view.interfaces.map(({ id }) => id));
    for (const id of this.#phases.keys())
      if (!known.has(id) && !this.#work.isAbout(id)) this.#phases.delete(id);
    const due = [...this.#phases.values()].map((phase) =>
      phase.kind === 'idle' ? phase.since + delay : this.#streak.until,
    );
    this.#await(Math.min(...due.filter((time) => time > now)) - now);
  }

  /** No unit begins any more; resolves once those that were begun have ended, which `deadline` cuts short. */
  stop(deadline: AbortSignal): Promise<void> {
    return this.#work.stop(deadline);
  }

  #step(item: NetworkInterface, facts: IdleFacts, now: number): void {
    const { id } = item;
    const phase = this.#phases.get(id);
    if (phase?.kind === 'detaching' || this.#work.isAbout(id)) return;
    if (this.#isIdle(item, facts)) this.#stepIdle(item, phase, { facts, now });
    else this.#phases.delete(id);
  }

  #stepIdle({ id }: NetworkInterface, phase: Phase | undefined, at: { facts: IdleFacts; now: number }): void {
    const { facts, now } = at;
    const { delay = Infinity, permission } = this.#deps;
    const refusal = permission.refusal('takeAway');
    // A dry run decides all the same.
    const mayDecide = refusal === undefined || refusal === 'dryRun';
    const next = later(phase, now, mayDecide ? delay : Infinity);
    this.#phases.set(id, next);
    const mayBegin = refusal === undefined && next.kind === 'leaving' && !this.#streak.isPausing;
    if (mayBegin && !isShown(facts.node, id)) this.#work.begin(() => this.#run(id), id);
  }

  #isIdle(item: NetworkInterface, { requirements, isShort }: IdleFacts): boolean {
    const { firstInterfaceIndex, usePrimaryAddress } = requirements;
    const { attachment, addresses, prefixes, description, id } = item;
    if (this.#deps.delay === undefined || usePrimaryAddress || isShort) return false;
    if (attachment?.state !== 'attached' || attachment.deviceIndex <= firstInterfaceIndex) return false;
    const isEmpty = addresses.length + prefixes.length === 0;
    const isOurs = description.startsWith(descriptionPrefix) && exclusionOf(item, requirements) === undefined;
    return isEmpty && isOurs && !this.#deps.isBusy(id);
  }

  async #run(interfaceId: string): Promise<void> {
    const { implementation, look, readNode } = this.#deps;
    const { closing: signal } = this.#work;
    // Somebody may have given it an address since the last reading.
    await doneOrAborted(look(), signal);
    if (this.#stillIdle(interfaceId) === undefined) return;
    const giveBack = await implementation.admit(['detachInterface'], { urgency, signal });
    const isRead = await readNode(signal).catch((error: unknown) => {
      giveBack();
      throw error;
    });
    const item = isRead ? this.#stillIdle(interfaceId) : undefined;
    if (item === undefined) {
      giveBack();
      if (!isRead) this.#streak.fail();
      return;
    }
    this.#phases.set(interfaceId, { kind: 'detaching' });
    const failure = await this.#detach(item);
    if (failure === undefined) await this.#delete(item);
  }

  /** The last look before it goes: what is known now counts, not what was known before the wait. */
  #stillIdle(interfaceId: string): NetworkInterface | undefined {
    const { permission } = this.#deps;
    const isStopped = this.#work.isClosing || permission.refusal('takeAway') !== undefined;
    const facts = isStopped ? undefined : this.#deps.facts();
    const item = facts?.view.interfaces.find(({ id }) => id === interfaceId);
    if (facts === undefined || item === undefined) return undefined;
    return this.#isIdle(item, facts) && !isShown(facts.node, interfaceId) ? item : undefined;
  }

  /** Undefined once it is being detached. */
  async #detach(item: NetworkInterface): Promise<CloudFailure | undefined> {
    const { instanceId, doubt, clock, onGivenBack } = this.#deps;
    const { id: interfaceId, subnetId, attachment } = item;
    const attachmentId = attachment?.id ?? '';
    const outcome = await this.#perform({ kind: 'detachInterface', instanceId, interfaceId, attachmentId });
    if (outcome.kind === 'done') {
      this.#streak.forget();
      return undefined;
    }
    const { failure } = outcome;
    // It is detached already, or may be: deleting it is refused for as long as it isn't.
    if (outcome.kind === 'ambiguous' || failure.kind === 'interfaceGone') return undefined;
    this.#phases.delete(interfaceId);
    this.#streak.fail();
    doubt(clock.monotonic());
    onGivenBack({ interfaceId, subnetId, at: 'detach', failure });
    return failure;
  }

  /** What cannot be deleted in time is left to the collection of orphans, or is still attached and shown again. */
  async #delete({ id: interfaceId, subnetId }: NetworkInterface): Promise<void> {
    const { clock, doubt, onGivenBack } = this.#deps;
    const until = clock.monotonic() + deleteFor;
    for (;;) {
      await sleep(clock, deletePause, this.#work.deadline);
      const failure = await this.#tryToDelete(interfaceId);
      const isLast = failure === undefined || clock.monotonic() >= until;
      // Its slot is free once it is detached, whether or not it can be deleted, and the node may need it.
      if (failure !== undefined && (isLast || this.#deps.facts()?.isShort === true)) doubt(clock.monotonic());
      if (!isLast) continue;
      this.#phases.delete(interfaceId);
      onGivenBack({ interfaceId, subnetId, at: 'delete', failure });
      return;
    }
  }

  /** Undefined once it is gone. */
  async #tryToDelete(interfaceId: string): Promise<CloudFailure | undefined> {
    const { implementation, fold } = this.#deps;
    await implementation.admit(['deleteInterface'], { urgency, signal: this.#work.deadline });
    // It is detached: nothing holds up its end any more.
    const outcome = await this.#perform({ kind: 'deleteInterface', interfaceId }, true);
    if (outcome.kind === 'done') return undefined;
    if (outcome.failure.kind !== 'interfaceGone') return outcome.failure;
    fold({ kind: 'deleted', interfaceId });
    return undefined;
  }

  async #perform(operation: Operation, isBegun = false): Promise<Outcome> {
    const context = { urgency, signal: this.#work.deadline, ...(isBegun && { begun: true as const }) };
    const outcome = await this.#deps.implementation.perform(operation, context);
    if (outcome.kind === 'done') this.#deps.fold(outcome.answer);
    return outcome;
  }

  #await(ms: number): void {
    this.#cancelNext?.();
    this.#cancelNext = ms < Infinity ? this.#work.later(ms, this.#deps.wake) : undefined;
  }
}

/** The phase of an interface that is idle still. */
function later(phase: Phase | undefined, now: number, delay: number): Phase {
  if (phase !== undefined && phase.kind !== 'idle') return phase;
  const since = phase?.since ?? now;
  return now >= since + delay ? { kind: 'leaving' } : { kind: 'idle', since };
}

const urgency = (): 'housekeeping' => 'housekeeping';

function isShown({ ipam, status }: CiliumNode, interfaceId: string): boolean {
  return (
    status.eni.has(interfaceId) || [...ipam.pool.values()].some(({ resource }) => resource === interfaceId)
  );
}
