// Counts pending pods that the agent has not counted yet. The request of a multi-pool agent includes its pending pods,
// which would count twice. Agents that list used addresses count no pending pods.
import type { CiliumNode } from '../../kubernetes/cilium-node/cilium-node.ts';
import { protocolOf, usedAddresses } from './demand.ts';

export interface Waiting {
  /** Pods on the node that wait for an address. */
  readonly pods: number;
  /** Addresses that the agent counts as used, including those for the pending pods that it knows of. */
  readonly counted: number;
  /** The number of these pods that the agent may not have counted. */
  readonly unreported: number;
}

/**
 * `before`: undefined at first, when nothing says which pods the agent has counted. Later, pods that come are not
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
