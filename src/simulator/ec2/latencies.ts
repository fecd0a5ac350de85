// EC2's mean call latencies in ms, as operators report them for a healthy region.
import { isRead } from './request-limits.ts';

const reported: Readonly<Record<string, number>> = {
  DescribeNetworkInterfaces: 180,
  CreateNetworkInterface: 1000,
  AttachNetworkInterface: 740,
  DetachNetworkInterface: 500,
  DeleteNetworkInterface: 250,
  ModifyNetworkInterfaceAttribute: 340,
  AssignPrivateIpAddresses: 500,
  AssignIpv6Addresses: 500,
  UnassignPrivateIpAddresses: 375,
  UnassignIpv6Addresses: 375,
  RunInstances: 1500,
};

/** Each result beyond a thousand slows a listing: 19,000 in one answer take over ten seconds. */
const msPerResult = 0.55;

/** The mean latency of an action. */
export function meanLatency(action: string): number {
  return reported[action] ?? (isRead(action) ? 150 : 300);
}

/** The additional latency of a long answer. */
export function lengthLatency(results: number): number {
  return Math.max(0, results - 1000) * msPerResult;
}
