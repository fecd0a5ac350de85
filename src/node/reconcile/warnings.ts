// Warnings about a node that is served, reported once while they last.
import { type Assessment, isInDeficit } from '../conditions/assessment.ts';
import type { CiliumNode } from '../../kubernetes/cilium-node/cilium-node.ts';
import type { CloudWords } from '../../providers/contract/cilium-node-section.ts';
import type { AllocationImplementation } from '../../providers/contract/cloud.ts';
import { chooseSecurityGroups } from '../allocate/security-group-choice.ts';
import type { Infrastructure } from '../../providers/contract/infrastructure.ts';
import { descriptionPrefix } from '../../providers/orphans/ownership-tags.ts';
import type { InstanceView } from '../../providers/contract/facts.ts';
import type { NetworkInterface } from '../../providers/contract/network-interface.ts';
import {
  changingInterfaces,
  excludedInUse,
  otherSecurityGroups,
  obscuredInterface,
  unusableIpv6,
  unreadableInterface,
} from '../conditions/interface-condition.ts';
import {
  foreignAgent,
  keptByPods,
  unreachableStart,
  unreadablePods,
  untakenCondition,
} from '../conditions/agent-condition.ts';
import { type NodeCondition, presentable } from '../conditions/node-condition.ts';
import { unsupportedIpv6 } from '../conditions/ipv6-condition.ts';
import { untakenAddresses, untakenFor, type Untaken } from '../conditions/untaken-addresses.ts';
import { maxPodsTooHigh } from '../conditions/pod-capacity-condition.ts';
import { maxAllocatable, maximumAllocatable } from '../demand/capacity.ts';
import { asksForIpv6 } from '../demand/ipv6.ts';
import { isForeignAgent, protocolOf, startThresholdOf } from '../demand/demand.ts';
import { exclusionsOf, type NodeRequirements } from '../demand/node-requirements.ts';
import type { NodeContext } from './node-context.ts';
import { type Requeue, requeueAt } from '../../runtime/requeue.ts';
import type { PodUse } from '../release/pod-use.ts';
import { retiredUses } from '../release/retired-holdings.ts';

export interface WarningFacts {
  readonly view: InstanceView | undefined;
  readonly assessment: Assessment;
  /** Why listings no longer show the instance. */
  readonly unlisted?: NodeCondition | undefined;
  /** Security groups of the cloud; undefined: they are not compared. */
  readonly infrastructure?: Infrastructure;
  /** `explained`: interfaces whose change a call of ours explains, or the condition of the node. */
  readonly changes: { readonly explained: ReadonlySet<string> };
  /** Pods that the kubelet admits. */
  readonly admittedPods?: number | undefined;
  /** Why the node lacks the static address it asks for. */
  readonly staticIp: NodeCondition | undefined;
  /** Addresses that running pods keep although their agent gave them up, and why pods cannot be read. */
  readonly podUse: Pick<PodUse, 'kept' | 'problem'>;
}

/**
 * How long a warning must apply before it is reported, in ms. By then, an agent that requests a count, and starts with any
 * address, has said so (docs/ciliumnode-contract.md 1.6), and pods that only waited for their turn have their addresses.
 */
const patience = 60_000;
/** The same for changes of others: longer than nearly every one takes. */
const changePatience = 300_000;

/** A warning that must last. */
interface LastingWarning {
  readonly about: 'start' | 'changing' | 'groups' | Untaken['kind'];
  readonly condition: NodeCondition;
  /** How long, in ms. */
  readonly patience: number;
}

/** Since when a warning applies, and when it is reported, in monotonic ms. */
interface Wait {
  readonly since: number;
  readonly due: number;
}

export class Warnings {
  readonly #implementation: Pick<AllocationImplementation, 'traits' | 'section'>;
  readonly #context: Pick<NodeContext, 'emit'>;
  #list: readonly NodeCondition[] = [];
  #exclusions = '[]';
  #waits: ReadonlyMap<LastingWarning['about'], Wait> = new Map();

