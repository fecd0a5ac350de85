// Maps a refusal to what it blocks: from failure kind and call to the narrowest scope the answer concerns.
// Plans avoid that scope, and nothing else is blamed. Pure.
import type { CloudFailure } from '../../providers/contract/cloud-failure.ts';
import {
  type StepCall,
  mayConcern,
  policyOf,
  type WhatIsBlocked,
} from '../../providers/contract/failure-policy.ts';
import type { PlannedStep } from './planned-step.ts';

/** Calls that bring addresses, as IAM permits them: one action assigns both addresses and prefixes. */
export type AllocationCall = 'create' | 'attach' | 'assign';

export type RefusedScope =
  | { readonly kind: 'action'; readonly action: AllocationCall }
  /** More addresses on it. */
  | { readonly kind: 'interface'; readonly interfaceId: string }
  /** New interfaces in it. */
  | { readonly kind: 'subnet'; readonly subnetId: string }
  /** Interfaces of one subnet on instances of another: an Outpost's subnet serves only instances there. */
  | { readonly kind: 'attachment'; readonly subnetId: string; readonly nodeSubnetId: string }
  /** New interfaces with them. */
  | { readonly kind: 'securityGroups'; readonly ids: readonly string[] }
  /** More interfaces on the instance. */
  | { readonly kind: 'newInterfaces'; readonly instanceId: string }
  /** More addresses on interfaces in it. */
  | { readonly kind: 'assignmentsIn'; readonly subnetId: string }
  /** More addresses on the instance. */
  | { readonly kind: 'instance'; readonly instanceId: string }
  /** Prefixes on interfaces of the instance; single addresses still work. */
  | { readonly kind: 'prefixes'; readonly instanceId: string };

export type RefusedScopeKind = RefusedScope['kind'];

/** Of one instance each. */
const ofOneInstance: ReadonlySet<RefusedScopeKind> = new Set([
  'interface',
  'newInterfaces',
  'instance',
  'prefixes',
]);

/** Whether many instances need the scope. */
export function isShared({ kind }: RefusedScope): boolean {
  return !ofOneInstance.has(kind);
}

/** If the answer names what it concerns. A call without such a scope follows the kind of the failure. */
const blockedByName: Record<NonNullable<CloudFailure['about']>, Partial<Record<StepCall, WhatIsBlocked>>> = {
  action: { create: 'action', attach: 'action', allocate: 'action' },
  subnet: { create: 'subnet', attach: 'attachment', allocate: 'assignmentsIn' },
  securityGroups: { create: 'securityGroups' },
  interface: { attach: 'attachment', allocate: 'interface' },
  instance: { create: 'node', attach: 'newInterfaces', allocate: 'instance' },
  prefixes: { create: 'prefixes', allocate: 'prefixes' },
};

export function blockedBy(failure: CloudFailure, at: StepCall): WhatIsBlocked {
  const byName = failure.about === undefined ? undefined : blockedByName[failure.about][at];
  return byName ?? policyOf(failure).blocks[at];
}

/** Whether it may concern the action itself although the answer names one scope: a second scope decides. */
export function isPerhapsOfAction(failure: CloudFailure): boolean {
  const { about } = failure;
  return mayConcern(failure, 'action') && about !== 'securityGroups' && about !== 'prefixes';
}

/** Where a step is executed. */
export interface StepPlace {
  readonly instanceId: string;
  readonly nodeSubnetId: string;
}

export type ScopesOfStep = Partial<{ readonly [K in RefusedScopeKind]: Extract<RefusedScope, { kind: K }> }>;

/** Everything that a call of a step depends on. If any of it is blocked, the step is not planned. */
export function scopesOf(
  step: PlannedStep,
  at: StepCall,
  { instanceId, nodeSubnetId }: StepPlace,
): ScopesOfStep {
  const { subnetId } = step;
  const withPrefixes = step.kind === 'allocatePrefixes' || ('prefixCount' in step && step.prefixCount > 0);
  const prefixes = withPrefixes ? ({ prefixes: { kind: 'prefixes', instanceId } } as const) : {};
  switch (at) {
    case 'create':
      return {
        action: { kind: 'action', action: 'create' },
        subnet: { kind: 'subnet', subnetId },
        ...('securityGroupIds' in step && {
          securityGroups: { kind: 'securityGroups', ids: step.securityGroupIds },
        }),
        ...prefixes,
      };
    case 'attach':
      return {
        action: { kind: 'action', action: 'attach' },
        attachment: { kind: 'attachment', subnetId, nodeSubnetId },
        newInterfaces: { kind: 'newInterfaces', instanceId },
      };
    case 'allocate':
      return {
        action: { kind: 'action', action: 'assign' },
        ...('interfaceId' in step && { interface: { kind: 'interface', interfaceId: step.interfaceId } }),
        assignmentsIn: { kind: 'assignmentsIn', subnetId },
        instance: { kind: 'instance', instanceId },
        ...prefixes,
      };
  }
}

/** The calls of a step, in order. */
export const callsOf: Record<PlannedStep['kind'], readonly StepCall[]> = {
  allocateIPs: ['allocate'],
  allocatePrefixes: ['allocate'],
  adoptInterface: ['attach'],
  createInterface: ['create', 'attach'],
};

export function allScopesOf(step: PlannedStep, place: StepPlace): readonly RefusedScope[] {
  return callsOf[step.kind].flatMap((at) => Object.values(scopesOf(step, at, place)));
}

/** A key for the scope: equal scopes have equal keys. */
export function keyOf(scope: RefusedScope): string {
  const { kind, ...rest } = scope;
  return `${kind} ${Object.values(rest).join(' ')}`;
}

/** The start of a sentence about a refusal. Empty if the cloud's message, or the node that has it, names the scope. */
export function describeScope(scope: RefusedScope): string {
  switch (scope.kind) {
    case 'action':
    case 'assignmentsIn':
    case 'instance':
      return '';
    case 'interface':
      return `for interface ${scope.interfaceId} `;
    case 'subnet':
      return `in subnet ${scope.subnetId} `;
    case 'attachment':
      return `for an interface in subnet ${scope.subnetId} `;
    case 'securityGroups':
      return `with security groups ${scope.ids.join(', ')} `;
    case 'newInterfaces':
      return `for instance ${scope.instanceId} `;
    case 'prefixes':
      return `for prefixes on instance ${scope.instanceId} `;
  }
}
