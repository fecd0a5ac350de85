// Detaches and deletes interfaces that have had no pod address for a long time. Each one costs an instance
// slot and a primary address of its subnet. Order: hide it from the agent, refresh the instance, detach, read
// until it is detached, delete. A crash after the detach leaves an orphan, which the orphan collection deletes.
import type { CiliumNode } from '../../kubernetes/cilium-node/cilium-node.ts';
import { isInterfaceShown } from '../../kubernetes/cilium-node/shown-addresses.ts';
import type { CloudFailure } from '../../providers/contract/cloud-failure.ts';
import { policyOf } from '../../providers/contract/failure-policy.ts';
import type { Operation, Outcome } from '../../providers/contract/operations.ts';
import type { Caller } from '../../providers/contract/priority.ts';
import { type NetworkInterface, secondaryAssignments } from '../../providers/contract/network-interface.ts';
import { descriptionPrefix } from '../../providers/orphans/ownership-tags.ts';
import { sleep } from '../../runtime/clock.ts';
import { Backoff } from '../../runtime/backoff.ts';
import { type Requeue, requeueAt } from '../../runtime/requeue.ts';
import type { TaskRuntime } from '../../runtime/task-group.ts';
import { LazyMap } from '../../runtime/lazy-collections.ts';
import { raceAbort } from '../../runtime/race-abort.ts';
import { retry } from '../../runtime/retry.ts';
import { exclusionOf, type ServedNode } from '../demand/node-requirements.ts';
import { usageOf } from './prepare-ip-release.ts';
import type { ReleasingNode } from './releaser.ts';

export interface IdleNode extends Omit<ReleasingNode, 'forRelease' | 'releases' | 'tell'> {
  readonly idle: IdlePhases;
  /** The facts known now; undefined while the node is not served. */
  forIdleInterfaces(): IdleFacts | undefined;
  /** Refreshes the instance from the cloud and waits for the result, without a time limit. */
  refresh(): Promise<void>;
  tell(event: InterfaceReleaseEvent): void;
}

export interface IdleFacts extends ServedNode {
  /** Whether the node lacks addresses. */
  readonly inDeficit: boolean;
  /** Interfaces to which something is being added, or that are losing something. */
  readonly busy: ReadonlySet<string>;
}

export interface InterfaceReleaseEvent {
  readonly kind: 'interfaceRelease';
  readonly release: InterfaceRelease;
}

export interface InterfaceRelease {
  readonly interfaceId: string;
  readonly subnetId: string;
  readonly at: 'detach' | 'delete';
  /** Undefined when the operation succeeded. */
  readonly failure: CloudFailure | undefined;
}

type Phase =
  | { readonly kind: 'idle'; readonly since: number }
  /** Hidden from the agent, or about to be. */
  | { readonly kind: 'leaving' }
  /** The detach call may have started: this phase never reverts. */
  | { readonly kind: 'detaching' };

const none: ReadonlySet<string> = new Set();

/** The idle interfaces of a node, and how far each is. */
export class IdlePhases extends LazyMap<string, Phase> {
  /** Interfaces that are neither shown to the agent nor given addresses. */
  get leaving(): ReadonlySet<string> {
    if (this.size === 0) return none;
    return new Set([...this].filter(([, { kind }]) => kind !== 'idle').map(([id]) => id));
  }
}

const backoffPolicy = { base: 5000, cap: 600_000 };
/** Least pause between two reads of an interface that is detaching, in ms. One is read again when it has waited for this share longer. */
const readPause = 1000;
const patience = 1 / 4;
/** How long to read until it is detached, in ms. */
const readFor = 60_000;
/** Pause between two attempts to delete it, in ms. */
const deletePause = 5000;
/** How long after the detach to keep trying, in ms. */
const deleteFor = 120_000;

export class IdleInterfaces {
  readonly #node: IdleNode;
  readonly #runtime: TaskRuntime;
  readonly #delay: number;
  readonly #backoff: Backoff;

  /** `delay`: how long an interface must be idle, in ms. */
  constructor(node: IdleNode, runtime: TaskRuntime, delay: number) {
    this.#node = node;
    this.#runtime = runtime;
    this.#delay = delay;
    this.#backoff = new Backoff(backoffPolicy, runtime);
  }

