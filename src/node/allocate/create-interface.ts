// Adds one interface to an instance: creates it filled, attaches it, and deletes it if the attach fails. Once
// the first call is sent, the sequence runs to one of its ends, so it leaks no interface.
import { sleep, type Clock } from '../../runtime/clock.ts';
import { randomWait } from '../../runtime/backoff.ts';
import type { Random } from '../../runtime/random.ts';
import { raceAbort } from '../../runtime/race-abort.ts';
import { retry } from '../../runtime/retry.ts';
import type { CallContext, InstancePort } from '../../providers/contract/cloud.ts';
import type { CreateInterface, Operation, Outcome } from '../../providers/contract/operations.ts';
import type { CloudFailure } from '../../providers/contract/cloud-failure.ts';
import { policyOf } from '../../providers/contract/failure-policy.ts';
import type { VisibilityLag } from '../../providers/inventory/visibility-lag.ts';
import type { StepProgress } from './step-result.ts';

export interface CreateInterfaceDeps {
  readonly node: ExtendedNode;
  readonly clock: Clock;
  readonly random: Random;
  /** How long the cloud may take to know an interface it just created, in ms. */
  readonly consistencyWindow: number;
  /** Context of all calls here. Its signal aborts only when a shutdown runs out of time. */
  readonly context: CallContext;
  /** How long the cloud takes to know a new interface. */
  readonly visibilityLag: VisibilityLag;
  readonly emit: (progress: StepProgress) => void;
}

/** The node that gets the interface. */
export interface ExtendedNode extends Pick<InstancePort, 'implementation' | 'applyAnswer' | 'refresh'> {
  /** The interface's device index on the instance, as far as known. */
  attachedAt(interfaceId: string): number | undefined;
  /** The lowest device index above `index` that is not known to be in use. */
  indexAfter(index: number): number;
}

export type CreateInterfaceResult =
  | { readonly kind: 'attached'; readonly interfaceId: string }
  | {
      readonly kind: 'failed';
      readonly at: 'create' | 'attach';
      readonly failure: CloudFailure;
      /** A detached interface that could not be deleted. */
      readonly left: string | undefined;
      /** The answer to the creation was lost. An interface that is known only by its tags may exist. */
      readonly uncertain: boolean;
    };

/** Attempts of a call whose answer was lost, or of a deletion. */
const maxTries = 5;
/** How long a throttled call is retried, in ms: the node's next step waits for this one to end. */
const maxThrottledTime = 5 * 60_000;
/** How many device indexes to try when others are in use. */
const maxIndexes = 5;
/** How long a deletion waits for a new leader's quiet period to end, in ms. */
const maxFenceWait = 30_000;
/** In ms. */
const pauses = { base: 1000, cap: 8000 };
/** A fenced deletion pauses as long as after this many attempts. */
const fencedPause = 3;

export async function createInterface(
  request: CreateInterface,
  given: CreateInterfaceDeps,
): Promise<CreateInterfaceResult> {
  const created = await create(request, given);
  if ('failure' in created) return { kind: 'failed', at: 'create', left: undefined, ...created };
  const deps = seenThrough(given);
  given.emit({ kind: 'created' });
  const { interfaceId } = created;
  const createdAt = deps.clock.monotonic();
  const { instanceId, deviceIndex } = request;
  const unattached = await attach({ interfaceId, instanceId, deviceIndex, createdAt }, deps);
  if (unattached === undefined) return { kind: 'attached', interfaceId };
  const { failure, isCertain } = unattached;
  const deleted = await remove({ interfaceId, createdAt, refused: isCertain ? failure : undefined }, deps);
  // An interface that cannot be deleted may be attached after all.
  if (!deleted && (await isAttached(interfaceId, deps))) return { kind: 'attached', interfaceId };
  return {
    kind: 'failed',
    at: 'attach',
    failure,
    left: deleted ? undefined : interfaceId,
    uncertain: false,
  };
}

/**
 * Attaches an orphaned interface. Undefined once it is attached. After a failure it stays as it is, for
 * another attempt or the orphan collection.
 */
export async function adoptInterface(
  wanted: { readonly interfaceId: string; readonly instanceId: string; readonly deviceIndex: number },
  deps: CreateInterfaceDeps,
): Promise<CloudFailure | undefined> {
  return (await attach(wanted, deps))?.failure;
}

interface NotCreated {
  readonly failure: CloudFailure;
  readonly uncertain: boolean;
}

