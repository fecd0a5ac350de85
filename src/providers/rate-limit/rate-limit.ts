// State of one rate limit: the cloud's expected bucket, the learned ratio of it, and tokens granted for calls not sent
// yet. Plain data and pure functions.
//
// A throttle empties the bucket, so every call of the action waits for new tokens. If it also cuts the learned ratio,
// tokens that were granted before and not used become void. A sequence of calls, such as create and attach, gets all
// its tokens at once: those of its later calls wait for the first call to be sent.
import { afterAnswer, afterThrottle, fullRatio, type LearnedRatio, ratioAt } from './learned-ratio.ts';
import {
  type BucketSize,
  emptied,
  fullBucket,
  cancel,
  isWithin,
  loweredTo,
  resized,
  takeTokens,
  tokensAt,
  usedLater,
} from './token-bucket.ts';
import type { GrantedBucket } from './token-scheduler.ts';

export interface RateLimit extends GrantedBucket {
  readonly size: BucketSize;
  readonly learnedRatio: LearnedRatio;
  readonly throttled: number;
  /** Granted for calls not sent yet, oldest first. */
  readonly unsent: readonly UnsentToken[];
  /**
   * Number of void tokens: granted, and then found not to exist, or not used by the end of their window. Each of their
   * calls needs another token.
   */
  readonly voided: number;
}

/** Times are in monotonic ms. */
export interface UnsentToken {
  readonly grantedAt: number;
  /** Limits of the later calls of the same sequence; set on the token of its first call. */
  readonly followers: readonly string[];
  /** When the first call of the sequence was sent; undefined for that call itself, and until then. */
  readonly firstSentAt: number | undefined;
}

/** The cloud's answer to a call. Times are in monotonic ms. */
export interface RateAnswer {
  readonly sentAt: number;
  readonly throttled: boolean;
  /** How long the cloud asks us to wait, in ms. */
  readonly retryAfter: number;
}

/** Longest assumed delay between the first call of a sequence and a later one, in ms. */
const maxFollowDelay = 5000;
/** Weight of the newest call in the average of that delay. */
const followDelayGain = 0.1;
/** A granted call of a bucket not sent within this time is assumed never to be sent, in ms. */
const maxUnsentAge = 60_000;

export function unusedLimit(size: BucketSize, now: number): RateLimit {
  return {
    size,
    learnedRatio: fullRatio(now),
    bucket: fullBucket(size, now),
    notBefore: -Infinity,
    skipped: {},
    throttled: 0,
    unsent: [],
    voided: 0,
    followDelay: 0,
  };
}

/** Resizes the limit by the current learned ratio. */
export function limitAt(limit: RateLimit, now: number): RateLimit {
  const ratio = ratioAt(limit.learnedRatio, now);
  const size = {
    ...limit.size,
    capacity: limit.size.capacity * ratio,
    refill: limit.size.refill * ratio,
  };
  const { capacity, refill, unsent: room } = limit.bucket;
  const unsent = withoutForgotten(limit, now);
  const isSized = capacity === size.capacity && refill === size.refill;
  if (isSized && room === unsent.length && unsent === limit.unsent) return limit;
  // Tokens refilled so far count; the new size applies from now on.
  const bucket = { ...resized(limit.bucket, size, now), unsent: unsent.length };
  // A window ended for tokens that it forgets, so their calls are not counted in the next one.
  const voided = limit.voided + (size.window === undefined ? 0 : limit.unsent.length - unsent.length);
  return { ...limit, unsent, bucket, voided };
}

function withoutForgotten({ unsent, size }: RateLimit, now: number): readonly UnsentToken[] {
  const { window = maxUnsentAge } = size;
  const [oldest] = unsent;
  if (oldest === undefined || isWithin(window, oldest.grantedAt, now)) return unsent;
  return unsent.filter(({ grantedAt }) => isWithin(window, grantedAt, now));
}

/** Tokens were granted, together with tokens of `followers` for later calls of the sequence. */
export function whenGranted(
  limit: RateLimit,
  { count, followers }: { readonly count: number; readonly followers: readonly string[] },
  now: number,
): RateLimit {
  const granted = Array.from({ length: count }, () => ({
    grantedAt: now,
    followers,
    firstSentAt: undefined,
  }));
  return limitAt({ ...limit, unsent: [...limit.unsent, ...granted] }, now);
}

