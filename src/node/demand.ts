// What a node's agent asks for, whichever of the two protocols it speaks. Agents up to 1.19 list the addresses in use
// ("crd"); later ones say how many they want for the pool "default" ("multi-pool").
import type { CiliumNode } from '../kubernetes/cilium-node.ts';
import { defaultPreAllocate } from './capacity.ts';
import type { Watermarks } from './statistics.ts';

export type AgentProtocol = 'crd' | 'multi-pool';

/** The pool that pods get addresses of; others belong to other ways of allocating. */
export const poolName = 'default';

/** An agent that was upgraded empties the list of used addresses when it begins to request pools. */
export function protocolOf(node: CiliumNode): AgentProtocol {
  const requests = node.ipam.requested.some(({ pool }) => pool === poolName);
  return requests && node.status.used.size === 0 ? 'multi-pool' : 'crd';
}

/** Addresses in use. A multi-pool agent requests its free buffer along, which is not use. */
export function usedAddresses(node: CiliumNode): number {
  if (protocolOf(node) === 'crd') return node.status.used.size;
  const requested = node.ipam.requested.find(({ pool }) => pool === poolName)?.ipv4 ?? 0;
  return Math.max(0, requested - preAllocateOf(node));
}

/** `most`: what the instance can hold, for nodes that have no limit of their own; 0 for no limit. */
export function watermarksOf(node: CiliumNode, most: number): Watermarks {
  const { minAllocate, maxAllocate, maxAboveWatermark } = node.ipam;
  return {
    preAllocate: preAllocateOf(node),
    minAllocate,
    maxAllocate: maxAllocate > 0 ? maxAllocate : most,
    maxAboveWatermark,
  };
}

function preAllocateOf(node: CiliumNode): number {
  return node.ipam.preAllocate || defaultPreAllocate;
}
