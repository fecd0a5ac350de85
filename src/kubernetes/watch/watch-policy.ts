// Decides what a reflector does after a list or a watch ends. A pure function.
import { type BackoffState, type BackoffPolicy, backOff, waitBeforeRetry } from '../../runtime/backoff.ts';
import type { Random } from '../../runtime/random.ts';
import type { WatchEnd } from './watch-stream.ts';

/** The history of attempts so far. */
export interface Course {
  readonly backoff: BackoffState | undefined;
  /** Consecutive watches that the server answered with an error. */
  readonly refusedWatches: number;
}

export interface Attempt {
  readonly what: 'list' | 'watch';
  readonly end: WatchEnd;
  /** Ms. */
  readonly duration: number;
  /** Whether at least one event arrived. */
  readonly progressed: boolean;
}

export interface Next {
  readonly course: Course;
  /** Relist, or resume the watch. */
  readonly begin: 'list' | 'watch';
  /** Ms. */
  readonly wait: number;
}

/** The cap is below client-go's 30 s, which protects against thousands of kubelets; we are one client. */
const policy: BackoffPolicy = { base: 800, cap: 10_000 };

/** How often to retry a denied or missing kind, in ms: people grant access or install it. */
const deniedInterval = 30_000;

/** A watch this old was healthy, in ms: if the server ends it, the next one starts at once. */
const healthyAge = 10_000;

/** After this many consecutive errors the resource version is no longer trusted. A restored backup looks like that. */
const relistAfter = 5;

export const fairCourse: Course = { backoff: undefined, refusedWatches: 0 };

export function nextAfter(course: Course, attempt: Attempt, now: number, random: Random): Next {
  const { what, duration, progressed } = attempt;
  const end = withoutRefusedCredentials(attempt.end);
  const healthy = duration >= healthyAge;
  const backoff = backOff(healthy || progressed ? undefined : course.backoff, policy, now, random);
  const wait = backoff.until - now;

  if (end.kind === 'denied') return afterMissingPermission(what, random);
  if (end.kind === 'gone') return afterMissingPermission('list', random);
  if (end.kind === 'unavailable') {
    return afterFailure(
      course,
      { ...attempt, end },
      backoff,
      waitBeforeRetry(wait, end.retryAfterMs, random),
    );
  }
  const begin = end.kind === 'ended' ? 'watch' : 'list';
  const inOrder = healthy && (end.kind === 'ended' || end.kind === 'expired');
  return inOrder
    ? { course: fairCourse, begin, wait: 0 }
    : { course: { backoff, refusedWatches: 0 }, begin, wait };
}

/** A permission waits for people; other credentials may be there soon. */
function withoutRefusedCredentials(end: WatchEnd): WatchEnd {
  const isUnauthorized = end.kind === 'denied' && end.status === 401;
  return isUnauthorized ? { kind: 'unavailable', message: end.message } : end;
}

function afterMissingPermission(begin: 'list' | 'watch', random: Random): Next {
  return { course: fairCourse, begin, wait: deniedInterval * (0.9 + random.next() / 5) };
}

function afterFailure(
  course: Course,
  { what, end, progressed }: Attempt & { readonly end: { readonly kind: 'unavailable' } },
  backoff: BackoffState,
  wait: number,
): Next {
  const before = progressed ? 0 : course.refusedWatches;
  const refusedWatches = what === 'watch' && end.status !== undefined ? before + 1 : before;
  return {
    course: { backoff, refusedWatches },
    begin: refusedWatches >= relistAfter ? 'list' : what,
    wait,
  };
}
