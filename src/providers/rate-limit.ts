// What is known of one rate limit: the bucket as the cloud should have it, the part of it that is ours, and the tokens that
// were granted for calls which are still to be sent. Plain data and pure functions.
import { afterAnswer, afterThrottle, type LearnedShare, shareAt, wholeShare } from './learned-share.ts';
import { type BucketSize, emptied, fullBucket, resized, takeTokens } from './token-bucket.ts';
import type { GrantedBucket } from './token-grants.ts';

export interface RateLimit extends GrantedBucket {
  readonly size: BucketSize;
  readonly learned: LearnedShare;
  readonly throttled: number;
  /** Granted for calls that were not sent yet, oldest first. */
  readonly unsent: readonly UnsentToken[];
  /** Granted for calls that were not sent yet, and then turned out not to be there: these calls need another one each. */
  readonly voided: number;
}

/** Times in monotonic ms. */
export interface UnsentToken {
  readonly grantedAt: number;
  /** Limits whose tokens were granted together with it, for calls that go after this one. */
  readonly followers: readonly string[];
  /** When the call that goes before was sent. */
  readonly startedAt: number | undefined;
}

/** What the cloud said to a call. Times in monotonic ms. */
export interface RateAnswer {
  readonly sentAt: number;
  readonly throttled: boolean;
  /** How long the cloud asks to be left alone, in ms. */
  readonly retryAfter: number;
}

/** No call is counted on to be sent later than this after the one before it, in ms. */
const longestLead = 5000;
/** How much the last call counts in how long calls are sent after those before them. */
const leadGain = 0.1;
/** A call that was not sent this long after it was granted never will be, in ms. */
const longestUnsent = 60_000;

export function unusedLimit(size: BucketSize, now: number): RateLimit {
  return {
    size,
    learned: wholeShare(now),
    bucket: fullBucket(size, now),
    notBefore: -Infinity,
    passedOver: {},
    throttled: 0,
    unsent: [],
    voided: 0,
    lead: 0,
  };
}

/** At the size that is known now to be there for us. */
export function limitAt(limit: RateLimit, now: number): RateLimit {
  const share = shareAt(limit.learned, now);
  const size = { capacity: limit.size.capacity * share, refill: limit.size.refill * share };
  const { capacity, refill, unsent: room } = limit.bucket;
  const unsent = withoutForgotten(limit.unsent, now);
  if (capacity === size.capacity && refill === size.refill && room === unsent.length) return limit;
  // What was refilled until now is there; from now on there is room for more, or less.
  const bucket = { ...resized(limit.bucket, size, now), unsent: unsent.length };
  return { ...limit, unsent, bucket };
}

function withoutForgotten(unsent: readonly UnsentToken[], now: number): readonly UnsentToken[] {
  const isFresh = ({ grantedAt }: UnsentToken): boolean => grantedAt > now - longestUnsent;
  const [oldest] = unsent;
  return oldest === undefined || isFresh(oldest) ? unsent : unsent.filter(isFresh);
}

/** Tokens were granted, with others of `followers` for calls that go after theirs. */
export function whenGranted(
  limit: RateLimit,
  { count, followers }: { readonly count: number; readonly followers: readonly string[] },
  now: number,
): RateLimit {
  const granted = Array.from({ length: count }, () => ({ grantedAt: now, followers, startedAt: undefined }));
  return limitAt({ ...limit, unsent: [...limit.unsent, ...granted] }, now);
}

/** A call that was granted has been sent. */
export function whenSent(limit: RateLimit, now: number): RateLimit {
  const startedAt = limit.unsent[0]?.startedAt;
  const unsent = limit.unsent.slice(1);
  if (startedAt === undefined) return limitAt({ ...limit, unsent }, now);
  const waited = Math.min(longestLead, now - startedAt);
  return limitAt({ ...limit, unsent, lead: limit.lead + (waited - limit.lead) * leadGain }, now);
}

/** The call before one that was granted has been sent. */
export function whenStarted(limit: RateLimit, now: number): RateLimit {
  const index = limit.unsent.findIndex(({ startedAt }) => startedAt === undefined);
  const token = limit.unsent[index];
  return token === undefined
    ? limit
    : { ...limit, unsent: limit.unsent.with(index, { ...token, startedAt: now }) };
}

/** Calls that were granted won't be sent. */
export function whenGivenBack(limit: RateLimit, count: number, now: number): RateLimit {
  const voided = Math.min(limit.voided, count);
  const there = count - voided;
  const bucket = takeTokens(limit.bucket, -there, now);
  const unsent = there === 0 ? limit.unsent : limit.unsent.slice(0, -there);
  return limitAt({ ...limit, bucket, unsent, voided: limit.voided - voided }, now);
}

/** One of the calls whose token was void asks for another, or, with -1, gives that up. */
export function whenRenewed(limit: RateLimit, count: 1 | -1): RateLimit {
  return { ...limit, voided: limit.voided - count };
}

export function whenAnswered(limit: RateLimit, answer: RateAnswer, now: number): RateLimit {
  if (!answer.throttled) return limitAt({ ...limit, learned: afterAnswer(limit.learned, now) }, now);
  const perCall = 1000 / limit.bucket.refill;
  const learned = afterThrottle(limit.learned, { sentAt: answer.sentAt, now, perCall });
  const { bucket, ...rest } = limitAt({ ...limit, learned }, now);
  const throttled = {
    ...rest,
    bucket: emptied(bucket, now),
    notBefore: Math.max(limit.notBefore, now + answer.retryAfter),
    throttled: limit.throttled + 1,
  };
  // Once that is no coincidence, what was granted is not there either.
  return learned.cutAt === limit.learned.cutAt ? throttled : limitAt(withoutUnsent(throttled), now);
}

function withoutUnsent(limit: RateLimit): RateLimit {
  return { ...limit, voided: limit.voided + limit.unsent.length, unsent: [] };
}
