// Computes the operator's cap on all cloud calls and its cost relative to the cloud's own rate limits. Pure.
import type { CallRate, FirstCalls } from './clouds/cloud-descriptor.ts';

/** The default limits of cilium-operator. */
const operatorDefault: CallRate = { perSecond: 4, burst: 20 };

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
  /** Minimum seconds until `nodes` nodes have their first addresses, under the cap. */
  readonly capped: number;
  /** The same with the cloud's limits only. */
  readonly uncapped: number;
}

export function costOfCap(cap: CallRate, nodes: number, { budgets }: FirstCalls): CapCost {
  const uncapped = Math.max(...budgets.map((budget) => secondsToMake(nodes, budget)));
  return { capped: Math.max(uncapped, secondsToMake(nodes * budgets.length, cap)), uncapped };
}

/** The nodes of the fleet by which the cost is stated. */
const statedNodes = 1000;

/** The cost as a sentence, and whether the cap costs time at all. */
export function capInWords(
  cap: CallRate,
  first: FirstCalls,
): { readonly cost: string; readonly isSlower: boolean } {
  const { capped, uncapped } = costOfCap(cap, statedNodes, first);
  const calls = `at ${cap.perSecond} calls/s and ${cap.burst} at once for all cloud calls together`;
  const fleet = `a fleet of ${statedNodes.toLocaleString('en')} nodes needing ${first.what} each takes at least`;
  const isSlower = capped > uncapped;
  const time = isSlower
    ? `${Math.ceil(capped)} s instead of ${Math.ceil(uncapped)} s`
    : `${Math.ceil(uncapped)} s, as without the cap`;
  return { cost: `${calls}, ${fleet} ${time}`, isSlower };
}
