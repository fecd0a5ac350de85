// Blocks what the cloud refused (a scope: a subnet, an interface, an action, ...) for all nodes. Each scope backs
// off longer after each refusal, then one node tries it. Nodes that nothing else can serve wait here for that
// attempt. An action refused for two different scopes is blocked as an action.
//
// Plans of allocations consult it, for any kind of refusal. Releases and other housekeeping have no plan to change:
// denied-actions.ts answers those where they would be sent, and only where a policy denies them.
import type { CloudFailure } from '../../providers/contract/cloud-failure.ts';
import { policyOf } from '../../providers/contract/failure-policy.ts';
import type { Clock } from '../../runtime/clock.ts';
import { type BackoffState, backOff } from '../../runtime/exponential-backoff.ts';
import type { Random } from '../../runtime/random.ts';
import { keyOf, type AllocationAction, type RefusedScope } from './refused-scope.ts';

/** The longest back-off, in ms: what nothing else can serve is retried within a minute. */
const cap = 60_000;
/** The first back-off, in ms: for failures that may pass, and for those that a person has to act on. */
const bases = { passing: 1000, standing: 10_000 };
/** Scopes of an assignment that an answer names. */
const blamed: ReadonlySet<RefusedScope['kind']> = new Set(['instance', 'assignmentsIn']);
/** A scope keeps its refusal count for this long after its back-off ended, in ms. */
const remembered = 600_000;

export interface ScopeRefusal {
  readonly scope: RefusedScope;
  readonly failure: CloudFailure;
  /** Consecutive refusals. */
  readonly failures: number;
  /** One step may try it now. */
  readonly isDue: boolean;
}

/** A refused call. */
export interface RefusedCall {
  readonly scope: RefusedScope;
  readonly failure: CloudFailure;
  /** In monotonic ms. */
  readonly startedAt: number;
  /** Set if the action itself may be refused. */
  readonly perhaps?: { readonly action: AllocationAction; readonly instanceId: string };
}

interface Entry {
  readonly scope: RefusedScope;
  failure: CloudFailure;
  backoff: BackoffState;
  refusedAt: number;
  isTried: boolean;
  readonly waiting: Set<() => void>;
  cancel: (() => void) | undefined;
}

export interface BlockedResourcesDeps {
  readonly clock: Pick<Clock, 'monotonic' | 'schedule'>;
  readonly random: Random;
  /** Called when a scope is blocked, with the failure, and when it works again. */
  readonly onChange?: (scope: RefusedScope, failure: CloudFailure | undefined) => void;
}

export class BlockedResources {
  readonly #clock: BlockedResourcesDeps['clock'];
  readonly #random: Random;
  readonly #onChange: NonNullable<BlockedResourcesDeps['onChange']>;
  readonly #entries = new Map<string, Entry>();
  /** Actions that have worked: then a denial for one instance or subnet says nothing about others. */
  readonly #proven = new Set<AllocationAction>();
  /** Scopes that each action was refused for since its last success, with the requesting instance. */
  readonly #suspicions = new Map<AllocationAction, Map<string, string>>();

  constructor({ clock, random, onChange = () => undefined }: BlockedResourcesDeps) {
    this.#clock = clock;
    this.#random = random;
    this.#onChange = onChange;
  }

