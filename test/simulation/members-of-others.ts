// Somebody writes a member of an interface in the status that Headwater does not write.
import type { Harness } from './harness.ts';
import { enisOf, othersMember } from './invariants/others-member.ts';
import type { FaultPlan } from './scenario.ts';

export function writeMember(
  harness: Harness,
  { node }: Extract<FaultPlan, { readonly kind: 'member-of-others' }>,
): void {
  const name = harness.nodeAt(node)?.name;
  if (name === undefined) return;
  const [id] = Object.keys(enisOf(harness.cluster.kubernetes.get('ciliumnodes.cilium.io', name)));
  if (id === undefined) return;
  const path = `/apis/cilium.io/v2/ciliumnodes/${name}/status`;
  const status = { eni: { enis: { [id]: { [othersMember.name]: othersMember.text } } } };
  harness.runInBackground(harness.client.mergePatch(path, { status }, new AbortController().signal));
}
