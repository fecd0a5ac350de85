// What an administrator reads when running pods, or pods that cannot be read, keep something from its release.
import { namedPods, type ShownPod } from '../../kubernetes/watch/shown-pods.ts';
import type { NodeCondition } from './node-condition.ts';

/** Running pods show addresses that their agent gave up. `kept`: sorted. */
export function keptByPods(kept: readonly ShownPod[]): NodeCondition {
  return {
    reason: 'ReleasedAddressesInUse',
    message: `the Cilium agent of this node gave up what running pods show: ${namedPods(kept)}. Nothing of that is taken away before the pods are gone: restart the agent, which then counts them again, or delete the pods`,
    addresses: kept.length,
  };
}

/** Nothing is released, because nobody knows what pods show. `problem` says what to do. */
export function unreadablePods(problem: string): NodeCondition {
  return {
    reason: 'PodsUnreadable',
    message: `the pods of this node cannot be read, so nothing is released that one of them may use: ${problem}`,
  };
}
