// A kubelet that admits more pods than its instance can hold addresses: in the same words for a served node and for the check
// before an install. Pure.
import type { NodeCondition } from './node-condition.ts';

export interface PodCapacity {
  /** Pods that the kubelet admits; undefined before it says so. */
  readonly admitted: number | undefined;
  /** Pod addresses that the instance can have; 0 if that is not known. */
  readonly addresses: number;
  /** Empty if the node does not name it. */
  readonly instanceType: string;
}

/** Pods in the network of the host, which need no address: more than nodes usually run. */
const hostNetworkPods = 10;

export const maxPodsRemedy =
  'set maxPods of the kubelet to what headwater max-pods says: pods beyond it never get an address';

/** The fault, worded to follow "the kubelet". Undefined if there is none, as far as known. */
export function podsBeyond({ admitted = 0, addresses, instanceType }: PodCapacity): string | undefined {
  if (addresses === 0 || admitted <= addresses + hostNetworkPods) return undefined;
  return `admits ${admitted} pods, although ${instanceType || 'its node'} can hold ${addresses} addresses`;
}

/** Undefined as above. */
export function maxPodsTooHigh(capacity: PodCapacity): NodeCondition | undefined {
  const found = podsBeyond(capacity);
  return found === undefined
    ? undefined
    : { reason: 'MaxPodsTooHigh', message: `the kubelet ${found}; ${maxPodsRemedy}` };
}