  /** Advances every idle interface as far as possible now. */
  step(now: number): Requeue {
    const facts = this.#node.forIdleInterfaces();
    if (facts === undefined) return {};
    for (const item of facts.view.interfaces) this.#stepOn(item, facts, now);
    const known = new Set(facts.view.interfaces.map(({ id }) => id));
    for (const id of this.#node.idle.keys())
      if (!known.has(id) && !this.#isWorkingOn(id)) this.#node.idle.delete(id);
    const due = [...this.#node.idle.values()].map((phase) =>
      phase.kind === 'idle' ? phase.since + this.#delay : this.#backoff.until,
    );
    return requeueAt(due, now);
  }

  #isWorkingOn(interfaceId: string): boolean {
    return this.#runtime.tasks.isAbout(subjectOf(interfaceId));
  }

  #stepOn(item: NetworkInterface, facts: IdleFacts, now: number): void {
    const { id } = item;
    const phase = this.#node.idle.get(id);
    if (phase?.kind === 'detaching' || this.#isWorkingOn(id)) return;
    if (this.#isUnused(item, facts)) this.#stepIdle(item, phase, { facts, now });
    else this.#node.idle.delete(id);
  }

  #stepIdle({ id }: NetworkInterface, phase: Phase | undefined, at: { facts: IdleFacts; now: number }): void {
    const { facts, now } = at;
    const refusal = this.#node.refusal('release');
    // A dry run decides too, but starts nothing.
    const mayDecide = refusal === undefined || refusal === 'dryRun';
    const next = later(phase, now, mayDecide ? this.#delay : Infinity);
    this.#node.idle.set(id, next);
    const mayBegin = refusal === undefined && next.kind === 'leaving' && !this.#backoff.isPausing;
    if (mayBegin && !isInterfaceShown(facts.node)(id)) this.#beginRelease(id);
  }

  #beginRelease(interfaceId: string): void {
    const backOff = (): number => this.#backoff.fail();
    this.#runtime.tasks.beginTask(() => this.#run(interfaceId), subjectOf(interfaceId), backOff);
  }

  #isUnused(item: NetworkInterface, facts: IdleFacts): boolean {
    // The cloud has to show it here: a CiliumNode alone may name an interface of another instance.
    if (facts.view.possiblyGone.has(item.id)) return false;
    return this.#isIdle(item, facts) && !this.#isPrimaryUsed(facts.node, item);
  }

