// The operator's cap on all cloud calls together, and what it costs compared with the budgets that EC2 itself gives.
// Pure: it knows numbers only.

/** A token bucket: `burst` calls at once, and `perSecond` from then on. */
export interface CallRate {
  readonly perSecond: number;
  readonly burst: number;
}

/** What cilium-operator limits itself to when it is told nothing. */
const operatorDefault: CallRate = { perSecond: 4, burst: 20 };

/**
 * EC2's own budgets for what a node needs that gets its first interface, each action having its own:
 * https://docs.aws.amazon.com/ec2/latest/devguide/ec2-api-throttling.html
 */
const ec2Budgets: readonly CallRate[] = [
  { perSecond: 5, burst: 100 }, // CreateNetworkInterface
  { perSecond: 5, burst: 50 }, // AttachNetworkInterface, by the default for mutating actions
];

export interface CapOptions {
  readonly limitIpamApiQps: number | undefined;
  readonly limitIpamApiBurst: number | undefined;
}

/** The cap on all calls together; undefined when none was asked for. One of the two makes the other the operator's. */
export function callCapOf({ limitIpamApiQps, limitIpamApiBurst }: CapOptions): CallRate | undefined {
  if (limitIpamApiQps === undefined && limitIpamApiBurst === undefined) return undefined;
  return {
    perSecond: limitIpamApiQps ?? operatorDefault.perSecond,
    burst: limitIpamApiBurst ?? operatorDefault.burst,
  };
}

/** The least time in seconds that a full bucket takes to let `calls` through. */
export function secondsToMake(calls: number, { perSecond, burst }: CallRate): number {
  return Math.max(0, calls - burst) / perSecond;
}

export interface CapCost {
  /** Least seconds until each of `nodes` nodes has its first interface created and attached, under the cap. */
  readonly capped: number;
  /** The same by EC2's own budgets alone. */
  readonly uncapped: number;
}

export function costOfCap(cap: CallRate, nodes: number): CapCost {
  const uncapped = Math.max(...ec2Budgets.map((budget) => secondsToMake(nodes, budget)));
  return { capped: Math.max(uncapped, secondsToMake(nodes * ec2Budgets.length, cap)), uncapped };
}

/** The cost in a sentence. */
export function capInWords(cap: CallRate, nodes = 1000): string {
  const { capped, uncapped } = costOfCap(cap, nodes);
  const calls = `at ${cap.perSecond} calls/s and ${cap.burst} at once for all cloud calls together`;
  const fleet = `a fleet of ${nodes.toLocaleString('en')} nodes needing a create and an attach each takes at least`;
  return capped > uncapped
    ? `${calls}, ${fleet} ${Math.ceil(capped)} s instead of ${Math.ceil(uncapped)} s`
    : `${calls}, ${fleet} ${Math.ceil(uncapped)} s, as without the cap`;
}
