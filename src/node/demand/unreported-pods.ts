// Which pods that wait an agent has not counted yet. What a multi-pool agent requests contains its pods that wait for an
// address, so they would count twice. Agents that list used addresses count none that wait.
import type { CiliumNode } from '../../kubernetes/cilium-node/cilium-node.ts';
import { protocolOf, usedAddresses } from './demand.ts';

export interface Waiting {
  /** Pods on the node that wait for an address. */
  readonly pods: number;
  /** What the agent counts as used, with the pods that it knows to wait. */
  readonly counted: number;
  /** Of the pods, those that the agent may not have counted. */
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
