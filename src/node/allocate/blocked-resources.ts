// Blocks what the cloud refused (a scope: a subnet, an interface, an action, ...). Each scope backs off longer after
// each refusal, then one node tries it. Nodes that nothing else can serve wait here for that attempt.
//
// A scope that nodes share is blocked for all of them only while nobody is served. Nodes that were not refused have turns
// of their own, which others cannot use up, and as many as they like if the answer leaves open what it is about. As soon as
// one of them is served, only those that were refused avoid the scope. An action refused for two different scopes is
// blocked as an action.
//
// Plans of allocations consult it, for any kind of refusal. Releases and other housekeeping have no plan to change:
// denied-actions.ts answers those where they would be sent, and only where a policy denies them.
import type { CloudFailure } from '../../providers/contract/cloud-failure.ts';
import { mayConcern, policyOf } from '../../providers/contract/failure-policy.ts';
import { type Refusal, Refusals, type RefusalsDeps } from '../../runtime/refusals.ts';
import { RefusedParties } from '../../runtime/refused-parties.ts';
import type { Random } from '../../runtime/random.ts';
import { isShared, keyOf, type AllocationCall, type RefusedScope } from './refused-scope.ts';

/** The longest back-off, in ms: what nothing else can serve is retried within a minute. */
const cap = 60_000;
/**
 * The same once an instance has refused this many interfaces: each try creates one and deletes it. A missing permission is not
 * the instance's.
 */
const unattached = { many: 20, cap: 300_000 };
/** The first back-off, in ms: for failures that may pass, and for those that a person has to act on. */
const bases = { ifRepeated: 1000, atOnce: 10_000 };
/** Scopes of an assignment that an answer names. */
const blamed: ReadonlySet<RefusedScope['kind']> = new Set(['instance', 'assignmentsIn']);
/** A scope keeps its refusal count for this long after its back-off ended, in ms. */
const remembered = 600_000;

/** A single step may try the scope once it is due. */
export type ScopeRefusal = RefusedFor &
  Pick<Refusal<RefusedFor>, 'failures' | 'isDue'> & {
    /** Only other instances were refused. */
    readonly isOfOthers: boolean;
  };

interface RefusedFor {
  readonly scope: RefusedScope;
  readonly failure: CloudFailure;
}

export interface RefusedCall extends RefusedFor {
  readonly instanceId: string;
  /** In monotonic ms. */
  readonly startedAt: number;
  /** Set if the action itself may be refused. */
  readonly perhaps?: AllocationCall;
}

export interface BlockedResourcesDeps {
  readonly clock: RefusalsDeps['clock'];
  readonly random: Random;
  /** Called when a scope is blocked, with the failure, and when it works again. `instanceId`: for that one only. */
  readonly onChange?: (scope: RefusedScope, failure: CloudFailure | undefined, instanceId?: string) => void;
}

/** For whom a scope is blocked. */
type BlockedFor =
  /** Everybody, or everybody who was refused. */
  | 'all'
  /** Everybody who was not refused. */
  | 'others'
  | { readonly instanceId: string };

export class BlockedResources {
  readonly #onChange: NonNullable<BlockedResourcesDeps['onChange']>;
  readonly #refusals: Refusals<RefusedFor>;
  /** Instances that each scope was refused to, if instances share it. */
  readonly #instances: RefusedParties<CloudFailure>;

