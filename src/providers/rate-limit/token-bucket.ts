// A token bucket like those of cloud rate limits, as plain data and pure functions.

export interface BucketSize {
  /** Maximum burst of calls after a pause. */
  readonly capacity: number;
  /** Sustained calls per second. */
  readonly refill: number;
}

export interface TokenBucket extends BucketSize {
  /** Negative after a group of calls larger than the bucket. */
  readonly tokens: number;
  /** When `tokens` was computed, in monotonic ms. */
  readonly at: number;
  /** Tokens taken for calls not sent yet. The cloud's own bucket still holds them, so they take up room. */
  readonly unsent: number;
}

/** Ignores floating-point rounding: a token is available if only this much is missing. */
const tolerance = 1e-6;

/** In ms. */
const recheckDelay = 100;

export function fullBucket(size: BucketSize, now: number): TokenBucket {
  return { ...size, tokens: size.capacity, at: now, unsent: 0 };
}

export function tokensAt(bucket: TokenBucket, now: number): number {
  const room = bucket.capacity - bucket.unsent;
  const refilled = bucket.tokens + (bucket.refill * Math.max(0, now - bucket.at)) / 1000;
  // Existing tokens stay, however little room is left.
  return Math.min(refilled, bucket.capacity, Math.max(room, bucket.tokens));
}

/** How long until `count` tokens can be taken at once, in ms; 0 if they can be taken now. */
export function untilTokens(bucket: TokenBucket, count: number, now: number): number {
  // A group larger than the bucket goes when the bucket is full and leaves a debt.
  const wanted = Math.min(count, bucket.capacity);
  const missing = wanted - tokensAt(bucket, now);
  if (missing <= tolerance) return 0;
  const until = (missing / bucket.refill) * 1000;
  // Without room, time alone adds no token, so check again regularly.
  return wanted > bucket.capacity - bucket.unsent ? Math.max(until, recheckDelay) : until;
}

/** Takes `count` tokens, available or not. */
export function takeTokens(bucket: TokenBucket, count: number, now: number): TokenBucket {
  return { ...bucket, tokens: tokensAt(bucket, now) - count, at: now };
}

/** Resizes the bucket and keeps its tokens; those that do not fit are lost. */
export function resized(bucket: TokenBucket, size: BucketSize, now: number): TokenBucket {
  return { ...bucket, ...size, tokens: Math.min(size.capacity, tokensAt(bucket, now)), at: now };
}

/** Leaves `count` tokens at most. */
export function loweredTo(bucket: TokenBucket, count: number, now: number): TokenBucket {
  return { ...bucket, tokens: Math.min(count, tokensAt(bucket, now)), at: now };
}

/** Empties a bucket whose tokens proved not to exist. */
export function emptied(bucket: TokenBucket, now: number): TokenBucket {
  return loweredTo(bucket, 0, now);
}
