// Whether nodes can hold what their kubelets and agents count on. Pure.
import { maximumAllocatable } from '../../node/demand/capacity.ts';
import {
  isForeignAgent,
  protocolOf,
  startThresholdOf,
  usedAddresses,
  watermarksOf,
} from '../../node/demand/demand.ts';
import { excessAddresses } from '../../node/demand/statistics.ts';
import { requirementsIn } from '../../node/demand/node-requirements.ts';
import { foreignAgent, unreachableStart } from '../../node/conditions/agent-condition.ts';
import { maxPodsRemedy, podsBeyond } from '../../node/conditions/pod-capacity-condition.ts';
import type { CloudTraits } from '../../providers/contract/cloud.ts';
import { isPrimaryInterface } from '../../providers/contract/network-interface.ts';
import type { InstanceLimits, UnreadableLimits } from '../../providers/contract/facts.ts';
import type { AskingNode, CloudAround } from './cloud-facts.ts';
import { type Finding, rowOnAny, rowPerText, rowsAbout } from './finding.ts';

const agents = rowsAbout('agents');

export interface CapacityQuestion extends Omit<CloudAround, 'infrastructure'> {
  /** Pods that the kubelet of each node admits, by name, as far as it says so. */
  readonly podCapacity: ReadonlyMap<string, number | undefined>;
  readonly traits: Pick<CloudTraits, 'limits' | 'poolRequests'>;
  /** The option by which addresses are released; undefined if they are. */
  readonly releaseOption: string | undefined;
}

export function capacityFindings(question: CapacityQuestion): readonly Finding[] {
  const { nodes, traits } = question;
  const capacities = nodes.map((node) => ({ node, max: maxOf(node, question) }));
  const foreign = nodes.filter(({ object }) => isForeignAgent(object, traits));
  return [
    ...podFindings(capacities, question),
    ...rowOnAny(foreign, 'node', (names) => agents.warning(`${names}: ${foreignAgent().message}`)),
    ...startFindings(capacities, question),
    ...agentSummary(nodes),
    ...excessFindings(capacities, question),
  ];
}

interface Capacity {
  readonly node: AskingNode;
  /** Pod addresses that it can have; 0 if that is not known. */
  readonly max: number;
}

function maxOf(node: AskingNode, question: CapacityQuestion): number {
  const known = limitsOf(node, question);
  if (known === undefined || 'problem' in known) return 0;
  const { instanceId, requirements } = node;
  const networkId = question.interfaces.get(instanceId)?.find(isPrimaryInterface)?.networkId;
  const asked = networkId === undefined ? requirements : requirementsIn(networkId, requirements);
  return maximumAllocatable(known, asked);
}

function limitsOf(
  { instanceId, requirements }: AskingNode,
  { limits, traits, interfaces }: CapacityQuestion,
): InstanceLimits | UnreadableLimits | undefined {
  if (traits.limits === 'byType') return limits.get(requirements.instanceType);
  // Each has at least one, also where it was not read.
  return { ...traits.limits, interfaces: interfaces.get(instanceId)?.length ?? 1 };
}

function podFindings(capacities: readonly Capacity[], { podCapacity }: CapacityQuestion): readonly Finding[] {
  const beyond = capacities.flatMap(({ node: { name, requirements }, max }) => {
    const text = podsBeyond({ ...requirements, admitted: podCapacity.get(name), addresses: max });
    return text === undefined ? [] : { name, text };
  });
  return rowPerText(beyond, 'node', (text, names) =>
    rowsAbout('pods of nodes').warning(`the kubelet of ${names} ${text}`, maxPodsRemedy),
  );
}

function startFindings(capacities: readonly Capacity[], { words }: CapacityQuestion): readonly Finding[] {
  const texts = capacities.flatMap(({ node, max }) => {
    const threshold = startThresholdOf(node.object);
    if (threshold === undefined) return [];
    const maxAllocate = node.object.ipam.maxAllocate || Infinity;
    const instance = max > 0 ? max : Infinity;
    if (threshold.addresses <= Math.min(maxAllocate, instance)) return [];
    const { instanceType } = node.requirements;
    const { message } = unreachableStart(threshold, { maxAllocate, instance, instanceType }, words);
    return [{ name: node.name, text: message }];
  });
  return rowPerText(texts, 'node', (text, names) =>
    agents.problem(`those of ${names} cannot start: ${text}`),
  );
}

function agentSummary(nodes: readonly AskingNode[]): readonly Finding[] {
  if (nodes.length === 0) return [];
  const pooled = nodes.filter(({ object }) => protocolOf(object) === 'multi-pool').length;
  const kinds = [
    [nodes.length - pooled, 'list the addresses in use (up to 1.19)'],
    [pooled, 'request a pool (from 1.20 on)'],
  ] as const;
  const words = kinds.filter(([count]) => count > 0).map(([count, kind]) => `${count} ${kind}`);
  return [agents.ok(words.join(', '))];
}

function excessFindings(
  capacities: readonly Capacity[],
  { releaseOption }: CapacityQuestion,
): readonly Finding[] {
  if (releaseOption === undefined) return [];
  const excess = capacities.map(({ node: { object, name }, max }) => {
    const usage = { available: object.ipam.pool.size, used: usedAddresses(object), pendingPods: 0 };
    return { name, count: excessAddresses(usage, watermarksOf(object, max)) };
  });
  const affected = excess.filter(({ count }) => count > 0);
  const sum = affected.reduce((all, { count }) => all + count, 0);
  return rowOnAny(affected, 'node', (names) =>
    rowsAbout('releases').warning(
      `they are off: ${names} keep ${sum} addresses beyond their watermarks`,
      `set --${releaseOption} if the subnets need them`,
    ),
  );
}
