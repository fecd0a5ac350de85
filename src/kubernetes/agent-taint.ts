// Decides what a Node shows of its agent that does not run yet: a taint, which only the agent's readiness ends, and the
// condition of its network. The rules are those of cilium-operator. Pure.
import { type Json, type JsonObject, listAt, memberOf, textAt, valueAt } from '../runtime/json.ts';
import { hasCondition } from './object-identity.ts';

/** Says that the agent serves the Node: the only thing that cilium-operator and Headwater ever write about it. */
export const ciliumIsUp = {
  type: 'NetworkUnavailable',
  status: 'False',
  reason: 'CiliumIsUp',
  message: 'Cilium is running on this node',
} as const;

/** Whether the Node has the taint, or not the condition that an agent runs. */
export function awaitsAgent(node: JsonObject, taintKey: string): boolean {
  return taintsOf(node).some((taint) => isOf(taint, taintKey)) || !saysCiliumIsUp(node);
}

export function saysCiliumIsUp(node: JsonObject): boolean {
  const { type, status, reason } = ciliumIsUp;
  return listAt(node, 'status', 'conditions').some(
    (each) =>
      textAt(each, 'type') === type && textAt(each, 'status') === status && textAt(each, 'reason') === reason,
  );
}

/** The JSON patch that removes the taint and nothing else; undefined if it is not there. */
export function taintRemoval(node: JsonObject, taintKey: string): readonly JsonObject[] | undefined {
  const taints = taintsOf(node);
  const rest = taints.filter((taint) => !isOf(taint, taintKey));
  if (rest.length === taints.length) return undefined;
  const path = '/spec/taints';
  // The test refuses the patch if anybody changed taints meanwhile.
  return [
    { op: 'test', path, value: [...taints] },
    { op: 'replace', path, value: rest },
  ];
}

/** The node of an agent's pod that serves it: ready and not terminating. */
export function nodeOfReadyAgent(pod: JsonObject): string | undefined {
  if (valueAt(pod, 'metadata', 'deletionTimestamp') !== undefined) return undefined;
  const isReady = hasCondition(pod, 'Ready', 'True');
  return isReady ? textAt(pod, 'spec', 'nodeName') : undefined;
}

function taintsOf(node: JsonObject): readonly Json[] {
  return listAt(node, 'spec', 'taints');
}

function isOf(taint: Json, key: string): boolean {
  return memberOf(taint, 'key') === key;
}
