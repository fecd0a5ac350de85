// The unit that gives an instance one more interface: create it filled, attach it, and if it can't be attached, delete
// it again. Once the first call is sent the unit is seen through to one of its ends, so that no interface is left over.
import { sleep, type Clock } from '../scheduling/clock.ts';
import type { Random } from '../scheduling/random.ts';
import { doneOrAborted } from '../scheduling/done-or-aborted.ts';
import type { AllocationImplementation, CallContext } from '../providers/allocation-implementation.ts';
import type { CloudFailure } from '../providers/cloud-failure.ts';
import type { Answer } from '../providers/observation.ts';
import type { VisibilityLag } from '../providers/visibility-lag.ts';
import type { CreateInterface, Operation, Outcome } from '../providers/operation.ts';

export interface CreateInterfaceDeps {
  readonly implementation: AllocationImplementation;
  readonly clock: Clock;
  readonly random: Random;
  /** How long the cloud may take to know an interface that it just made, in ms. */
  readonly consistencyWindow: number;
  /** Of the unit's calls. Its signal is aborted only when waiting on is hopeless: at the end of a shutdown. */
  readonly context: CallContext;
  /** Takes the answer of a call into what is known. */
  readonly fold: (answer: Answer) => void;
  /** Reads the instance anew; resolves once what the cloud shows is folded in. */
  readonly look: () => Promise<void>;
  /** The device index at which the interface is attached to the instance, as far as is known. */
  readonly attachedAt: (interfaceId: string) => number | undefined;
  /** The lowest device index above `index` that nothing is known to hold. */
  readonly indexAfter: (index: number) => number;
  /** What is known of how long the cloud takes to know an interface. */
  readonly visibilityLag: VisibilityLag;
  /** A call was one too many; it is made again. */
  readonly onThrottle: (failure: CloudFailure) => void;
}

export type CreateInterfaceResult =
  | { readonly kind: 'attached'; readonly interfaceId: string }
  | {
      readonly kind: 'failed';
      readonly at: 'create' | 'attach';
      readonly failure: CloudFailure;
      /** An interface that exists, is attached to nothing and could not be deleted. */
      readonly left: string | undefined;
      /** An answer to the creation got lost, so that an interface may exist of which nothing but its tags is known. */
      readonly uncertain: boolean;
    };

/** Tries of a call whose answer got lost, or of a deletion, before the unit gives up. */
const mostTries = 5;
/** How long a call is made again for being throttled, in ms: whoever has the node next waits for the unit to end. */
const longestThrottled = 5 * 60_000;
/** Device indexes tried when others turn out to be taken. */
const mostIndexes = 5;
/** How long a deletion waits for the time at which a new leader may take something away, in ms. */
const longestFence = 30_000;
/** It asks again as after so many tries. */
const fencedPause = 3;

