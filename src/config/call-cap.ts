// Computes the operator's cap on all cloud calls and its cost relative to EC2's own rate limits. Pure.

/** A token bucket: `burst` calls at once, then `perSecond`. */
export interface CallRate {
  readonly perSecond: number;
  readonly burst: number;
}

/** The default limits of cilium-operator. */
const operatorDefault: CallRate = { perSecond: 4, burst: 20 };

/**
 * EC2's limits of the actions behind a node's first interface, one bucket per action:
 * https://docs.aws.amazon.com/ec2/latest/devguide/ec2-api-throttling.html
 */
const ec2Budgets: readonly CallRate[] = [
  { perSecond: 5, burst: 100 }, // CreateNetworkInterface
  { perSecond: 5, burst: 50 }, // AttachNetworkInterface: the default for mutating actions
];

export interface CapOptions {
  readonly limitIpamApiQps: number | undefined;
  readonly limitIpamApiBurst: number | undefined;
}

/** The cap on all calls; undefined unless requested. An unset half of it takes the operator's default. */
export function callCapOf({ limitIpamApiQps, limitIpamApiBurst }: CapOptions): CallRate | undefined {
  if (limitIpamApiQps === undefined && limitIpamApiBurst === undefined) return undefined;
  return {
    perSecond: limitIpamApiQps ?? operatorDefault.perSecond,
    burst: limitIpamApiBurst ?? operatorDefault.burst,
  };
}

/** Minimum seconds until a full bucket admits `calls` calls. */
export function secondsToMake(calls: number, { perSecond, burst }: CallRate): number {
  return Math.max(0, calls - burst) / perSecond;
}

export interface CapCost {
  /** Minimum seconds until `nodes` nodes have created and attached their first interface, under the cap. */
  readonly capped: number;
  /** The same with EC2's limits only. */
  readonly uncapped: number;
}

export function costOfCap(cap: CallRate, nodes: number): CapCost {
  const uncapped = Math.max(...ec2Budgets.map((budget) => secondsToMake(nodes, budget)));
  return { capped: Math.max(uncapped, secondsToMake(nodes * ec2Budgets.length, cap)), uncapped };
}

/** The nodes of the fleet by which the cost is stated. */
const statedNodes = 1000;

/** The cost as a sentence, and whether the cap costs time at all. */
export function capInWords(cap: CallRate): { readonly cost: string; readonly isSlower: boolean } {
  const { capped, uncapped } = costOfCap(cap, statedNodes);
  const calls = `at ${cap.perSecond} calls/s and ${cap.burst} at once for all cloud calls together`;
  const fleet = `a fleet of ${statedNodes.toLocaleString('en')} nodes needing a create and an attach each takes at least`;
  const isSlower = capped > uncapped;
  const time = isSlower
    ? `${Math.ceil(capped)} s instead of ${Math.ceil(uncapped)} s`
    : `${Math.ceil(uncapped)} s, as without the cap`;
  return { cost: `${calls}, ${fleet} ${time}`, isSlower };
}
