// The cloud of a benchmark: instances of one type in one zone, and a subnet for pods that has room for all of them.
export interface Machines {
  readonly type: string;
  readonly count: number;
  /** Addresses for pods that each has on its first interface before anything begins. */
  readonly addresses?: number;
}

export interface CloudPlan {
  readonly machines: readonly Machines[];
  /** Multiplies size and refill of every rate limit. */
  readonly scale: number;
  /** Multiplies every delay; the inverse of `scale` if not given. */
  readonly latencyScale?: number;
  /** How far latencies scatter around their means (sigma of the log-normal distribution). */
  readonly spread: number;
}

export const region = 'eu-central-1';
const zone = 'eu-central-1a';
export const podSubnetTags = { purpose: 'pods' } as const;

/** The topology file of simulate, as JSON, which YAML contains. */
export function topologyOf({ machines, scale, latencyScale = 1 / scale, spread }: CloudPlan): string {
  const ms = (min: number, max: number): { min: number; max: number } => ({
    min: min * latencyScale,
    max: max * latencyScale,
  });
  return JSON.stringify({
    region,
    seed: 'bench',
    vpcs: [{ name: 'production', blocks: ['10.20.0.0/16', '10.21.0.0/16'] }],
    subnets: [
      { name: 'nodes', zone, block: '10.20.0.0/16' },
      { name: 'pods', zone, block: '10.21.0.0/16', tags: podSubnetTags },
    ],
    routeTables: [{ name: 'private', subnets: ['nodes', 'pods'] }],
    securityGroups: [{ name: 'nodes' }],
    instances: machines.map(({ type, count, addresses = 0 }) => ({
      name: type,
      type,
      count,
      addresses,
      subnet: 'nodes',
      securityGroups: ['nodes'],
    })),
    limits: { scale },
    latency: { scale: latencyScale, spread },
    consistency: { visibilityDelayMs: ms(0, 500), listingLagMs: ms(0, 1000) },
    times: { attachMs: ms(1000, 3000), detachMs: ms(2000, 3000) },
  });
}