  constructor({ clock, random, onChange = () => undefined }: BlockedResourcesDeps) {
    this.#onChange = onChange;
    this.#refusals = new Refusals({
      clock,
      random,
      remembered,
    });
    this.#instances = new RefusedParties(clock, remembered + unattached.cap);
  }

  /** Undefined if nothing blocks the scope for the instance. */
  refusalOf(scope: RefusedScope, instanceId: string): ScopeRefusal | undefined {
    // Fast path for the usual case: computes no key.
    if (this.#refusals.isEmpty) return undefined;
    const own = this.#instances.failureOf(keyOf(scope), instanceId);
    const refusals = this.#blocksOf(scope, instanceId).flatMap((blocked) => {
      const refusal = this.#refusals.of(keyFor(scope, blocked));
      return refusal === undefined ? [] : [scopeRefusal(refusal, blocked === 'others', own)];
    });
    return refusals.find(({ isDue }) => !isDue) ?? refusals[0];
  }

  /** When the instance may try one of these at the earliest, in monotonic ms; undefined if nothing blocks them. */
  dueAt(scopes: readonly RefusedScope[], instanceId: string): number | undefined {
    const due = scopes.flatMap((scope) => {
      const untils = this.#keysOf([scope], instanceId).flatMap((key) => this.#refusals.of(key)?.until ?? []);
      return untils.length === 0 ? [] : [Math.max(...untils)];
    });
    return due.length === 0 ? undefined : Math.min(...due);
  }

  /** Everything blocked now, for all or for one instance. */
  get list(): readonly ScopeRefusal[] {
    return this.#refusals.list.flatMap(([key, refusal]) =>
      key.startsWith(ofOthers) ? [] : [scopeRefusal(refusal, false)],
    );
  }

  /**
   * A step of the instance starts that needs all of these. It alone tries those that are due, until the returned function
   * is called.
   */
  beginTry(scopes: readonly RefusedScope[], instanceId: string): () => void {
    return this.#refusals.isEmpty ? nothing : this.#refusals.beginTry(this.#keysOf(scopes, instanceId));
  }

  /** Returns whether this is a new refusal: calls in flight together that are refused alike count once. */
  refused(call: RefusedCall): boolean {
    const isNews = this.#refusedFor(call);
    if (call.perhaps !== undefined) this.#suspect(call, { kind: 'action', action: call.perhaps });
    return isNews;
  }

  /** A call of the instance that needed all of these succeeded. */
  worked(scopes: readonly RefusedScope[], instanceId: string): void {
    for (const scope of scopes) {
      const shared = isShared(scope);
      if (shared) this.#instances.worked(keyOf(scope), instanceId);
      if (this.#refusals.isEmpty) continue;
      if (shared) this.#refusals.worked(keyFor(scope, 'others'));
      if (shared && this.#refusals.worked(keyFor(scope, { instanceId })))
        this.#onChange(scope, undefined, instanceId);
      if (this.#refusals.worked(keyFor(scope, 'all'))) this.#onChange(scope, undefined);
    }
  }

  /**
   * Calls `wake` each time one of these may allow the instance another plan than that of `since`, in monotonic ms. The
   * returned function unsubscribes.
   */
  awaitChange(
    scopes: readonly RefusedScope[],
    {
      instanceId,
      wake,
      since,
    }: { readonly instanceId: string; readonly wake: () => void; readonly since: number },
  ): () => void {
    return this.#refusals.awaitChange(this.#keysOf(scopes, instanceId), wake, since);
  }

  #keysOf(scopes: readonly RefusedScope[], instanceId: string): readonly string[] {
    return scopes.flatMap((scope) =>
      this.#blocksOf(scope, instanceId).map((blocked) => keyFor(scope, blocked)),
    );
  }

  /** Blocks that may hold the scope for the instance. */
  #blocksOf(scope: RefusedScope, instanceId: string): readonly BlockedFor[] {
    if (!isShared(scope)) return ['all'];
    return this.#wasRefused(scope, instanceId) ? [{ instanceId }, 'all'] : ['others'];
  }

  #wasRefused(scope: RefusedScope, instanceId: string): boolean {
    return this.#instances.failureOf(keyOf(scope), instanceId) !== undefined;
  }

  #refusedFor(call: RefusedCall): boolean {
    const { scope, instanceId } = call;
    if (!isShared(scope)) return this.#record(call, 'all');
    const isFirst = !this.#wasRefused(scope, instanceId);
    this.#instances.refused(keyOf(scope), instanceId, call.failure);
    return this.#isOfInstance(call) ? this.#record(call, { instanceId }) : this.#blockForAll(call, isFirst);
  }

  /** Whether a refusal of something shared concerns this instance only: others are served. */
  #isOfInstance({ scope, failure, instanceId }: RefusedCall): boolean {
    const key = keyOf(scope);
    const isNamed = failure.about !== undefined;
    const isFirstOfMany =
      !isNamed && this.#instances.hasWorked(key) && this.#instances.suspects(key).parties < 2;
    return isFirstOfMany || this.#instances.isAlone(key, instanceId);
  }

  /** `isFirst`: it is news for those that were not refused. */
  #blockForAll(call: RefusedCall, isFirst: boolean): boolean {
    if (isFirst && this.#concernsOthers(call)) this.#record(call, 'others');
    return this.#record(call, 'all');
  }

  /**
   * Whether others wait for a turn to try it. What a refusal leaves open each of them learns by one call of its own, except
   * in a place where nobody was ever served: there an interface may be made and deleted for nothing.
   */
  #concernsOthers({ scope, failure }: RefusedCall): boolean {
    return !isOfThing(failure) || (scope.kind !== 'action' && !this.#instances.hasWorked(keyOf(scope)));
  }

  #record({ scope, failure, startedAt }: RefusedCall, blocked: BlockedFor): boolean {
    const key = keyFor(scope, blocked);
    const known = this.#refusals.of(key);
    const isHopeless = scope.kind === 'newInterfaces' && (known?.failures ?? 0) >= unattached.many;
    const longest = isHopeless && failure.kind !== 'notAuthorized' ? unattached.cap : cap;
    const policy = { base: bases[policyOf(failure).tell], cap: longest };
    const isNews = this.#refusals.refused(key, { scope, failure }, { policy, startedAt });
    if (known !== undefined || blocked === 'others') return isNews;
    this.#onChange(scope, failure, blocked === 'all' ? undefined : blocked.instanceId);
    return isNews;
  }

  #suspect(call: RefusedCall, action: RefusedScope & { kind: 'action' }): void {
    const key = keyOf(action);
    if (blamed.has(call.scope.kind) && this.#instances.hasWorked(key)) return;
    // Answers blame a scope for those that got them: others learn by one call of their own.
    const isForOthers = !blamed.has(call.scope.kind) && !this.#wasRefused(action, call.instanceId);
    this.#instances.refused(key, call.instanceId, call.failure, keyOf(call.scope));
    if (this.#isOfAction(call, action)) this.#blockForAll({ ...call, scope: action }, isForOthers);
  }

  /**
   * Whether the action itself is to blame, because a second scope was refused and nobody was served since the first. Two
   * instances are required: one bad instance must not block all. Only an action that has never worked is also blocked by
   * two scopes of one instance, if it is a creation, which concerns no instance, or if permissions are denied.
   */
  #isOfAction({ failure, instanceId }: RefusedCall, action: RefusedScope & { kind: 'action' }): boolean {
    const key = keyOf(action);
    if (this.#instances.isAlone(key, instanceId)) return false;
    const { parties, parts } = this.#instances.suspects(key);
    const isForAllInstances = action.action === 'create' || failure.kind === 'notAuthorized';
    return parts > 1 && (parties > 1 || (isForAllInstances && !this.#instances.hasWorked(key)));
  }
}

/** Nothing in the answer says that it holds for another instance. */
export function isOfThing(failure: CloudFailure): boolean {
  return failure.about === undefined && mayConcern(failure, 'thing');
}

const ofOthers = 'others ';
const nothing = (): void => undefined;

function keyFor(scope: RefusedScope, blocked: BlockedFor): string {
  if (blocked === 'all') return keyOf(scope);
  return blocked === 'others' ? `${ofOthers}${keyOf(scope)}` : `${keyOf(scope)} for ${blocked.instanceId}`;
}

/** `own`: what the instance itself was answered last. */
function scopeRefusal(
  { failure: { scope, failure }, failures, isDue }: Refusal<RefusedFor>,
  isOfOthers: boolean,
  own = failure,
): ScopeRefusal {
  return { scope, failure: own, failures, isDue, isOfOthers };
}
