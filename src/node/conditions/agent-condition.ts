// The conditions that the agent of a node is the cause of, or can end; and pods that keep something from its release.
import { namedPods, type ShownPod } from '../../kubernetes/watch/shown-pods.ts';
import type { CloudWords } from '../../providers/contract/cilium-node-section.ts';
import type { StartThreshold } from '../demand/demand.ts';
import { instanceOf, type NodeCondition } from './node-condition.ts';
import type { Untaken } from './untaken-addresses.ts';

export function foreignAgent(): NodeCondition {
  return {
    reason: 'AgentProtocolUnsupported',
    message:
      'the agent requests a count in spec.ipam.pools.requested, which no known agent does in this mode: the node gets addresses, and none are released from it; run an agent that lists the addresses in use in status.ipam.used',
  };
}

/** Pods wait, although the agent is shown addresses for them. Nothing else shows why: a pod may wait for a volume. */
export function untakenCondition({ kind, addresses }: Untaken): NodeCondition {
  const message =
    kind === 'unlisted'
      ? 'restart the Cilium agent of this node: pods wait for addresses, and spec.ipam.pools.allocated does not list every CIDR that the status shows'
      : 'restart the Cilium agent of this node, unless the Events of the waiting pods name another cause, such as a missing volume: pods wait, and the node has free addresses for them';
  return { reason: 'FreeAddressesNotTaken', message, addresses };
}

/** The most addresses that a node may have; Infinity without a limit. */
export interface StartCaps {
  readonly maxAllocate: number;
  readonly instance: number;
  readonly instanceType: string;
}

/** An agent starts only with more addresses than the node may have. Every limit that is too low is named. */
export function unreachableStart(
  { field, addresses }: StartThreshold,
  { maxAllocate, instance, instanceType }: StartCaps,
  { remedies: { fullInstance } }: CloudWords,
): NodeCondition {
  const caps = [
    { max: maxAllocate, remedy: 'raise ipam-max-allocate', limit: 'spec.ipam.max-allocate allows' },
    {
      max: instance,
      remedy: fullInstance,
      limit: `${instanceOf(instanceType)} can have`,
    },
  ].filter(({ max }) => max < addresses);
  const remedies = caps.map(({ remedy }) => remedy).join(' and ');
  const limits = caps.map(({ limit, max }) => `${limit} ${max}`).join(', and ');
  return {
    reason: 'AgentCannotStart',
    message: `lower ipam-${field} of Cilium's agent, which writes spec.ipam.${field}, or ${remedies}: an agent up to 1.19 starts only with ${addresses} addresses, and ${limits}`,
  };
}

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
