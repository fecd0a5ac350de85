// Somebody writes members of interfaces in the status that Headwater does not write: they stay as long as their interface.
import type { Change } from '../../src/simulator/kubernetes/storage/change.ts';
import { type JsonObject, objectAt, textAt } from '../../src/simulator/workload/json.ts';
import type { Harness } from './harness.ts';
import type { FaultPlan } from './scenario.ts';

/** The schema has it, and Headwater does not write it. */
const member = 'availability-zone';
const text = 'of-somebody-else';

export function writeMember(
  harness: Harness,
  { node }: Extract<FaultPlan, { readonly kind: 'member-of-others' }>,
): void {
  const name = harness.nodeAt(node)?.name;
  if (name === undefined) return;
  const [id] = Object.keys(interfacesOf(harness.cluster.kubernetes.get('ciliumnodes.cilium.io', name)));
  if (id === undefined) return;
  const path = `/apis/cilium.io/v2/ciliumnodes/${name}/status`;
  const status = { eni: { enis: { [id]: { [member]: text } } } };
  harness.runInBackground(harness.client.mergePatch(path, { status }, new AbortController().signal));
}

/** Interfaces that a write leaves without the member that somebody wrote. */
export function interfacesWithoutMember({ object, previous, kind }: Change): readonly string[] {
  if (kind !== 'MODIFIED') return [];
  const after = interfacesOf(object);
  return Object.entries(interfacesOf(previous))
    .filter(([id, item]) => textAt(item, member) === text && after[id] !== undefined)
    .filter(([id]) => textAt(after[id], member) !== text)
    .map(([id]) => id);
}

function interfacesOf(node: JsonObject | undefined): JsonObject {
  return objectAt(node, 'status', 'eni', 'enis');
}