/** The client token makes the request safe to repeat until an answer comes. */
async function create(
  request: CreateInterface,
  deps: CreateInterfaceDeps,
): Promise<{ readonly interfaceId: string } | NotCreated> {
  const since = deps.clock.monotonic();
  let lost = false;
  const attempt = (tries: number): Promise<Outcome> => createOnce(request, tries, deps);
  const outcome = await repeat(deps, attempt, (end, tries) => {
    lost ||= end.kind === 'ambiguous';
    // After a lost answer, only a definite answer shows whether the interface exists.
    return lost ? pauseAfter(end, { tries, since, isEarly: tries < maxTries }, deps) : undefined;
  });
  if (outcome.kind !== 'done')
    return { failure: outcome.failure, uncertain: lost || outcome.kind === 'ambiguous' };
  if (outcome.answer.kind === 'created') return { interfaceId: outcome.answer.interface.id };
  throw new Error(`a ${outcome.answer.kind} answers the creation of an interface`);
}

/** The first attempt was admitted together with the whole sequence. */
async function createOnce(
  request: CreateInterface,
  tries: number,
  deps: CreateInterfaceDeps,
): Promise<Outcome> {
  if (tries === 1) return perform(request, deps);
  // The previous attempt may have created the interface, so the sequence counts as started.
  const inFlight = seenThrough(deps);
  await deps.node.implementation.admit(['createInterface'], inFlight.context);
  return perform(request, inFlight);
}

/** If attach calls already wait for tokens, a premature one would take the token of one that would succeed. */
async function awaitVisibility(
  { node: { implementation }, context, visibilityLag, clock }: CreateInterfaceDeps,
  instanceId: string,
): Promise<void> {
  const { ms } = visibilityLag;
  if (ms > 0 && implementation.expectedWait(['attachInterface'], context.caller.priority, instanceId) > 0)
    await sleep(clock, ms, context.signal);
}

interface Attachment {
  readonly interfaceId: string;
  readonly instanceId: string;
  readonly deviceIndex: number;
  /** When the answer to its creation arrived, in monotonic ms; undefined for an interface that existed long before. */
  readonly createdAt?: number;
}

interface Unattached {
  readonly failure: CloudFailure;
  /** No attempt has taken effect or still can. */
  readonly isCertain: boolean;
}

/** Undefined once the interface is attached. */
async function attach(wanted: Attachment, deps: CreateInterfaceDeps): Promise<Unattached | undefined> {
  const { clock, node, context } = deps;
  const since = clock.monotonic();
  const knownAt = (wanted.createdAt ?? since) + deps.consistencyWindow;
  let giveUpAt = knownAt;
  let { deviceIndex } = wanted;
  let indexes = 1;
  let isCertain = true;
  let isSeen = false;
  const attempt = async (tries: number): Promise<Outcome> => {
    if (tries > 1) await node.implementation.admit(['attachInterface'], context);
    else if (wanted.createdAt !== undefined) await awaitVisibility(deps, wanted.instanceId);
    return attachOnce({ ...wanted, deviceIndex }, tries, deps);
  };
  const outcome = await repeat(deps, attempt, async (end, tries) => {
    const isUncertain = mayBeAttached(end);
    // Reads may not show yet what a lost attachment did, however long the attempts before it took.
    if (end.kind === 'ambiguous' && isCertain && policyOf(end.failure).retry === 'soon')
      giveUpAt = Math.max(giveUpAt, clock.monotonic() + deps.consistencyWindow);
    isCertain &&= !isUncertain;
    isSeen = isUncertain && (await isAttached(wanted.interfaceId, deps));
    if (isSeen) return undefined;
    // An interface that the cloud must know by now and does not is gone, whatever a lost attachment did.
    const until = end.failure.kind === 'notYetVisible' ? knownAt : giveUpAt;
    if (end.failure.kind !== 'deviceIndexTaken')
      return pauseAfter(end, { tries, since, isEarly: clock.monotonic() < until }, deps);
    deviceIndex = deps.node.indexAfter(deviceIndex);
    return ++indexes <= maxIndexes ? randomWait(pauses, tries, deps.random) : undefined;
  });
  if (outcome.kind === 'done' || isSeen) return undefined;
  return { failure: outcome.failure, isCertain: isCertain && outcome.kind !== 'ambiguous' };
}

async function attachOnce(wanted: Attachment, tries: number, deps: CreateInterfaceDeps): Promise<Outcome> {
  const { clock, visibilityLag } = deps;
  const { createdAt, ...attachment } = wanted;
  const sentAt = clock.monotonic();
  const outcome = await perform({ kind: 'attachInterface', ...attachment }, deps);
  const isUnknown = outcome.kind === 'failed' && outcome.failure.kind === 'notYetVisible';
  if (createdAt === undefined) {
    // An interface that existed long before and is now unknown is gone.
    return isUnknown ? { ...outcome, failure: { ...outcome.failure, kind: 'interfaceGone' } } : outcome;
  }
  if (outcome.kind === 'done' && tries === 1) visibilityLag.known();
  if (isUnknown) visibilityLag.unknown(sentAt - createdAt);
  return outcome;
}