export async function createInterface(
  request: CreateInterface,
  deviceIndex: number,
  given: CreateInterfaceDeps,
): Promise<CreateInterfaceResult> {
  const created = await create(request, given);
  if ('failure' in created) return { kind: 'failed', at: 'create', left: undefined, ...created };
  const deps = seenThrough(given);
  const { interfaceId } = created;
  const createdAt = deps.clock.monotonic();
  const failure = await untilAborted(deps, async () => {
    await awaitVisibility(deps);
    return attach({ interfaceId, instanceId: request.instanceId, deviceIndex, createdAt }, deps);
  });
  if (failure === undefined) return { kind: 'attached', interfaceId };
  const deleted = await remove({ interfaceId, createdAt }, deps);
  // What cannot be deleted may be in use after all.
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
 * Attaches an interface that was left over. Undefined once it is attached; else it is left as it is, for another try or
 * for whoever collects what is left over.
 */
export function adoptInterface(
  wanted: { readonly interfaceId: string; readonly instanceId: string; readonly deviceIndex: number },
  deps: CreateInterfaceDeps,
): Promise<CloudFailure | undefined> {
  return untilAborted(deps, () => attach(wanted, deps));
}

interface NotCreated {
  readonly failure: CloudFailure;
  readonly uncertain: boolean;
}

/** The token makes the request safe to repeat until an answer comes. */
async function create(
  request: CreateInterface,
  deps: CreateInterfaceDeps,
): Promise<{ readonly interfaceId: string } | NotCreated> {
  const { clock } = deps;
  const since = clock.monotonic();
  let lost = false;
  for (let tries = 1; ; tries++) {
    const outcome = await createOnce(request, tries, deps);
    if (outcome.kind === 'done' && outcome.answer.kind === 'created') {
      return { interfaceId: outcome.answer.interface.id };
    }
    if (outcome.kind === 'done')
      throw new Error(`a ${outcome.answer.kind} answers the creation of an interface`);
    lost ||= outcome.kind === 'ambiguous';
    // Once an answer got lost, only a definite one tells whether there is an interface.
    const open = lost && isPassing(outcome, tries < mostTries, { clock, since });
    if (!open || !(await pauseAfter(outcome.failure, tries, deps)))
      return { failure: outcome.failure, uncertain: lost };
  }
}

/** The first try was admitted along with the whole unit. */
async function createOnce(
  request: CreateInterface,
  tries: number,
  deps: CreateInterfaceDeps,
): Promise<Outcome> {
  try {
    if (tries === 1) return await perform(request, deps);
    // The try before may have made it: the unit is begun.
    const begun = seenThrough(deps);
    await deps.implementation.admit(['createInterface'], begun.context);
    return await perform(request, begun);
  } catch (error) {
    return { kind: 'ambiguous', failure: outOfTime(error, deps) };
  }
}

/** Where the next calls must wait anyway, one that comes too early would take the place of one that would succeed. */
async function awaitVisibility({
  implementation,
  context,
  visibilityLag,
  clock,
}: CreateInterfaceDeps): Promise<void> {
  const { ms } = visibilityLag;
  if (ms > 0 && implementation.expectedWait(['attachInterface'], context.urgency()) > 0)
    await sleep(clock, ms, context.signal);
}

interface Attachment {
  readonly interfaceId: string;
  readonly instanceId: string;
  readonly deviceIndex: number;
  /** When the answer to its creation came, in monotonic ms; undefined for one that has been there for long. */
  readonly createdAt?: number;
}

/** Undefined once the interface is attached. */
async function attach(wanted: Attachment, deps: CreateInterfaceDeps): Promise<CloudFailure | undefined> {
  const { clock } = deps;
  const since = clock.monotonic();
  const giveUpAt = (wanted.createdAt ?? since) + deps.consistencyWindow;
  let { deviceIndex } = wanted;
  let indexes = 1;
  for (let tries = 1; ; tries++) {
    const outcome = await attachOnce({ ...wanted, deviceIndex }, tries, deps);
    if (outcome.kind === 'done') return undefined;
    const { failure } = outcome;
    if (mayBeAttached(outcome) && (await isAttached(wanted.interfaceId, deps))) return undefined;
    const taken = failure.kind === 'deviceIndexTaken';
    if (taken) deviceIndex = deps.indexAfter(deviceIndex);
    const again = taken
      ? ++indexes <= mostIndexes
      : isPassing(outcome, clock.monotonic() < giveUpAt, { clock, since });
    if (!again || !(await pauseAfter(failure, tries, deps))) return failure;
    await deps.implementation.admit(['attachInterface'], deps.context);
  }
}

async function attachOnce(wanted: Attachment, tries: number, deps: CreateInterfaceDeps): Promise<Outcome> {
  const { clock, visibilityLag } = deps;
  const { createdAt, ...attachment } = wanted;
  const sentAt = clock.monotonic();
  const outcome = await perform({ kind: 'attachInterface', ...attachment }, deps);
  const isUnknown = outcome.kind === 'failed' && outcome.failure.kind === 'notYetVisible';
  if (createdAt === undefined) {
    // What has been there for long, and is not known any more, is gone.
    return isUnknown ? { ...outcome, failure: { ...outcome.failure, kind: 'interfaceGone' } } : outcome;
  }
  if (outcome.kind === 'done' && tries === 1) visibilityLag.known();
  if (isUnknown) visibilityLag.unknown(sentAt - createdAt);
  return outcome;
}

/** Whether a look shows the interface attached; false when there is no time left to look. */
async function isAttached(interfaceId: string, deps: CreateInterfaceDeps): Promise<boolean> {
  const { signal } = deps.context;
  if (signal.aborted) return false;
  await doneOrAborted(deps.look(), signal);
  return deps.attachedAt(interfaceId) !== undefined;
}

/** Whether the interface is gone. */
async function remove(
  { interfaceId, createdAt }: { readonly interfaceId: string; readonly createdAt: number },
  deps: CreateInterfaceDeps,
): Promise<boolean> {
  const { clock, consistencyWindow } = deps;
  const fencedUntil = clock.monotonic() + longestFence;
  let lost = false;
  for (let tries = 1; tries <= mostTries; tries++) {
    const outcome = await removeUnfenced(interfaceId, fencedUntil, deps);
    if (outcome.kind === 'done') return true;
    // Where it was made a moment ago, the cloud that does not know it may only not know it yet.
    const isKnown = lost || tries === mostTries || clock.monotonic() >= createdAt + consistencyWindow;
    if (outcome.failure.kind === 'interfaceGone' && isKnown) {
      deps.fold({ kind: 'deleted', interfaceId });
      return true;
    }
    lost ||= outcome.kind === 'ambiguous';
    if (!(await pause(tries, deps))) return false;
  }
  return false;
}

/** That nothing may be taken away yet is no try. */
async function removeUnfenced(
  interfaceId: string,
  fencedUntil: number,
  deps: CreateInterfaceDeps,
): Promise<Outcome> {
  for (;;) {
    const outcome = await removeOnce(interfaceId, deps);
    const isFenced = outcome.kind !== 'done' && outcome.failure.kind === 'fenced';
    if (!isFenced || deps.clock.monotonic() >= fencedUntil) return outcome;
    if (!(await pause(fencedPause, deps))) return outcome;
  }
}

async function removeOnce(interfaceId: string, deps: CreateInterfaceDeps): Promise<Outcome> {
  try {
    await deps.implementation.admit(['deleteInterface'], deps.context);
    return await perform({ kind: 'deleteInterface', interfaceId }, deps);
  } catch (error) {
    return { kind: 'failed', failure: outOfTime(error, deps) };
  }
}

async function untilAborted(
  deps: CreateInterfaceDeps,
  attempt: () => Promise<CloudFailure | undefined>,
): Promise<CloudFailure | undefined> {
  try {
    return await attempt();
  } catch (error) {
    return outOfTime(error, deps);
  }
}

/** The end of the unit's time as a failure, so that what is left over is told and not lost in an exception. */
function outOfTime(error: unknown, { context }: CreateInterfaceDeps): CloudFailure {
  if (!context.signal.aborted) throw error;
  const message = 'Headwater was told to end before the interface was in place';
  return { kind: 'unknown', action: 'shutdown', code: 'OutOfTime', message, requestId: undefined };
}

/** For everything after the first call of the unit. */
function seenThrough(deps: CreateInterfaceDeps): CreateInterfaceDeps {
  return { ...deps, context: { ...deps.context, begun: true } };
}

async function perform(operation: Operation, deps: CreateInterfaceDeps): Promise<Outcome> {
  const outcome = await deps.implementation.perform(operation, deps.context);
  if (outcome.kind === 'done') deps.fold(outcome.answer);
  return outcome;
}

/** An attach whose answer got lost may have happened: then a repetition finds the interface, or its index, in use. */
function mayBeAttached({ kind, failure }: Outcome & { readonly failure: CloudFailure }): boolean {
  return kind === 'ambiguous' || failure.kind === 'conflict' || failure.kind === 'deviceIndexTaken';
}

/** `since`: when the first of the tries was made, in monotonic ms. */
function isPassing(
  outcome: Outcome & { readonly failure: CloudFailure },
  early: boolean,
  { clock, since }: { readonly clock: Clock; readonly since: number },
): boolean {
  const { kind } = outcome.failure;
  if (kind === 'throttled') return clock.monotonic() < since + longestThrottled;
  return (
    early && (outcome.kind === 'ambiguous' || ['notYetVisible', 'conflict', 'unreachable'].includes(kind))
  );
}

/** After a throttled call the call budget says when the next one may go, and nothing else speaks against it. */
async function pauseAfter(failure: CloudFailure, tries: number, deps: CreateInterfaceDeps): Promise<boolean> {
  if (failure.kind !== 'throttled') return pause(tries, deps);
  deps.onThrottle(failure);
  return !deps.context.signal.aborted;
}

/** Waits a little longer after each try; false when there is no time left to wait. */
async function pause(tries: number, deps: CreateInterfaceDeps): Promise<boolean> {
  try {
    await sleep(
      deps.clock,
      Math.min(8000, 500 * 2 ** tries) * (0.5 + deps.random.next() / 2),
      deps.context.signal,
    );
    return true;
  } catch (error) {
    if (deps.context.signal.aborted) return false;
    throw error;
  }
}