  constructor(
    implementation: Pick<AllocationImplementation, 'traits' | 'section'>,
    context: Pick<NodeContext, 'emit'>,
  ) {
    this.#implementation = implementation;
    this.#context = context;
  }

  get list(): readonly NodeCondition[] {
    return this.#list;
  }

  step(node: CiliumNode, facts: WarningFacts, now: number): Requeue {
    const reported = new Set(this.#list.map(({ message }) => message));
    const { traits, section } = this.#implementation;
    const others = facts.view !== undefined && facts.view.interfaces.length > 1 ? groupWarning(facts) : [];
    const lasting = this.#lasting([...lastingWarnings(node, facts, section.words), ...others], now);
    const foreign = [
      ...(isForeignAgent(node, traits) ? [foreignAgent()] : []),
      ...(!traits.ipv6 && asksForIpv6(node) ? [unsupportedIpv6()] : []),
    ];
    const { view, assessment } = facts;
    const requirements = 'requirements' in assessment ? assessment.requirements : undefined;
    this.#list = [...foreign, ...immediateWarnings(node, facts, requirements), ...lasting].map(presentable);
    for (const warning of this.#list)
      if (!reported.has(warning.message)) this.#context.emit({ kind: 'warning', node, warning });
    this.#reportExclusions(node, view, requirements);
    return requeueAt(
      [...this.#waits.values()].map(({ due }) => due),
      now,
    );
  }

  /** A pod waits no longer, so its agent mostly works, and other pods must wait anew to be reported. */
  waitEnded(now: number): void {
    const wait = this.#waits.get('free');
    if (wait === undefined || wait.due <= now) return;
    this.#waits = new Map(this.#waits).set('free', { since: now, due: now + wait.due - wait.since });
  }

  /** Conditions of the warnings that have applied for long enough. */
  #lasting(found: readonly LastingWarning[], now: number): readonly NodeCondition[] {
    const started = (lasts: number): Wait => ({ since: now, due: now + lasts });
    this.#waits = new Map(
      found.map((each) => [each.about, this.#waits.get(each.about) ?? started(each.patience)]),
    );
    return found
      .filter(({ about }) => (this.#waits.get(about)?.due ?? now) <= now)
      .map(({ condition }) => condition);
  }

  #reportExclusions(
    node: CiliumNode,
    view: InstanceView | undefined,
    requirements: NodeRequirements | undefined,
  ): void {
    if (view === undefined || requirements === undefined) return;
    const exclusions = exclusionsOf(view, requirements);
    const text = JSON.stringify(exclusions);
    if (text === this.#exclusions) return;
    this.#exclusions = text;
    this.#context.emit({ kind: 'exclusions', node, exclusions });
  }
}

function immediateWarnings(
  node: CiliumNode,
  facts: WarningFacts,
  requirements: NodeRequirements | undefined,
): readonly NodeCondition[] {
  const { view, staticIp, podUse, admittedPods } = facts;
  // If a node is not served, its condition already says why.
  const unlisted = facts.assessment.kind === 'served' ? facts.unlisted : undefined;
  const isKnown = view !== undefined && requirements !== undefined;
  return [
    ...(view === undefined ? [] : interfaceWarnings(view, facts.assessment)),
    ...(isKnown ? retiredUses(node, view, requirements).map(excludedInUse) : []),
    ...(admittedPods === undefined ? [] : podWarnings(facts, admittedPods)),
    ...(podUse.kept.length === 0 ? [] : [keptByPods(podUse.kept)]),
    ...(podUse.problem === undefined ? [] : [unreadablePods(podUse.problem)]),
    ...(staticIp === undefined ? [] : [staticIp]),
    ...(unlisted === undefined ? [] : [unlisted]),
  ];
}

/** Only an instance whose limits are known says how many pods it can have. */
function podWarnings({ assessment }: WarningFacts, admitted: number): readonly NodeCondition[] {
  if (assessment.kind !== 'served') return [];
  const { limits, requirements } = assessment;
  const addresses = maximumAllocatable(limits, requirements);
  const warning = maxPodsTooHigh({ admitted, addresses, instanceType: requirements.instanceType });
  return warning === undefined ? [] : [warning];
}

function interfaceWarnings(
  { unreadable, obscured, interfaces }: InstanceView,
  assessment: Assessment,
): readonly NodeCondition[] {
  const isBlocked = assessment.kind === 'served' && assessment.ipv6 === 'unusable';
  const isUnusable = ({ ipv6Problem }: NetworkInterface): boolean => ipv6Problem !== undefined && !isBlocked;
  return [
    ...unreadable.map(unreadableInterface),
    ...obscured.map(obscuredInterface),
    ...interfaces.filter(isUnusable).map(unusableIpv6),
  ];
}

function lastingWarnings(
  node: CiliumNode,
  { view, assessment, changes }: WarningFacts,
  words: CloudWords,
): readonly LastingWarning[] {
  if (view === undefined || assessment.kind !== 'served') return [];
  const found: LastingWarning[] = isInDeficit(assessment) ? [...changeWarning(view, changes)] : [];
  const start = startWarning(node, { view, assessment }, words);
  if (start !== undefined) found.push({ about: 'start', condition: start, patience });
  const { usage, wanted } = assessment;
  // An agent that starts may hold addresses that it has not reported, and wait for those that are still to come.
  if (usage.pendingPods === 0 || (usage.used === 0 && wanted > 0)) return found;
  const untaken = untakenAddresses(node, view, assessment.requirements);
  if (untaken === undefined) return found;
  const lasts = untakenFor[protocolOf(node)];
  return [...found, { about: untaken.kind, condition: untakenCondition(untaken), patience: lasts }];
}

function changeWarning(
  { interfaces }: InstanceView,
  changes: WarningFacts['changes'],
): readonly LastingWarning[] {
  const found = interfaces.filter(
    ({ condition, attachment }) => condition === 'changing' || attachment?.state === 'detaching',
  );
  if (found.length === 0) return [];
  const { explained } = changes;
  const changing = found.filter(({ id }) => !explained.has(id)).map(({ id }) => id);
  if (changing.length === 0) return [];
  return [{ about: 'changing', condition: changingInterfaces(changing), patience: changePatience }];
}

/** Interfaces made for the node whose security groups are others than those of new ones. Only the cloud's list says so: it may lag. */
function groupWarning({ view, assessment, infrastructure }: WarningFacts): readonly LastingWarning[] {
  if (view === undefined || infrastructure === undefined || assessment.kind !== 'served') return [];
  const { requirements } = assessment;
  const made = view.interfaces.filter(
    ({ description, networkId }) =>
      description.startsWith(descriptionPrefix) && networkId === requirements.networkId,
  );
  const chosen = chooseSecurityGroups(requirements, infrastructure, view);
  if (chosen.kind !== 'chosen') return [];
  const wanted = chosen.ids.toSorted().join();
  const differ = made.filter(({ securityGroupIds }) => securityGroupIds.toSorted().join() !== wanted);
  if (differ.length === 0) return [];
  const condition = otherSecurityGroups(
    differ.map(({ id }) => id),
    chosen.ids,
  );
  return [{ about: 'groups', condition, patience: changePatience }];
}

/** The agent has all that it may have, and needs more to start, now or after a restart. */
function startWarning(
  node: CiliumNode,
  {
    view,
    assessment,
  }: { readonly view: InstanceView; readonly assessment: Assessment & { readonly kind: 'served' } },
  words: CloudWords,
): NodeCondition | undefined {
  const threshold = startThresholdOf(node);
  if (threshold === undefined) return undefined;
  const { limits, requirements, usage, retiredInUse } = assessment;
  const maxAllocate = node.ipam.maxAllocate || Infinity;
  const max = maxAllocatable(limits, view, requirements);
  const instance = max > 0 ? max + retiredInUse : Infinity;
  const { addresses } = threshold;
  if (usage.available >= addresses || usage.available < Math.min(maxAllocate, instance)) return undefined;
  const caps = { maxAllocate, instance, instanceType: requirements.instanceType };
  return unreachableStart(threshold, caps, words);
}