/** Whether a refresh shows the interface attached; false if no time is left for one. */
async function isAttached(interfaceId: string, deps: CreateInterfaceDeps): Promise<boolean> {
  const { signal } = deps.context;
  if (signal.aborted) return false;
  await raceAbort(deps.node.refresh(), signal);
  return deps.node.attachedAt(interfaceId) !== undefined;
}

/** Whether the interface is gone. */
async function remove(
  wanted: {
    readonly interfaceId: string;
    readonly createdAt: number;
    /** Why it is certainly not attached; undefined while it may be. */
    readonly refused: CloudFailure | undefined;
  },
  deps: CreateInterfaceDeps,
): Promise<boolean> {
  const { clock, consistencyWindow } = deps;
  const { interfaceId, createdAt, refused } = wanted;
  const fencedUntil = clock.monotonic() + maxFenceWait;
  let lost = false;
  let counted = 0;
  let isGone = false;
  const attempt = async (): Promise<Outcome> => {
    await deps.node.implementation.admit(['deleteInterface'], deps.context);
    return perform({ kind: 'deleteInterface', interfaceId }, deps);
  };
  const outcome = await repeat(deps, attempt, ({ kind, failure }) => {
    // A fenced call does not count as an attempt.
    if (failure.kind === 'fenced' && clock.monotonic() < fencedUntil) {
      if (refused !== undefined) deps.emit({ kind: 'refused', failure: refused });
      return randomWait(pauses, fencedPause, deps.random);
    }
    counted++;
    // The cloud may not know an interface yet that it just created.
    const isKnown = lost || counted === maxTries || clock.monotonic() >= createdAt + consistencyWindow;
    isGone = policyOf(failure).retry === 'needless' && isKnown;
    lost ||= kind === 'ambiguous';
    return isGone || counted === maxTries ? undefined : randomWait(pauses, counted, deps.random);
  });
  if (isGone) deps.node.applyAnswer({ kind: 'deleted', interfaceId });
  return isGone || outcome.kind === 'done';
}

/** Repeats a call. Once the shutdown runs out of time, its answer counts as lost. */
async function repeat(
  deps: CreateInterfaceDeps,
  attempt: (tries: number) => Promise<Outcome>,
  pauseFor: (end: NotDone, tries: number) => number | undefined | Promise<number | undefined>,
): Promise<Outcome> {
  const { clock, context } = deps;
  try {
    return await retry({ clock, signal: context.signal }, attempt, (outcome, tries) =>
      outcome.kind === 'done' ? undefined : pauseFor(outcome, tries),
    );
  } catch (error) {
    return { kind: 'ambiguous', failure: outOfTime(error, deps) };
  }
}

/** Turns running out of time into a failure, so a leaked interface is reported rather than lost in an exception. */
function outOfTime(error: unknown, { context }: CreateInterfaceDeps): CloudFailure {
  if (!context.signal.aborted) throw error;
  const message = 'Headwater shut down before the interface was attached';
  return { kind: 'unknown', action: 'shutdown', code: 'OutOfTime', message, requestId: undefined };
}

/** Deps for all calls after the first one. */
function seenThrough(deps: CreateInterfaceDeps): CreateInterfaceDeps {
  return { ...deps, context: { ...deps.context, inFlight: true } };
}

async function perform(operation: Operation, deps: CreateInterfaceDeps): Promise<Outcome> {
  const outcome = await deps.node.implementation.perform(operation, deps.context);
  if (outcome.kind === 'done') deps.node.applyAnswer(outcome.answer);
  return outcome;
}

type NotDone = Exclude<Outcome, { kind: 'done' }>;

/** An attach with a lost answer may have succeeded. Its retry then finds the interface or its index in use. */
function mayBeAttached({ kind, failure }: NotDone): boolean {
  return kind === 'ambiguous' || policyOf(failure).isUnclear;
}

/** The pause before the next attempt, in ms; undefined if none is worth making. */
function pauseAfter(
  { kind, failure }: NotDone,
  { tries, since, isEarly }: { readonly tries: number; readonly since: number; readonly isEarly: boolean },
  { clock, random, emit }: CreateInterfaceDeps,
): number | undefined {
  const { retry: next } = policyOf(failure);
  if (next !== 'byRateLimit') {
    const isPassing = isEarly && (kind === 'ambiguous' || next === 'soon');
    return isPassing ? randomWait(pauses, tries, random) : undefined;
  }
  if (clock.monotonic() >= since + maxThrottledTime) return undefined;
  // Only the rate limiter decides when the next call may go.
  emit({ kind: 'throttled', failure });
  return 0;
}
