// Blocks what the cloud refused (a scope: a subnet, an interface, an action, ...) for all nodes. Each scope backs
// off longer after each refusal, then one node tries it. Nodes that nothing else can serve wait here for that
// attempt. An action refused for two different scopes is blocked as an action.
//
// Plans of allocations consult it, for any kind of refusal. Releases and other housekeeping have no plan to change:
// denied-actions.ts answers those where they would be sent, and only where a policy denies them.
import type { CloudFailure } from '../../providers/contract/cloud-failure.ts';
import { policyOf } from '../../providers/contract/failure-policy.ts';
import { type Refusal, Refusals, type RefusalsDeps } from '../../runtime/refusals.ts';
import type { Random } from '../../runtime/random.ts';
import { keyOf, type AllocationCall, type RefusedScope } from './refused-scope.ts';

/** The longest back-off, in ms: what nothing else can serve is retried within a minute. */
const cap = 60_000;
/** The first back-off, in ms: for failures that may pass, and for those that a person has to act on. */
const bases = { ifRepeated: 1000, atOnce: 10_000 };
/** Scopes of an assignment that an answer names. */
const blamed: ReadonlySet<RefusedScope['kind']> = new Set(['instance', 'assignmentsIn']);
/** A scope keeps its refusal count for this long after its back-off ended, in ms. */
const remembered = 600_000;

/** One step may try the scope once it is due. */
export type ScopeRefusal = RefusedFor & Pick<Refusal<RefusedFor>, 'failures' | 'isDue'>;

interface RefusedFor {
  readonly scope: RefusedScope;
  readonly failure: CloudFailure;
}

export interface RefusedCall extends RefusedFor {
  /** In monotonic ms. */
  readonly startedAt: number;
  /** Set if the action itself may be refused. */
  readonly perhaps?: { readonly action: AllocationCall; readonly instanceId: string };
}

export interface BlockedResourcesDeps {
  readonly clock: RefusalsDeps<RefusedFor>['clock'];
  readonly random: Random;
  /** Called when a scope is blocked, with the failure, and when it works again. */
  readonly onChange?: (scope: RefusedScope, failure: CloudFailure | undefined) => void;
}

export class BlockedResources {
  readonly #onChange: NonNullable<BlockedResourcesDeps['onChange']>;
  readonly #refusals: Refusals<RefusedFor>;
  /** Actions that have worked: then a denial for one instance or subnet says nothing about others. */
  readonly #proven = new Set<AllocationCall>();
  /** Scopes that each action was refused for since its last success, with the requesting instance. */
  readonly #suspicions = new Map<AllocationCall, Map<string, string>>();

  constructor({ clock, random, onChange = () => undefined }: BlockedResourcesDeps) {
    this.#onChange = onChange;
    this.#refusals = new Refusals({
      clock,
      random,
      policyFor: ({ failure }) => ({ base: bases[policyOf(failure).tell], cap }),
      remembered,
    });
  }

  /** Undefined if nothing blocks the scope. */
  refusalOf(scope: RefusedScope): ScopeRefusal | undefined {
    // Fast path for the usual case: computes no key.
    if (this.#refusals.isEmpty) return undefined;
    const refusal = this.#refusals.of(keyOf(scope));
    return refusal && scopeRefusal(refusal);
  }

  /** Everything blocked now. */
  get list(): readonly ScopeRefusal[] {
    return this.#refusals.list.map(([, refusal]) => scopeRefusal(refusal));
  }

  /**
   * A step starts that needs all of these. It alone tries those that are due, until the returned function is
   * called.
   */
  beginTry(scopes: readonly RefusedScope[]): () => void {
    return this.#refusals.beginTry(scopes.map(keyOf));
  }

  /** Returns whether this is a new refusal: calls in flight together that are refused alike count once. */
  refused(call: RefusedCall): boolean {
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
      if (this.#refusals.worked(keyOf(scope))) this.#onChange(scope, undefined);
    }
  }

  /**
   * Calls `wake` each time one of these may allow another plan than that of `since`, in monotonic ms. The returned
   * function unsubscribes.
   */
  awaitChange(scopes: readonly RefusedScope[], wake: () => void, since: number): () => void {
    return this.#refusals.awaitChange(scopes.map(keyOf), wake, since);
  }

  #record({ scope, failure, startedAt }: RefusedCall): boolean {
    const key = keyOf(scope);
    const isKnown = this.#refusals.of(key) !== undefined;
    const isNews = this.#refusals.refused(key, { scope, failure }, startedAt);
    if (!isKnown) this.#onChange(scope, failure);
    return isNews;
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
}

function scopeRefusal({ failure: refused, failures, isDue }: Refusal<RefusedFor>): ScopeRefusal {
  return { ...refused, failures, isDue };
}
