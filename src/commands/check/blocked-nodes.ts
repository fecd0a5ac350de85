// Which nodes the controller would leave without addresses whatever the subnets hold, in the words of `explain`. Pure.
import {
  outsideNetwork,
  unknownInstanceType,
  unreadableLimits,
  wrongNetwork,
} from '../../node/conditions/node-condition.ts';
import { isPrimaryInterface } from '../../providers/contract/network-interface.ts';
import type { AskingNode, CloudAround, ReadCloud } from './cloud-facts.ts';
import { type Finding, rowPerText, rowsAbout } from './finding.ts';

export interface BlockQuestion extends Pick<CloudAround, 'nodes' | 'interfaces' | 'words'> {
  readonly limits: ReadCloud['limits'];
  /** The only network that is served; undefined for all. */
  readonly networkId: string | undefined;
}

/** A row for each group of nodes that are blocked alike, and the nodes that are not. */
export function blockedNodes(question: BlockQuestion): {
  readonly findings: readonly Finding[];
  readonly free: readonly AskingNode[];
} {
  const blocks = question.nodes.map((node) => ({ node, block: blockOf(node, question) }));
  const blocked = blocks.flatMap(({ node: { name }, block }) =>
    block === undefined ? [] : { name, ...block },
  );
  return {
    findings: rowPerText(blocked, 'node', (text, names, { verdict }) =>
      rowsAbout('nodes')[verdict](`${names} can get no address: ${text}`),
    ),
    free: blocks.flatMap(({ node, block }) => (block === undefined ? [askingThere(node)] : [])),
  };
}

/** The node, with the network of its next interface. */
function askingThere(node: AskingNode): AskingNode {
  const { podNetworkId, networkId } = node.requirements;
  return { ...node, requirements: { ...node.requirements, networkId: podNetworkId ?? networkId } };
}

interface Block {
  readonly text: string;
  readonly verdict: 'problem' | 'warning' | 'unknown';
}

/** By the order of the controller. Undefined if nothing but the network around the node could block it. */
function blockOf(node: AskingNode, question: BlockQuestion): Block | undefined {
  return networkBlockOf(node, question) ?? typeBlockOf(node, question);
}

function networkBlockOf(
  { instanceId, requirements: { networkId: named } }: AskingNode,
  { interfaces, networkId: allowed, words }: BlockQuestion,
): Block | undefined {
  const found = interfaces.get(instanceId)?.find(isPrimaryInterface)?.networkId;
  const network = named ?? found;
  if (network === undefined) return undefined;
  if (allowed !== undefined && network !== allowed) {
    const outside = { option: words.options.networkId, allowed, named: network };
    return { text: outsideNetwork(outside).message, verdict: 'warning' };
  }
  if (found === undefined || found === network) return undefined;
  return { text: wrongNetwork(network, found, words).message, verdict: 'problem' };
}

function typeBlockOf(
  { requirements: { instanceType } }: AskingNode,
  { limits, words }: BlockQuestion,
): Block | undefined {
  if (limits.kind !== 'read') return undefined;
  const known = limits.value.get(instanceType);
  if (known === undefined)
    return { text: unknownInstanceType(instanceType, words.fields).message, verdict: 'problem' };
  return 'problem' in known
    ? { text: unreadableLimits(instanceType, known.problem).message, verdict: 'unknown' }
    : undefined;
}