  #isIdle(item: NetworkInterface, { requirements, inDeficit, busy }: IdleFacts): boolean {
    const { firstInterfaceIndex, usePrimaryAddress } = requirements;
    const { attachment, description, id } = item;
    if (usePrimaryAddress || inDeficit) return false;
    if (attachment?.state !== 'attached' || attachment.deviceIndex <= firstInterfaceIndex) return false;
    const isOurs = description.startsWith(descriptionPrefix) && exclusionOf(item, requirements) === undefined;
    return isEmpty(item) && isOurs && !busy.has(id);
  }

  async #run(interfaceId: string): Promise<void> {
    const node = this.#node;
    const { closing: signal } = this.#runtime.tasks;
    // The interface may have received an address since the last refresh.
    await raceAbort(node.refresh(), signal);
    if (this.#stillIdle(interfaceId) === undefined) return;
    const refund = await node.implementation.admit(['detachInterface'], { caller, signal });
    const isRead = await this.#readLast(interfaceId, signal).catch((error: unknown) => {
      refund();
      throw error;
    });
    const item = isRead ? this.#stillIdle(interfaceId) : undefined;
    if (item === undefined) {
      refund();
      if (!isRead) this.#backoff.fail();
      return;
    }
    this.#node.idle.set(interfaceId, { kind: 'detaching' });
    const failure = await this.#detach(item);
    if (failure !== undefined) return;
    const since = this.#runtime.clock.monotonic();
    await this.#untilDetached(interfaceId, since);
    await this.#delete(item, since + deleteFor);
  }

  /**
   * Pods may have received the primary address before use-primary-address was turned off. Or a pod lost it with another
   * interface, and still uses it.
   */
  #isPrimaryUsed(node: CiliumNode, { primaryAddress }: NetworkInterface): boolean {
    const { podUse } = this.#node;
    if (node.ipam.pool.has(primaryAddress) || usageOf(node)(primaryAddress)) return true;
    return podUse.keeps(primaryAddress);
  }

  /** Reads what the agent and the pods of the node say right before the detach. False if that fails. */
  async #readLast(interfaceId: string, signal: AbortSignal): Promise<boolean> {
    const node = this.#node;
    if (!(await node.reread(signal))) return false;
    const primary = this.#stillIdle(interfaceId)?.primaryAddress;
    return primary === undefined || node.podUse.look([primary], signal);
  }

  /** The final check before the detach: it uses the state after the wait, not before it. */
  #stillIdle(interfaceId: string): NetworkInterface | undefined {
    const isStopped = this.#runtime.tasks.isClosing || this.#node.refusal('release') !== undefined;
    const facts = isStopped ? undefined : this.#node.forIdleInterfaces();
    const item = facts?.view.interfaces.find(({ id }) => id === interfaceId);
    if (facts === undefined || item === undefined) return undefined;
    return this.#isUnused(item, facts) && !isInterfaceShown(facts.node)(interfaceId) ? item : undefined;
  }

  /** Undefined when the interface is detached or may be. */
  async #detach(item: NetworkInterface): Promise<CloudFailure | undefined> {
    const node = this.#node;
    const { instanceId } = node;
    const { id: interfaceId, subnetId, attachment } = item;
    const attachmentId = attachment?.id ?? '';
    const outcome = await this.#perform({ kind: 'detachInterface', instanceId, interfaceId, attachmentId });
    if (outcome.kind === 'done') {
      this.#backoff.forget();
      return undefined;
    }
    const { failure } = outcome;
    // The interface is or may be detached. If it is still attached, the cloud refuses the delete.
    if (outcome.kind === 'ambiguous' || policyOf(failure).retry === 'needless') return undefined;
    this.#node.idle.delete(interfaceId);
    this.#backoff.fail();
    node.invalidate(this.#runtime.clock.monotonic());
    node.tell({ kind: 'interfaceRelease', release: { interfaceId, subnetId, at: 'detach', failure } });
    return failure;
  }

  /** Where reads do not show in time that the interface is detached, the delete finds out. */
  async #untilDetached(interfaceId: string, since: number): Promise<void> {
    const node = this.#node;
    const { clock, tasks } = this.#runtime;
    const ended = new AbortController();
    const signal = AbortSignal.any([ended.signal, tasks.deadline]);
    const isAttached = async (): Promise<boolean> => {
      await raceAbort(node.refresh(), signal);
      return this.#isShownAttached(interfaceId);
    };
    const reads = retry({ clock, signal }, isAttached, (isStill) =>
      isStill ? Math.max(readPause, (clock.monotonic() - since) * patience) : undefined,
    );
    await Promise.race([reads, sleep(clock, readFor, signal)]).finally(() => ended.abort());
  }

  /** Whether the last refresh shows it on the instance. */
  #isShownAttached(interfaceId: string): boolean {
    const view = this.#node.forIdleInterfaces()?.view;
    if (view === undefined || view.possiblyGone.has(interfaceId)) return false;
    return view.interfaces.some(({ id }) => id === interfaceId);
  }

  /**
   * An interface that cannot be deleted in time is left to the orphan collection. If it is still attached, it
   * is shown again.
   */
  async #delete({ id: interfaceId, subnetId }: NetworkInterface, until: number): Promise<void> {
    const node = this.#node;
    const { clock, tasks } = this.#runtime;
    const failure = await retry(
      { clock, signal: tasks.deadline },
      () => this.#tryToDelete(interfaceId),
      (refusal) => {
        const isLast = refusal === undefined || clock.monotonic() >= until;
        // The detach alone frees the slot, and the node may need it now.
        if (refusal !== undefined && (isLast || node.forIdleInterfaces()?.inDeficit === true)) {
          node.invalidate(clock.monotonic());
          tasks.report();
        }
        return isLast ? undefined : deletePause;
      },
    );
    node.idle.delete(interfaceId);
    node.tell({ kind: 'interfaceRelease', release: { interfaceId, subnetId, at: 'delete', failure } });
  }

  /** Undefined once the interface is gone. */
  async #tryToDelete(interfaceId: string): Promise<CloudFailure | undefined> {
    const node = this.#node;
    await node.implementation.admit(['deleteInterface'], { caller, signal: this.#runtime.tasks.deadline });
    // The interface is detached, so the delete does not wait for anything else.
    const outcome = await this.#perform({ kind: 'deleteInterface', interfaceId }, true);
    if (outcome.kind === 'done') return undefined;
    if (policyOf(outcome.failure).retry !== 'needless') return outcome.failure;
    node.applyAnswer({ kind: 'deleted', interfaceId });
    return undefined;
  }

  async #perform(operation: Operation, isStarted = false): Promise<Outcome> {
    const context = {
      caller,
      signal: this.#runtime.tasks.deadline,
      ...(isStarted && { inFlight: true as const }),
    };
    const outcome = await this.#node.implementation.perform(operation, context);
    if (outcome.kind === 'done') this.#node.applyAnswer(outcome.answer);
    return outcome;
  }
}

function subjectOf(interfaceId: string): string {
  return `idle ${interfaceId}`;
}

/** The phase of an interface that is still idle. */
function later(phase: Phase | undefined, now: number, delay: number): Phase {
  if (phase !== undefined && phase.kind !== 'idle') return phase;
  const since = phase?.since ?? now;
  return now >= since + delay ? { kind: 'leaving' } : { kind: 'idle', since };
}

const caller: Caller = { priority: 'housekeeping' };

/**
 * An associated public address counts as use. So does an IPv6 prefix, which is never released: its agent does not say what it
 * uses of it.
 */
function isEmpty(item: NetworkInterface): boolean {
  return secondaryAssignments(item).length === 0 && item.publicAddress === undefined;
}
