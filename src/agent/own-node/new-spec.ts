// The spec of a CiliumNode that the agent creates because no Cilium does: what the Node says of its instance, and the rest from
// a file. Pure.
import { cloudOf } from '../../config/clouds/clouds.ts';
import type { AgentMode } from '../../config/options/agent-options.ts';
import { type JsonObject, textAt, valueAt } from '../../runtime/json.ts';
import { applyMergePatch } from '../../kubernetes/transport/merge-patch.ts';

/** The spec of a new CiliumNode. The Node wins over the file. */
export function newCiliumNodeSpec(mode: AgentMode, node: JsonObject, file: JsonObject): JsonObject {
  const facts = { ipam: {}, ...instanceFacts(mode, node) };
  return applyMergePatch(file, facts) as JsonObject;
}

function instanceFacts(mode: AgentMode, node: JsonObject): JsonObject {
  const cloud = cloudOf(mode)?.newNode;
  if (cloud === undefined) return {};
  const shownId = cloud.providerId.exec(textAt(node, 'spec', 'providerID') ?? '')?.[1];
  const instanceId = cloud.ignoresCase ? shownId?.toLowerCase() : shownId;
  const { section } = cloud;
  if (section === undefined) return withTexts({ 'instance-id': instanceId });
  const facts = withTexts({
    'instance-type': labelOf(node, 'node.kubernetes.io/instance-type'),
    'availability-zone': labelOf(node, 'topology.kubernetes.io/zone'),
  });
  return { ...withTexts({ 'instance-id': instanceId }), [section]: facts };
}

function labelOf(node: JsonObject, name: string): string | undefined {
  const value = valueAt(node, 'metadata', 'labels', name);
  return typeof value === 'string' ? value : undefined;
}

function withTexts(texts: Readonly<Record<string, string | undefined>>): JsonObject {
  return Object.fromEntries(Object.entries(texts).flatMap(([name, text]) => (text ? [[name, text]] : [])));
}
