// Where a node stands: what it has, what it lacks, and whether anything keeps it from being served. Pure.
import type { CiliumNode } from '../kubernetes/cilium-node.ts';
import type { InstanceLimits } from '../providers/allocation-implementation.ts';
import type { Infrastructure } from '../providers/infrastructure.ts';
import type { KnownLimits } from '../providers/instance-type-limits.ts';
import type { InstanceView } from '../providers/instance-view.ts';
import { type BindingCap, bindingCap } from './binding-cap.ts';
import { mostAllocatable, podAddresses } from './capacity.ts';
import { usedAddresses, watermarksOf } from './demand.ts';
import {
  deniedLimits,
  type Diagnosis,
  diagnoseInstance,
  outsideNetwork,
  unknownInstanceType,
  unmanagedInstance,
  unreadableLimits,
  unreadableNode,
} from './diagnosis.ts';
import { type NodeRequirements, type RequirementDefaults, requirementsOf } from './node-requirements.ts';
import {
  addressesToAllocate,
  excessAddresses,
  neededAddresses,
  type Usage,
  type Watermarks,
} from './statistics.ts';

export interface AssessmentFacts {
  readonly node: CiliumNode;
  readonly view: InstanceView;
  readonly waitingPods: number;
  /** Addresses on their way out. */
  readonly outgoing: ReadonlySet<string>;
  readonly infrastructure: Infrastructure;
  readonly limitsOf: (instanceType: string) => KnownLimits;
  readonly options: AssessmentOptions;
}

export interface AssessmentOptions extends RequirementDefaults {
  /** The only network whose nodes are served; undefined for all. */
  readonly networkId: string | undefined;
}

export type Assessment =
  /** Nothing can be said yet: the cloud has not answered. */
  | { readonly kind: 'unread' }
  | {
      readonly kind: 'setAside';
      readonly diagnosis: Diagnosis;
      /** Known where what the instance has can be published all the same. */
      readonly requirements: NodeRequirements | undefined;
    }
  /** Not ours to touch. */
  | { readonly kind: 'leftAlone'; readonly diagnosis: Diagnosis }
  | {
      readonly kind: 'served';
      readonly requirements: NodeRequirements;
      readonly limits: InstanceLimits;
      readonly usage: Usage;
      readonly marks: Watermarks;
      /** Addresses that the watermarks lack. */
      readonly needed: number;
      /** Addresses to ask the cloud for. */
      readonly wanted: number;
      /** Addresses beyond the watermarks. */
      readonly excess: number;
      /** What keeps pods waiting that could have addresses otherwise. */
      readonly cap: BindingCap | undefined;
    };

export function assess(facts: AssessmentFacts): Assessment {
  const { node, view, options } = facts;
  const read = requirementsOf(node.eni, options);
  if ('missing' in read) return setAside(unreadableNode(read.missing.map((field) => `${field} is missing`)));
  const { requirements } = read;
  const { networkId } = requirements;
  if (options.networkId !== undefined && networkId !== options.networkId) {
    return { kind: 'leftAlone', diagnosis: outsideNetwork(networkId, options.networkId) };
  }
  // Asked for while everything else is being read.
  const limits = facts.limitsOf(requirements.instanceType);
  if (!view.read || !facts.infrastructure.networkIds.has(networkId)) return { kind: 'unread' };
  if (view.instance?.managed === false) return { kind: 'leftAlone', diagnosis: unmanagedInstance(view.id) };
  const diagnosis = diagnoseInstance(view);
  return diagnosis === undefined
    ? assessInstance(facts, requirements, limits)
    : setAside(diagnosis, requirements);
}

function assessInstance(
  facts: AssessmentFacts,
  requirements: NodeRequirements,
  limits: KnownLimits,
): Assessment {
  const { node, view, waitingPods } = facts;
  const { instanceType } = requirements;
  if (limits === 'unread') return { kind: 'unread' };
  if (limits === 'unknown') return setAside(unknownInstanceType(instanceType), requirements);
  if ('denied' in limits) return setAside(deniedLimits(limits.denied), requirements);
  if ('problem' in limits) return setAside(unreadableLimits(instanceType, limits.problem), requirements);
  const addresses = podAddresses(view, requirements);
  for (const address of facts.outgoing) addresses.delete(address);
  const available = addresses.size;
  const usage = { available, used: usedAddresses(node), waitingPods };
  const marks = watermarksOf(node, mostAllocatable(limits, view, requirements));
  const needed = neededAddresses(usage, marks);
  return {
    kind: 'served',
    requirements,
    limits,
    usage,
    marks,
    needed,
    wanted: addressesToAllocate(usage, marks),
    excess: excessAddresses(usage, marks),
    cap: bindingCap(usage, marks, node.ipam.maxAllocate),
  };
}

function setAside(diagnosis: Diagnosis, requirements?: NodeRequirements): Assessment {
  return { kind: 'setAside', diagnosis, requirements };
}
