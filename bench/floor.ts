// The least time that a fleet can take: what the cloud's rate limits leave. Pure; sources are in the EC2 developer guide
// (https://docs.aws.amazon.com/ec2/latest/devguide/ec2-api-throttling.html) and the latencies that operators report.

export interface Bucket {
  /** Calls at once after a pause. */
  readonly capacity: number;
  /** Calls a second for ever. */
  readonly refill: number;
}

/** What EC2 gives an account and region for the calls that a scale-up needs. */
export const buckets = {
  CreateNetworkInterface: { capacity: 100, refill: 5 },
  AttachNetworkInterface: { capacity: 50, refill: 5 },
  ModifyNetworkInterfaceAttribute: { capacity: 100, refill: 5 },
  AssignPrivateIpAddresses: { capacity: 100, refill: 5 },
} as const satisfies Record<string, Bucket>;

/** Means, in seconds. */
export const latencies = {
  CreateNetworkInterface: 1,
  AttachNetworkInterface: 0.74,
  ModifyNetworkInterfaceAttribute: 0.34,
  AssignPrivateIpAddresses: 0.5,
  DescribeNetworkInterfaces: 0.18,
} as const satisfies Record<string, number>;

export type AllocationAction = keyof typeof buckets;

export interface FloorOptions {
  readonly nodes: number;
  /** One call of each for every node, one after another. */
  readonly actions: readonly AllocationAction[];
  /** Multiplies the buckets and divides the latencies. */
  readonly scale: number;
  /** Part of every bucket that is ours. */
  readonly share: number;
}

/**
 * Seconds until every node has had its calls: (nodes − capacity) / refill of the tightest bucket, and the latencies of
 * one node's calls.
 */
export function floorOf({ nodes, actions, scale, share }: FloorOptions): number {
  const waits = actions.map((action) => {
    const { capacity, refill } = buckets[action];
    return Math.max(0, nodes - capacity * scale * share) / (refill * scale * share);
  });
  const latency = actions.reduce((sum, action) => sum + latencies[action] / scale, 0);
  return Math.max(0, ...waits) + latency;
}
