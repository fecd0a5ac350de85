// The spec of a CiliumNode that the agent creates because no Cilium does: what the Node says of its instance, and the rest from
// a file. Pure.
import type { AgentMode } from '../../config/options/agent-options.ts';
import { type JsonObject, textAt, valueAt } from '../../kubernetes/transport/json.ts';
import { applyMergePatch } from '../../kubernetes/transport/merge-patch.ts';

/** What the Node says wins over the file. */
export function newCiliumNodeSpec(mode: AgentMode, node: JsonObject, file: JsonObject): JsonObject {
  const facts = { ipam: {}, ...instanceFacts(mode, node) };
  return applyMergePatch(file, facts) as JsonObject;
}

function instanceFacts(mode: AgentMode, node: JsonObject): JsonObject {
  const providerId = textAt(node, 'spec', 'providerID') ?? '';
  const facts = withTexts({
    'instance-type': labelOf(node, 'node.kubernetes.io/instance-type'),
    'availability-zone': labelOf(node, 'topology.kubernetes.io/zone'),
  });
  switch (mode) {
    case 'eni':
      return { ...withTexts({ 'instance-id': /^aws:\/\/\/[^/]*\/(.+)$/.exec(providerId)?.[1] }), eni: facts };
    case 'azure':
      return withTexts({ 'instance-id': /^azure:\/\/(.+)$/.exec(providerId)?.[1]?.toLowerCase() });
    case 'alibabacloud':
      return {
        ...withTexts({ 'instance-id': /^[^.]+\.(.+)$/.exec(providerId)?.[1] }),
        'alibaba-cloud': facts,
      };
    default:
      return {};
  }
}

function labelOf(node: JsonObject, name: string): string | undefined {
  const value = valueAt(node, 'metadata', 'labels', name);
  return typeof value === 'string' ? value : undefined;
}

function withTexts(texts: Readonly<Record<string, string | undefined>>): JsonObject {
  return Object.fromEntries(Object.entries(texts).flatMap(([name, text]) => (text ? [[name, text]] : [])));
}
