// The demand of a node's agent, in either protocol. Agents up to 1.19 list used addresses ("crd"); later
// agents request a count for the pool "default" ("multi-pool"), and pending pods are in that count.
import type { CiliumNode } from '../../kubernetes/cilium-node/cilium-node.ts';
import type { CloudTraits } from '../../providers/contract/cloud.ts';
import { defaultPreAllocate } from './capacity.ts';
import type { Watermarks } from './statistics.ts';

export type AgentProtocol = 'crd' | 'multi-pool';

/** The pool for pod addresses. Other pools belong to other IPAM modes. */
export const poolName = 'default';

/** Needs as an agent states them. */
type AskingObject = Pick<CiliumNode, 'ipam' | 'status'>;

/** An upgraded agent empties its list of used addresses when it starts to request pools. */
export function protocolOf(node: AskingObject): AgentProtocol {
  const requests = node.ipam.requested.some(({ pool }) => pool === poolName);
  return requests && node.status.used.size === 0 ? 'multi-pool' : 'crd';
}

/** Whether the agent speaks a protocol that no agent of this cloud is known to speak: what it uses is unknown. */
export function isForeignAgent(
  node: AskingObject,
  { poolRequests }: Pick<CloudTraits, 'poolRequests'>,
): boolean {
  return !poolRequests && protocolOf(node) === 'multi-pool';
}

/** Addresses in use. A multi-pool agent also requests its free buffer, which is not in use. */
export function usedAddresses(node: AskingObject): number {
  if (protocolOf(node) === 'crd') return node.status.used.size;
  const requested = node.ipam.requested.find(({ pool }) => pool === poolName)?.ipv4 ?? 0;
  return Math.max(0, requested - preAllocateOf(node));
}

/** `max`: the instance's maximum, for nodes without a limit of their own; 0 for no limit. */
export function watermarksOf(node: AskingObject, max: number): Watermarks {
  const { minAllocate, maxAllocate, maxAboveWatermark } = node.ipam;
  return {
    preAllocate: preAllocateOf(node),
    minAllocate,
    maxAllocate: maxAllocate > 0 ? maxAllocate : max,
    maxAboveWatermark,
  };
}

/** The field that says with how many addresses an agent starts (docs/ciliumnode-contract.md 1.6). */
export interface StartThreshold {
  readonly field: 'min-allocate' | 'pre-allocate';
  readonly addresses: number;
}

/** Undefined for an agent that starts with any address. */
export function startThresholdOf(node: AskingObject): StartThreshold | undefined {
  const { minAllocate, preAllocate } = node.ipam;
  if (protocolOf(node) !== 'crd') return undefined;
  if (minAllocate > 0) return { field: 'min-allocate', addresses: minAllocate };
  return preAllocate > 0 ? { field: 'pre-allocate', addresses: preAllocate } : undefined;
}

function preAllocateOf(node: AskingObject): number {
  return node.ipam.preAllocate || defaultPreAllocate;
}

/** Whether the agent and the user still ask for the same. */
export function asksTheSame(a: CiliumNode, b: CiliumNode): boolean {
  return demandIn(a) === demandIn(b);
}

/** Whether the multi-pool agent still requests and lists the same. */
export function saysTheSameOfPools({ ipam: a }: CiliumNode, { ipam: b }: CiliumNode): boolean {
  return JSON.stringify([a.requested, a.allocated]) === JSON.stringify([b.requested, b.allocated]);
}

function demandIn({ ipam, section, deleting, ignored, status }: CiliumNode): string {
  const asked = { ...ipam, pool: undefined };
  return JSON.stringify([asked, section, deleting, ignored, [...status.used], [...status.releaseIps]]);
}

/** Pending pods, as far as the agent has counted them: what it requests would count those twice. */
export interface Waiting {
  /** Pods on the node that wait for an address. */
  readonly pods: number;
  /** Addresses that the agent counts as used, including those for the pending pods that it knows of. */
  readonly counted: number;
  /** The number of these pods that the agent may not have counted. */
  readonly unreported: number;
}

/**
 * `before`: undefined at first, when nothing says which pods the agent has counted. An agent that lists used addresses counts none. Later, pods that come are not
 * counted until the agent counts as many more, and pods that got their address are those that it has counted.
 */
export function waitingAfter(before: Waiting | undefined, node: CiliumNode, pods: number): Waiting {
  const counted = usedAddresses(node);
  if (before === undefined || protocolOf(node) === 'crd') return { pods, counted, unreported: pods };
  const come = Math.max(0, pods - before.pods);
  const reported = Math.max(0, counted - before.counted);
  const unreported = Math.max(0, before.unreported + come - reported);
  return { pods, counted, unreported: Math.min(pods, unreported) };
}
