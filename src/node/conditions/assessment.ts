// Assesses a node: what it has, what it lacks, and what prevents it from being served. Pure.
import type { CiliumNode } from '../../kubernetes/cilium-node/cilium-node.ts';
import { type InstanceLimits, type InstanceView, networkOf } from '../../providers/contract/facts.ts';
import type { CloudTraits } from '../../providers/contract/cloud.ts';
import type { CloudWords } from '../../providers/contract/cilium-node-section.ts';
import type { Infrastructure } from '../../providers/contract/infrastructure.ts';
import type { KnownLimits } from '../../providers/catalog/instance-type-limits.ts';
import {
  type BindingCap,
  bindingCap,
  addressesToAllocate,
  excessAddresses,
  neededAddresses,
  type Usage,
  type Watermarks,
} from '../demand/statistics.ts';
import type { Holding } from '../demand/holdings.ts';
import { withoutAwaited } from '../demand/awaited.ts';
import { maxAllocatable, podAddresses } from '../demand/capacity.ts';
import { usedAddresses, watermarksOf } from '../demand/demand.ts';
import { type Ipv6State, ipv6StateOf, lacksIpv6 } from '../demand/ipv6.ts';
import { deniedLimits } from './call-condition.ts';
import {
  type NodeCondition,
  instanceCondition,
  outsideNetwork,
  type OutsideScope,
  unknownInstanceType,
  unnamedInterface,
  unmanagedInstance,
  unreadableLimits,
  wrongNetwork,
} from './node-condition.ts';
import { unreadableNode } from './claim-condition.ts';
import {
  exclusionOf,
  type NodeRequirements,
  type RequirementDefaults,
  requirementsIn,
  requirementsOf,
} from '../demand/node-requirements.ts';
import { retiredHoldings, retiredInUse } from '../release/retired-holdings.ts';

export interface AssessmentFacts {
  readonly node: CiliumNode;
  readonly view: InstanceView;
  readonly pendingPods: number;
  /** The number of pending pods that the agent has not counted. */
  readonly unreportedPods: number;
  /** Addresses that are leaving. */
  readonly outgoing: ReadonlySet<string>;
  readonly infrastructure: Infrastructure;
}

/** Facts that stay the same for a node. */
export interface AssessmentRules {
  readonly limitsOf: (instanceType: string) => KnownLimits;
  readonly options: AssessmentOptions;
  readonly words: CloudWords;
  readonly traits: Pick<CloudTraits, 'limits' | 'ipv6'>;
  /** Whether the API server keeps IPv6 prefixes in a status. */
  readonly showsIpv6: boolean;
}

export interface AssessmentOptions extends RequirementDefaults {
  /** The only network whose instances are served; undefined for all networks. */
  readonly networkId: string | undefined;
}

export type Assessment =
  /** Unknown: the cloud has not answered yet. */
  | { readonly kind: 'unread' }
  | {
      readonly kind: 'blocked';
      readonly condition: NodeCondition;
      /** Set if what the instance has can still be published. */
      readonly requirements: NodeRequirements | undefined;
    }
  /** Not ours to manage. */
  | {
      readonly kind: 'unmanaged';
      readonly condition: NodeCondition;
      /** Set if an option excludes the whole network of the node. */
      readonly outside?: OutsideScope;
    }
  | {
      readonly kind: 'served';
      readonly requirements: NodeRequirements;
      readonly limits: InstanceLimits;
      readonly usage: Usage;
      /** Holdings that stay published although pods must not use them: the agent was shown them and may use them. */
      readonly retired: readonly Holding[];
      /** Number of retired addresses in use, without those that are leaving. */
      readonly retiredInUse: number;
      readonly marks: Watermarks;
      /** Addresses missing to reach the watermarks. */
      readonly needed: number;
      /** Missing addresses, margins and pending pods included. */
      readonly wanted: number;
      /** Addresses to request from the cloud: awaited interfaces bring the rest. */
      readonly toAllocate: number;
      /** The state of the IPv6 prefix. A node gets one if its agent asks for IPv6. */
      readonly ipv6: Ipv6State;
      /** Addresses above the watermarks. */
      readonly excess: number;
      /** The limit that keeps pods waiting. */
      readonly cap: BindingCap | undefined;
    };

/** Whether the node lacks what its agent waits for: addresses, or its IPv6 prefix. */
export function isInDeficit({
  wanted,
  ipv6,
}: Pick<Assessment & { kind: 'served' }, 'wanted' | 'ipv6'>): boolean {
  return wanted > 0 || lacksIpv6(ipv6);
}

/** Whether what the instance has may be published. */
export function isOursToWrite(assessment: Assessment): boolean {
  const { kind } = assessment;
  return kind === 'served' || (kind === 'blocked' && assessment.requirements !== undefined);
}

