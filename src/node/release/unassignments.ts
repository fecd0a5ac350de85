// Unassigns holdings from one interface of a node: one call, and what follows from its outcome.
import type { AllocationImplementation } from '../../providers/contract/cloud.ts';
import {
  type CallTiming,
  mayTakeEffectFor,
  type Answer,
  type Outcome,
  type ReleaseIPs,
  type ReleasePrefixes,
} from '../../providers/contract/operations.ts';
import type { CloudFailure } from '../../providers/contract/cloud-failure.ts';
import { mayConcern, policyOf } from '../../providers/contract/failure-policy.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Holding } from '../demand/holdings.ts';
import type { Concern, ReleaseOutcome } from './release-state.ts';

/** The holdings of one call: all on one interface, and of one kind. */
export interface Unassignment {
  readonly instanceId: string;
  readonly interfaceId: string;
  readonly subnetId: string;
  readonly holdings: readonly Holding[];
  /** Whether an earlier call that named any of them may have been sent. */
  readonly isRepeated: boolean;
}

export interface FinishedRelease {
  readonly kind: 'releaseIPs' | 'releasePrefixes';
  readonly interfaceId: string;
  readonly subnetId: string;
  /** Addresses and prefixes. */
  readonly holdings: readonly string[];
  /** Addresses, including those of prefixes. */
  readonly count: number;
  /** Undefined on success. */
  readonly failure: CloudFailure | undefined;
  readonly isOpen: boolean;
  /** In ms. */
  readonly duration: number;
}

/** The meaning of a call that has ended. */
export interface UnassignResult {
  readonly outcome: Exclude<ReleaseOutcome, { kind: 'sent' }>;
  /** News of the instance, beyond the answer of the call. */
  readonly answer: Answer | undefined;
  /** Whether the known state of the instance became uncertain. */
  readonly isUnclear: boolean;
  readonly finished: FinishedRelease;
}

export interface UnassignDeps {
  readonly implementation: Pick<AllocationImplementation, 'perform'>;
  readonly clock: Pick<Clock, 'monotonic'>;
  readonly timing: CallTiming;
}

/** Sends the call. The signal aborts it when a shutdown runs out of time. */
export async function unassign(
  task: Unassignment,
  signal: AbortSignal,
  { implementation, clock, timing }: UnassignDeps,
): Promise<UnassignResult> {
  const startedAt = clock.monotonic();
  const operation = operationOf(task);
  const { instanceId } = task;
  const outcome = await implementation.perform(operation, {
    caller: { priority: 'release' },
    signal,
    instanceId,
  });
  const now = clock.monotonic();
  const { interfaceId, subnetId, holdings } = task;
  const meaning = meaningOf(outcome, task, { now, timing });
  return {
    ...meaning,
    finished: {
      kind: operation.kind,
      interfaceId,
      subnetId,
      holdings: holdings.map(({ id }) => id),
      count: holdings.reduce((sum, { addresses }) => sum + addresses.length, 0),
      failure: outcome.kind === 'done' || meaning.outcome.kind === 'released' ? undefined : outcome.failure,
      isOpen: outcome.kind === 'ambiguous',
      duration: now - startedAt,
    },
  };
}

function operationOf({ instanceId, interfaceId, holdings }: Unassignment): ReleaseIPs | ReleasePrefixes {
  const ids = holdings.map(({ id }) => id);
  return holdings.some(isPrefix)
    ? { kind: 'releasePrefixes', instanceId, interfaceId, prefixes: ids }
    : { kind: 'releaseIPs', instanceId, interfaceId, addresses: ids };
}

/**
 * A call with a lost answer may still take effect. Until it cannot, nothing is added to the interface: the late call could
 * remove an address that was assigned again. After that, repeating the call is safe.
 */
function meaningOf(
  outcome: Outcome,
  { instanceId, interfaceId, holdings: all, isRepeated }: Unassignment,
  { now, timing }: { readonly now: number; readonly timing: CallTiming },
): Omit<UnassignResult, 'finished'> {
  const holdings = all.map(({ id }) => id);
  const releasing = { kind: 'releasing', interfaceId, instanceId, holdings } as const;
  if (outcome.kind === 'ambiguous') {
    const openUntil = now + mayTakeEffectFor(timing);
    // The next CiliumNode of the instance must not be offered them before that, either.
    const answer = { ...releasing, until: openUntil };
    return { outcome: { kind: 'unclear', openUntil }, answer, isUnclear: true };
  }
  const isMissing = outcome.kind === 'failed' && outcome.failure.kind === 'notAssigned';
  if (isMissing && all.length > 1)
    return { outcome: { kind: 'doubtful' }, answer: undefined, isUnclear: false };
  // A holding that the call asked to unassign and that is missing was unassigned.
  if (outcome.kind === 'done' || isMissing) {
    const answer = { kind: 'released', interfaceId, instanceId, holdings } as const;
    return { outcome: { kind: 'released' }, answer, isUnclear: false };
  }
  const refused = whenRefused(outcome.failure, { kind: 'notFound', interfaceId, instanceId });
  // The earlier call may be changing the interface, however late: only a read that cannot be older than this decides.
  const mayGoOn = isRepeated && policyOf(outcome.failure).invalidates === 'state';
  return mayGoOn ? { ...refused, answer: { ...releasing, until: now + timing.consistencyWindow } } : refused;
}

function whenRefused(failure: CloudFailure, notFound: Answer): Omit<UnassignResult, 'finished'> {
  const { invalidates } = policyOf(failure);
  const concerns = concernOf(failure);
  // A change by something else may take what is hidden, and a pod may need that before the call is repeated: a read decides.
  const isUnclear = concerns !== 'nothing' || invalidates !== 'nothing';
  // The interface was detached or deleted, alone or with its instance: what the agent gave up is not offered on it again.
  const answer = invalidates === 'existence' ? notFound : undefined;
  return { outcome: { kind: 'refused', concerns }, answer, isUnclear };
}

function concernOf(failure: CloudFailure): Concern {
  const { retry, invalidates } = policyOf(failure);
  // The same call may succeed soon, or nothing is there to offer again.
  if (invalidates === 'existence' || (retry !== 'later' && retry !== 'never')) return 'nothing';
  return mayConcern(failure, 'thing') ? 'one' : 'all';
}

/** A prefix; anything else is a single address. */
export function isPrefix({ id }: Holding): boolean {
  return id.includes('/');
}