  /** Undefined if nothing blocks the scope. */
  refusalOf(scope: RefusedScope): ScopeRefusal | undefined {
    // Fast path for the usual case: computes no key.
    if (this.#entries.size === 0) return undefined;
    const entry = this.#entries.get(keyOf(scope));
    if (entry === undefined) return undefined;
    const { failure, backoff, isTried } = entry;
    const isDue = !isTried && this.#clock.monotonic() >= backoff.until;
    return { scope, failure, failures: backoff.failures, isDue };
  }

  /** Everything blocked now. */
  get list(): readonly ScopeRefusal[] {
    return [...this.#entries.values()].flatMap(({ scope }) => this.refusalOf(scope) ?? []);
  }

  /**
   * A step starts that needs all of these. It alone tries those that are due, until the returned function is
   * called.
   */
  try(scopes: readonly RefusedScope[]): () => void {
    const tried = scopes.flatMap((scope) => this.#entries.get(keyOf(scope)) ?? []);
    for (const entry of tried) entry.isTried = true;
    let hasEnded = false;
    return () => {
      if (hasEnded) return;
      hasEnded = true;
      for (const entry of tried) {
        entry.isTried = false;
        // The attempt ended without success or refusal: the next step tries it.
        if (this.#clock.monotonic() >= entry.backoff.until) for (const wake of entry.waiting) wake();
        else this.#wakeWhenDue(entry);
      }
    };
  }

  /** Returns whether this is a new refusal: calls in flight together that are refused alike count once. */
  refused(call: RefusedCall): boolean {
    this.#forgetOld();
    const isNews = this.#record(call);
    if (call.perhaps !== undefined && this.#isOfAction(call, call.perhaps)) {
      this.#record({ ...call, scope: { kind: 'action', action: call.perhaps.action } });
    }
    return isNews;
  }

  /** A call that needed all of these succeeded. */
  worked(scopes: readonly RefusedScope[]): void {
    for (const scope of scopes) {
      if (scope.kind === 'action') {
        this.#suspicions.delete(scope.action);
        this.#proven.add(scope.action);
      }
      const entry = this.#entries.get(keyOf(scope));
      if (entry === undefined) continue;
      this.#entries.delete(keyOf(scope));
      entry.cancel?.();
      this.#onChange(scope, undefined);
      for (const wake of entry.waiting) wake();
    }
  }

  /** Calls `wake` each time one of these may allow another plan. The returned function unsubscribes. */
  await(scopes: readonly RefusedScope[], wake: () => void): () => void {
    const entries = scopes.flatMap((scope) => this.#entries.get(keyOf(scope)) ?? []);
    for (const entry of entries) {
      entry.waiting.add(wake);
      this.#wakeWhenDue(entry);
    }
    return () => {
      for (const entry of entries) {
        entry.waiting.delete(wake);
        if (entry.waiting.size > 0) continue;
        entry.cancel?.();
        entry.cancel = undefined;
      }
    };
  }

  #record({ scope, failure, startedAt }: RefusedCall): boolean {
    const key = keyOf(scope);
    const known = this.#entries.get(key);
    if (known !== undefined && startedAt < known.refusedAt) return false;
    const now = this.#clock.monotonic();
    const base = policyOf(failure).tell === 'atOnce' ? bases.standing : bases.passing;
    const backoff = backOff(known?.backoff, { base, cap }, now, this.#random);
    if (known === undefined) {
      const added = { scope, failure, backoff, refusedAt: now, isTried: false, cancel: undefined };
      this.#entries.set(key, { ...added, waiting: new Set() });
      this.#onChange(scope, failure);
      return true;
    }
    known.failure = failure;
    known.backoff = backoff;
    known.refusedAt = now;
    this.#wakeWhenDue(known);
    return true;
  }

  /**
   * Whether the action itself is to blame, because a second scope was refused. Attach and assign concern one
   * instance each. Unless permissions are denied, refusals on two instances are required: one bad instance
   * must not block all. If the answer blames an instance or its subnet, the action must never have worked as well.
   */
  #isOfAction(
    { scope, failure }: RefusedCall,
    { action, instanceId }: NonNullable<RefusedCall['perhaps']>,
  ): boolean {
    if (blamed.has(scope.kind) && this.#proven.has(action)) return false;
    const refused = this.#suspicions.get(action) ?? new Map<string, string>();
    this.#suspicions.set(action, refused.set(keyOf(scope), instanceId));
    const instances = new Set(refused.values());
    const isForAllInstances = action === 'create' || failure.kind === 'notAuthorized';
    return refused.size > 1 && (isForAllInstances || instances.size > 1);
  }

  #wakeWhenDue(entry: Entry): void {
    entry.cancel?.();
    entry.cancel = undefined;
    const wait = entry.backoff.until - this.#clock.monotonic();
    // The node that finds it due tries it; the end of that attempt wakes the others.
    if (entry.isTried || entry.waiting.size === 0 || wait <= 0) return;
    entry.cancel = this.#clock.schedule(wait, () => {
      entry.cancel = undefined;
      for (const wake of entry.waiting) wake();
    });
  }

  #forgetOld(): void {
    const now = this.#clock.monotonic();
    for (const [key, { backoff, isTried, waiting }] of this.#entries) {
      if (!isTried && waiting.size === 0 && now >= backoff.until + remembered) this.#entries.delete(key);
    }
  }
}
