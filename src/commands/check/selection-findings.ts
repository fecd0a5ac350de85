// Whether what nodes name exists in the network: subnets by id or tags, and security groups. Pure.
import { subnetsByRule } from '../../node/allocate/subnet-choice.ts';
import type { NodeRequirements } from '../../node/demand/node-requirements.ts';
import type { CloudWords } from '../../providers/contract/cilium-node-section.ts';
import type { Infrastructure } from '../../providers/contract/infrastructure.ts';
import { sanitizedText } from '../../network/untrusted-text.ts';
import type { AskingNode, CloudAround } from './cloud-facts.ts';
import { type Finding, rowPerText, rowsAbout } from './finding.ts';

type SelectionQuestion = Pick<CloudAround, 'nodes' | 'infrastructure' | 'words'>;

/** A row for each group of nodes that name the same in vain. */
export function selectionFindings(question: SelectionQuestion): readonly Finding[] {
  const complaints = question.nodes.flatMap((node) =>
    complaintsOf(node, question).map((complaint) => ({ name: node.name, ...complaint })),
  );
  return rowPerText(complaints, 'node', (text, names, { verdict, remedy }) =>
    rowsAbout('selection')[verdict](sanitizedText(`of ${names}, ${text}`, 500), remedy),
  );
}

interface Complaint {
  readonly text: string;
  readonly verdict: 'problem' | 'warning';
  readonly remedy: string;
}

function complaintsOf(
  { requirements }: AskingNode,
  { infrastructure, words }: SelectionQuestion,
): readonly Complaint[] {
  const { networkId } = requirements;
  // A network that was not read whole may have what it does not show.
  if (networkId === undefined || !isReadWhole(infrastructure, networkId)) return [];
  const asked = { ...requirements, networkId };
  const [noSubnets, noGroups] = [missingSubnets(asked, infrastructure), missingGroups(asked, infrastructure)];
  return [
    ...noSubnets.map((id) => ({
      text: `${id} is not in ${networkId}`,
      verdict: 'warning' as const,
      remedy: 'correct the ids of subnets',
    })),
    ...noGroups.map((id) => ({
      text: `${id} is not in ${networkId}`,
      verdict: 'problem' as const,
      remedy: `correct ${words.fields.securityGroupIds}`,
    })),
    ...ignoredTags(asked, infrastructure, words),
  ];
}

function missingSubnets(
  { subnetIds, networkId, strictSubnets = false }: NodeRequirements,
  { subnets }: Infrastructure,
): readonly string[] {
  const missing = subnetIds.filter((id) => subnets.get(id)?.networkId !== networkId);
  // Where no other subnet may serve the node, that is an obstacle of its own.
  return strictSubnets && missing.length === subnetIds.length ? [] : missing;
}

function missingGroups(
  { securityGroupIds, networkId }: NodeRequirements,
  { securityGroups, denied }: Infrastructure,
): readonly string[] {
  if (denied?.securityGroups?.has(networkId) === true) return [];
  const known = new Set(securityGroups.flatMap((group) => (group.networkId === networkId ? group.id : [])));
  return securityGroupIds.filter((id) => !known.has(id));
}

/** Tags that choose nothing, so that other subnets serve the node. */
function ignoredTags(
  asked: NodeRequirements,
  infrastructure: Infrastructure,
  { remedies: { hiddenTags } }: CloudWords,
): readonly Complaint[] {
  const { subnetTags, subnetIds, strictSubnets = false } = asked;
  const tags = Object.entries(subnetTags).map((pair) => pair.join('='));
  if (tags.length === 0 || subnetIds.length > 0 || strictSubnets) return [];
  const facts = { infrastructure, free: () => Infinity, fullInterface: 0, minUseful: 0 };
  if (subnetsByRule(asked, facts).rule === 'tags') return [];
  return [
    {
      text: `${tags.join(', ')} matches the tags of no subnet that may serve them, so others do`,
      verdict: 'warning',
      remedy: `correct the tags${hiddenTags === undefined ? '' : `; ${hiddenTags}`}`,
    },
  ];
}

function isReadWhole(
  { networkIds, unreadZones, unreadNetworks }: Infrastructure,
  networkId: string,
): boolean {
  const isDenied = unreadNetworks?.has(networkId) === true;
  return networkIds.has(networkId) && !isDenied && (unreadZones?.size ?? 0) === 0;
}