/** A granted call has been sent. */
export function whenSent(limit: RateLimit, now: number): RateLimit {
  const [token, ...unsent] = limit.unsent;
  if (token === undefined) return whenSentWithout(limit, now);
  const { firstSentAt, grantedAt } = token;
  const bucket = usedLater(limit.bucket, grantedAt, now);
  if (firstSentAt === undefined) return limitAt({ ...limit, bucket, unsent }, now);
  const waited = Math.min(maxFollowDelay, now - firstSentAt);
  return limitAt(
    {
      ...limit,
      bucket,
      unsent,
      followDelay: limit.followDelay + (waited - limit.followDelay) * followDelayGain,
    },
    now,
  );
}

/** Its token proved void after the last check: the call takes another one, so that no other call is asked to. */
function whenSentWithout(limit: RateLimit, now: number): RateLimit {
  const count = Math.min(1, limit.voided);
  const bucket = takeTokens(limit.bucket, count, now);
  return limitAt({ ...limit, bucket, voided: limit.voided - count }, now);
}

/** The first call of a sequence has been sent; this limit has the token of a later one. */
export function whenFirstSent(limit: RateLimit, now: number): RateLimit {
  const index = limit.unsent.findIndex(({ firstSentAt }) => firstSentAt === undefined);
  const token = limit.unsent[index];
  return token === undefined
    ? limit
    : { ...limit, unsent: limit.unsent.with(index, { ...token, firstSentAt: now }) };
}

/** Granted calls will not be sent: refunds their tokens. */
export function whenRefunded(limit: RateLimit, count: number, now: number): RateLimit {
  const voided = Math.min(limit.voided, count);
  const there = count - voided;
  const kept = Math.max(0, limit.unsent.length - there);
  const times = limit.unsent.slice(kept).map(({ grantedAt }) => grantedAt);
  const bucket = cancel(limit.bucket, { count: there, times }, now);
  return limitAt(
    { ...limit, bucket, unsent: limit.unsent.slice(0, kept), voided: limit.voided - voided },
    now,
  );
}

/** A call that was sent has not reached the cloud. A window goes on counting it. */
export function whenNotReached(limit: RateLimit, now: number): RateLimit {
  return limitAt({ ...limit, bucket: cancel(limit.bucket, { count: 1, times: [] }, now) }, now);
}

/** A call with a void token requests another one, or cancels that request with -1. */
export function whenRenewed(limit: RateLimit, count: 1 | -1): RateLimit {
  return { ...limit, voided: limit.voided - count };
}

/** The cloud says that it would admit `count` further calls. Those granted and not sent yet are among them. */
export function whenRemaining(limit: RateLimit, count: number, now: number): RateLimit {
  const current = limitAt(limit, now);
  const left = count - current.unsent.length;
  // It says whole tokens, and has part of the next one, too: without that part, answers that come faster than tokens would
  // leave none.
  if (tokensAt(current.bucket, now) < left + 1) return current;
  return { ...current, bucket: loweredTo(current.bucket, left, now) };
}

/** Whether it equals a limit that no call has used. */
export function isAsUnused(limit: RateLimit, now: number): boolean {
  const { bucket, size, unsent, voided, notBefore } = limitAt(limit, now);
  return unsent.length === 0 && voided === 0 && notBefore <= now && tokensAt(bucket, now) >= size.capacity;
}

export function whenAnswered(limit: RateLimit, answer: RateAnswer, now: number): RateLimit {
  const before = limit.learnedRatio;
  if (!answer.throttled) return limitAt({ ...limit, learnedRatio: afterAnswer(before, now) }, now);
  const perCall = 1000 / limit.bucket.refill;
  const learnedRatio = afterThrottle(before, { sentAt: answer.sentAt, now, perCall });
  const { bucket, ...rest } = limitAt({ ...limit, learnedRatio }, now);
  const throttled = {
    ...rest,
    bucket: emptied(bucket, now),
    notBefore: Math.max(limit.notBefore, now + answer.retryAfter),
    throttled: limit.throttled + 1,
  };
  // After a cut, the tokens granted for unsent calls do not exist either.
  return learnedRatio.cutAt === before.cutAt ? throttled : limitAt(withoutUnsent(throttled), now);
}

function withoutUnsent(limit: RateLimit): RateLimit {
  return { ...limit, voided: limit.voided + limit.unsent.length, unsent: [] };
}
