// The least time that a fleet can take: what the cloud's rate limits leave. Pure.

export interface Bucket {
  /** Calls at once after a pause. */
  readonly capacity: number;
  /** Calls a second for ever. */
  readonly refill: number;
}

/** A call that each node needs. */
export interface LeastCall {
  /** The tightest limit that it spends from. */
  readonly bucket: Bucket;
  /** Until it has had its effect. */
  readonly seconds: number;
}

export interface FloorOptions {
  readonly nodes: number;
  /** One of each for every node, one after another. */
  readonly calls: readonly LeastCall[];
  /** Multiplies the buckets and divides the latencies. */
  readonly scale: number;
  /** Part of every bucket that is ours. */
  readonly share: number;
}

/**
 * Seconds until every node has had its calls: (nodes − capacity) / refill of the tightest bucket, and the latencies of
 * one node's calls.
 */
export function floorOf({ nodes, calls, scale, share }: FloorOptions): number {
  const waits = calls.map(
    ({ bucket: { capacity, refill } }) =>
      Math.max(0, nodes - capacity * scale * share) / (refill * scale * share),
  );
  const latency = calls.reduce((sum, { seconds }) => sum + seconds / scale, 0);
  return Math.max(0, ...waits) + latency;
}
