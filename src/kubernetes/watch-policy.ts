// What a reflector does after a list or a watch has come to an end: a pure decision.
import { type Backoff, type BackoffPolicy, backOff } from '../scheduling/exponential-backoff.ts';
import type { Random } from '../scheduling/random.ts';
import type { WatchEnd } from './watch-stream.ts';

/** How it has been going so far. */
export interface Course {
  readonly backoff: Backoff | undefined;
  /** Watches in a row that the server answered with an error. */
  readonly refusedWatches: number;
}

export interface Attempt {
  readonly what: 'list' | 'watch';
  readonly end: WatchEnd;
  /** In ms. */
  readonly duration: number;
  /** Whether at least one event came. */
  readonly progressed: boolean;
}

export interface Next {
  readonly course: Course;
  /** Begin with a list, or watch on from where it was. */
  readonly begin: 'list' | 'watch';
  /** In ms. */
  readonly wait: number;
}

/** The cap is below client-go's 30 s: that is for thousands of kubelets that return at once, and we are one client. */
const policy: BackoffPolicy = { base: 800, cap: 10_000 };

/** How often a missing permission or a missing kind is tried again, in ms: people mend these. */
const deniedInterval = 30_000;

/** A watch that lived so long was in order, in ms: one that the server ends may be begun anew at once. */
const healthyAge = 10_000;

/** After so many errors in a row the place to go on from is not believed any more. A restored backup looks like that. */
const doubtedAfter = 5;

/** No server is obeyed that asks for more, in ms. */
const longestRetryAfter = 300_000;

export const fairCourse: Course = { backoff: undefined, refusedWatches: 0 };

export function nextAfter(course: Course, attempt: Attempt, now: number, random: Random): Next {
  const { what, end, duration, progressed } = attempt;
  const healthy = duration >= healthyAge;
  const backoff = backOff(healthy || progressed ? undefined : course.backoff, policy, now, random);
  const wait = backoff.until - now;

  if (end.kind === 'denied') return afterDenial(what, random);
  if (end.kind === 'gone') return afterDenial('list', random);
  if (end.kind === 'unavailable') return afterFailure(course, { ...attempt, end }, backoff, wait);
  const begin = end.kind === 'ended' ? 'watch' : 'list';
  const inOrder = healthy && (end.kind === 'ended' || end.kind === 'expired');
  return inOrder
    ? { course: fairCourse, begin, wait: 0 }
    : { course: { backoff, refusedWatches: 0 }, begin, wait };
}

function afterDenial(begin: 'list' | 'watch', random: Random): Next {
  return { course: fairCourse, begin, wait: deniedInterval * (0.9 + random.next() / 5) };
}

function afterFailure(
  course: Course,
  { what, end, progressed }: Attempt & { readonly end: { readonly kind: 'unavailable' } },
  backoff: Backoff,
  wait: number,
): Next {
  const before = progressed ? 0 : course.refusedWatches;
  const refusedWatches = what === 'watch' && end.status !== undefined ? before + 1 : before;
  return {
    course: { backoff, refusedWatches },
    begin: refusedWatches >= doubtedAfter ? 'list' : what,
    wait: Math.max(wait, Math.min(end.retryAfterMs ?? 0, longestRetryAfter)),
  };
}
