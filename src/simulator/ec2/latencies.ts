// How long EC2's calls take on average, in ms: what operators report for a region in good health.
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

/** Each result beyond a thousand makes a listing slower: 19,000 in one answer take more than ten seconds. */
const msPerResult = 0.55;

/** The mean of an action. */
export function meanLatency(action: string): number {
  return reported[action] ?? (isRead(action) ? 150 : 300);
}

/** What a long answer adds. */
export function lengthLatency(results: number): number {
  return Math.max(0, results - 1000) * msPerResult;
}
