// A token bucket or a sliding window, like those of cloud rate limits, as plain data and pure functions.

export interface BucketSize {
  /** Maximum burst of calls after a pause. */
  readonly capacity: number;
  /** Sustained calls per second. */
  readonly refill: number;
  /**
   * Set for a sliding window, in ms: each token comes back this long after it was taken, and `refill` is only the average.
   * So no more than `capacity` calls are made in any such time.
   */
  readonly window?: number;
}

export interface TokenBucket extends BucketSize {
  /** Negative after a group of calls larger than the bucket. 0 in a bucket with a window. */
  readonly tokens: number;
  /** When `tokens` was computed, in monotonic ms. */
  readonly at: number;
  /** Tokens taken for calls not sent yet. The cloud's own bucket still holds them, so they take up room. */
  readonly unsent: number;
  /** Tokens taken within the window, oldest first; empty in a bucket without a window. */
  readonly taken: readonly TakenTokens[];
}

interface TakenTokens {
  /** In monotonic ms. */
  readonly at: number;
  readonly count: number;
}

/** Ignores floating-point rounding: a token is available if only this much is missing. */
const tolerance = 1e-6;

/** Times differ if they do by more, in ms. */
const roundedTime = 1e-3;

/** In ms. */
const recheckDelay = 100;

export function fullBucket(size: BucketSize, now: number): TokenBucket {
  return { ...size, tokens: size.window === undefined ? size.capacity : 0, at: now, unsent: 0, taken: [] };
}

export function tokensAt(bucket: TokenBucket, now: number): number {
  if (bucket.window !== undefined) return bucket.capacity - countOf(stillTaken(bucket, now));
  const room = bucket.capacity - bucket.unsent;
  const refilled = bucket.tokens + (bucket.refill * Math.max(0, now - bucket.at)) / 1000;
  // Existing tokens stay, however little room is left.
  return Math.min(refilled, bucket.capacity, Math.max(room, bucket.tokens));
}

/** Whether what was taken at `at` still counts, the same for all who ask however a time is rounded. */
export function isWithin(window: number, at: number, now: number): boolean {
  return at > now - window + roundedTime;
}

function stillTaken({ taken, window = 0 }: TokenBucket, now: number): readonly TakenTokens[] {
  const first = taken.findIndex(({ at }) => isWithin(window, at, now));
  return first === -1 ? [] : taken.slice(first);
}

function countOf(taken: readonly TakenTokens[]): number {
  return taken.reduce((sum, { count }) => sum + count, 0);
}

/** How long until `count` tokens can be taken at once, in ms; 0 if they can be taken now. */
export function untilTokens(bucket: TokenBucket, count: number, now: number): number {
  // A group larger than the bucket goes when the bucket is full and leaves a debt.
  const wanted = Math.min(count, bucket.capacity);
  const missing = wanted - tokensAt(bucket, now);
  if (missing <= tolerance) return 0;
  if (bucket.window !== undefined) return untilReturned(bucket, missing, now);
  const until = (missing / bucket.refill) * 1000;
  // Time alone adds no token if there is no room, so check again regularly.
  return wanted > bucket.capacity - bucket.unsent ? Math.max(until, recheckDelay) : until;
}

function untilReturned(bucket: TokenBucket, missing: number, now: number): number {
  let returned = 0;
  for (const { at, count } of stillTaken(bucket, now)) {
    returned += count;
    if (returned >= missing - tolerance) return at + (bucket.window ?? 0) - now;
  }
  return bucket.window ?? 0;
}

/** Takes `count` tokens, available or not. */
export function takeTokens(bucket: TokenBucket, count: number, now: number): TokenBucket {
  if (bucket.window === undefined) return { ...bucket, tokens: tokensAt(bucket, now) - count, at: now };
  return { ...bucket, taken: withTokens(stillTaken(bucket, now), count, now) };
}

/** Gives back `count` tokens. In a bucket with a window, `times` are those at which the unused tokens were taken. */
export function cancel(
  bucket: TokenBucket,
  { count, times }: { readonly count: number; readonly times: readonly number[] },
  now: number,
): TokenBucket {
  if (bucket.window === undefined) return takeTokens(bucket, -count, now);
  return { ...bucket, taken: times.reduce((taken, at) => withoutToken(taken, at), bucket.taken) };
}

function withTokens(taken: readonly TakenTokens[], count: number, now: number): readonly TakenTokens[] {
  const last = taken.at(-1);
  if (last?.at === now) return [...taken.slice(0, -1), { at: now, count: last.count + count }];
  return count === 0 ? taken : [...taken, { at: now, count }];
}

function withoutToken(taken: readonly TakenTokens[], at: number): readonly TakenTokens[] {
  const index = taken.findIndex((each) => each.at === at);
  const found = taken[index];
  if (found === undefined) return taken;
  return taken.toSpliced(index, 1, ...(found.count > 1 ? [{ at, count: found.count - 1 }] : []));
}

/** A token that was taken at `at` is used only now, so a window counts it from now on. */
export function usedLater(bucket: TokenBucket, at: number, now: number): TokenBucket {
  if (bucket.window === undefined || at >= now) return bucket;
  // Tokens that the window forgot meanwhile count again.
  const others = { ...bucket, taken: withoutToken(bucket.taken, at) };
  return { ...bucket, taken: withTokens(stillTaken(others, now), 1, now) };
}

/** Resizes the bucket and keeps its tokens; those that do not fit are lost. */
export function resized(bucket: TokenBucket, size: BucketSize, now: number): TokenBucket {
  if (bucket.window !== undefined) return { ...bucket, ...size };
  return { ...bucket, ...size, tokens: Math.min(size.capacity, tokensAt(bucket, now)), at: now };
}

/**
 * Leaves `count` tokens at most. In a bucket with a window, the tokens that this removes come back when the window ends.
 */
export function loweredTo(bucket: TokenBucket, count: number, now: number): TokenBucket {
  if (bucket.window !== undefined) return takeTokens(bucket, Math.max(0, tokensAt(bucket, now) - count), now);
  return { ...bucket, tokens: Math.min(count, tokensAt(bucket, now)), at: now };
}

/** Empties a bucket whose tokens proved not to exist. */
export function emptied(bucket: TokenBucket, now: number): TokenBucket {
  return loweredTo(bucket, 0, now);
}