export function assess(facts: AssessmentFacts, rules: AssessmentRules): Assessment {
  const read = requirementsOf(facts.node.section, rules.options);
  if ('missing' in read) return blocked(unreadableNode(read.missing.map((field) => `${field} is missing`)));
  const { view } = facts;
  // Empty while nobody says which network the node is in.
  const networkId = read.requirements.networkId ?? networkOf(view) ?? view.interfaces[0]?.networkId ?? '';
  const hasPodNetwork = read.requirements.podNetworkId !== undefined;
  const requirements = hasPodNetwork
    ? requirementsIn(networkId, read.requirements)
    : { ...read.requirements, networkId };
  return checkNetwork(view, networkId, rules) ?? assessIn(facts, { networkId, requirements }, rules);
}

/** Undefined if the network of the instance is served, as far as known. */
function checkNetwork(
  view: InstanceView,
  networkId: string,
  { options, words }: AssessmentRules,
): Assessment | undefined {
  if (options.networkId !== undefined && networkId !== '' && networkId !== options.networkId) {
    const outside = { option: words.options.networkId, allowed: options.networkId, named: networkId };
    return { kind: 'unmanaged', condition: outsideNetwork(outside), outside };
  }
  const found = view.read ? networkOf(view) : undefined;
  if (found === undefined || found === networkId) return undefined;
  return blocked(wrongNetwork(networkId, found, words));
}

function assessIn(
  facts: AssessmentFacts,
  { networkId, requirements }: { readonly networkId: string; readonly requirements: NodeRequirements },
  rules: AssessmentRules,
): Assessment {
  const { view } = facts;
  // Requested now, so that it is read in parallel with everything else.
  const limits = limitsOf(view, requirements, rules);
  // The network of the pods is read together with this one.
  const isNetworkKnown = networkId === '' || facts.infrastructure.networkIds.has(networkId);
  if (!view.read || !isNetworkKnown) return { kind: 'unread' };
  if (view.instance?.managed === false)
    return { kind: 'unmanaged', condition: unmanagedInstance(view.id, rules.words.options) };
  const condition =
    instanceCondition(view, rules.words) ?? withoutNamedInterface(view, requirements, rules.words);
  return condition === undefined
    ? assessInstance(facts, { requirements, limits }, rules)
    : blocked(condition, requirements);
}

function limitsOf(
  view: InstanceView,
  requirements: NodeRequirements,
  { traits, ...rules }: AssessmentRules,
): KnownLimits {
  if (traits.limits === 'byType') return rules.limitsOf(requirements.instanceType);
  const usable = view.interfaces.filter((item) => exclusionOf(item, requirements) === undefined);
  return { ...traits.limits, interfaces: usable.length };
}

function withoutNamedInterface(
  { id, interfaces }: InstanceView,
  { interfaceName }: NodeRequirements,
  { fields }: CloudWords,
): NodeCondition | undefined {
  if (interfaceName === undefined || interfaces.some(({ name }) => name === interfaceName)) return undefined;
  return unnamedInterface(id, { interfaceName, names: interfaces.map(({ name }) => name ?? '') }, fields);
}

function assessInstance(
  facts: AssessmentFacts,
  { requirements, limits }: { readonly requirements: NodeRequirements; readonly limits: KnownLimits },
  { words, traits, showsIpv6 }: AssessmentRules,
): Assessment {
  const { node, view, pendingPods } = facts;
  const { instanceType } = requirements;
  if (limits === 'unread') return { kind: 'unread' };
  if (limits === 'unknown') return blocked(unknownInstanceType(instanceType, words.fields), requirements);
  if ('denied' in limits) return blocked(deniedLimits(limits.denied), requirements);
  if ('problem' in limits) return blocked(unreadableLimits(instanceType, limits.problem), requirements);
  const certain = withoutAwaited(view, node);
  const countOffered = (shown: InstanceView): number => {
    const addresses = podAddresses(shown, requirements);
    for (const address of facts.outgoing) addresses.delete(address);
    return addresses.size;
  };
  const offered = countOffered(certain);
  const used = usedAddresses(node);
  const retired = retiredHoldings(node, view, requirements);
  // Idle retired addresses are leaving and must not count as available.
  const inUse = retiredInUse(node, retired, { used, outgoing: facts.outgoing });
  const usage = { available: offered + inUse, used, pendingPods };
  const coming = certain === view ? usage : { ...usage, available: countOffered(view) + inUse };
  const max = maxAllocatable(limits, view, requirements);
  const marks = watermarksOf(node, max > 0 ? max + inUse : 0);
  const needed = neededAddresses(usage, marks);
  const { unreportedPods } = facts;
  return {
    kind: 'served',
    requirements,
    limits,
    usage,
    retired,
    retiredInUse: inUse,
    marks,
    needed,
    wanted: addressesToAllocate({ ...usage, pendingPods: unreportedPods }, marks),
    toAllocate: addressesToAllocate({ ...coming, pendingPods: unreportedPods }, marks),
    ipv6: ipv6StateOf(node, { view, certain, isShowable: showsIpv6 }, requirements, traits),
    excess: excessAddresses(usage, marks),
    cap: bindingCap(usage, marks, node.ipam.maxAllocate),
  };
}

function blocked(condition: NodeCondition, requirements?: NodeRequirements): Assessment {
  return { kind: 'blocked', condition, requirements };
}
