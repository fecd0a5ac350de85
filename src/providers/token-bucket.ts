// A token bucket as clouds keep them for their rate limits, as plain data and pure functions.

export interface BucketSize {
  /** Most calls that can be made at once after a pause. */
  readonly capacity: number;
  /** Calls per second that can be made for ever. */
  readonly refill: number;
}

export interface TokenBucket extends BucketSize {
  /** May be below zero after a group of calls larger than the bucket. */
  readonly tokens: number;
  /** When `tokens` was true, in monotonic ms. */
  readonly at: number;
  /** Tokens taken for calls that were not sent yet: in the cloud's own bucket they are still there, and take room. */
  readonly unsent: number;
}

/** A token that is there but for the last bits of a double is there. */
const tolerance = 1e-6;

/** In ms. */
const leastLook = 100;

export function fullBucket(size: BucketSize, now: number): TokenBucket {
  return { ...size, tokens: size.capacity, at: now, unsent: 0 };
}

export function tokensAt(bucket: TokenBucket, now: number): number {
  const room = bucket.capacity - bucket.unsent;
  const refilled = bucket.tokens + (bucket.refill * Math.max(0, now - bucket.at)) / 1000;
  // What is there stays, however little room there is.
  return Math.min(refilled, bucket.capacity, Math.max(room, bucket.tokens));
}

/** How long until `count` tokens can be taken at once, in ms; 0 when they can be taken now. */
export function untilTokens(bucket: TokenBucket, count: number, now: number): number {
  // A group larger than the bucket goes when the bucket is full, and leaves a debt.
  const wanted = Math.min(count, bucket.capacity);
  const lacking = wanted - tokensAt(bucket, now);
  if (lacking <= tolerance) return 0;
  const until = (lacking / bucket.refill) * 1000;
  // Where there is no room, time alone brings nothing: it is looked at again now and then.
  return wanted > bucket.capacity - bucket.unsent ? Math.max(until, leastLook) : until;
}

/** The bucket once `count` tokens are taken out of it, whether they were there or not. */
export function takeTokens(bucket: TokenBucket, count: number, now: number): TokenBucket {
  return { ...bucket, tokens: tokensAt(bucket, now) - count, at: now };
}

/** The bucket at another size, with the tokens that it has; what does not fit is lost. */
export function resized(bucket: TokenBucket, size: BucketSize, now: number): TokenBucket {
  return { ...bucket, ...size, tokens: Math.min(size.capacity, tokensAt(bucket, now)), at: now };
}

/** The bucket once it turned out that nothing is in it. */
export function emptied(bucket: TokenBucket, now: number): TokenBucket {
  return { ...bucket, tokens: Math.min(0, tokensAt(bucket, now)), at: now };
}
