// Maps a refusal to what it blocks: from failure kind and call to the narrowest scope the answer concerns.
// Plans avoid that scope, and nothing else is blamed. Pure.
import type { CloudFailure } from '../../providers/contract/cloud-failure.ts';
import {
  type StepCall,
  mayConcern,
  policyOf,
  type WhatIsBlocked,
} from '../../providers/contract/failure-policy.ts';
import { bringsIpv6, type PlannedStep, prefixesOf } from './planned-step.ts';

/** Calls that bring addresses, as IAM permits them: one action assigns both addresses and prefixes of IPv4. */
export type AllocationCall = 'create' | 'attach' | 'assign' | 'assignIpv6';

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
  | { readonly kind: 'prefixes'; readonly instanceId: string }
  /** IPv6 prefixes from the subnet: IPv4 still works. */
  | { readonly kind: 'ipv6In'; readonly subnetId: string }
  /** An IPv6 prefix on it. */
  | { readonly kind: 'ipv6On'; readonly interfaceId: string };

export type RefusedScopeKind = RefusedScope['kind'];

/** Kinds of scopes that belong to a single instance. */
const ofOneInstance: ReadonlySet<RefusedScopeKind> = new Set([
  'interface',
  'newInterfaces',
  'instance',
  'prefixes',
  'ipv6On',
]);

/** Whether many instances need the scope. */
export function isShared({ kind }: RefusedScope): boolean {
  return !ofOneInstance.has(kind);
}

/** If the answer names what it concerns. A call without such a scope follows the kind of the failure. */
const blockedByName: Record<NonNullable<CloudFailure['about']>, Partial<Record<StepCall, WhatIsBlocked>>> = {
  action: { create: 'action', attach: 'action', allocate: 'action', allocateIpv6: 'action' },
  subnet: { create: 'subnet', attach: 'attachment', allocate: 'assignmentsIn', allocateIpv6: 'ipv6In' },
  securityGroups: { create: 'securityGroups' },
  interface: { attach: 'attachment', allocate: 'interface', allocateIpv6: 'ipv6On' },
  instance: { create: 'node', attach: 'newInterfaces', allocate: 'instance', allocateIpv6: 'ipv6On' },
  prefixes: { create: 'prefixes', allocate: 'prefixes', allocateIpv6: 'ipv6On' },
  ipv6: { create: 'ipv6In' },
};

export function blockedBy(failure: CloudFailure, at: StepCall): WhatIsBlocked {
  const byName = failure.about === undefined ? undefined : blockedByName[failure.about][at];
  return byName ?? policyOf(failure).blocks[at];
}

/**
 * The scope that the failure of a step blocks. If the failure may be about the IPv6 prefix of a new interface, only IPv6
 * in the subnet is blocked: a refusal of IPv6 must not block IPv4. `known`: the last refusal of an IPv6 prefix in the
 * subnet, if any.
 */
export function blockedFor(
  step: PlannedStep,
  failure: CloudFailure,
  at: StepCall,
  known?: CloudFailure,
): WhatIsBlocked {
  return isOfIpv6Part(step, failure, at, known) ? 'ipv6In' : blockedBy(failure, at);
}

function isOfIpv6Part(
  step: PlannedStep,
  failure: CloudFailure,
  at: StepCall,
  known: CloudFailure | undefined,
): boolean {
  const { about } = failure;
  if (at !== 'create' || !bringsIpv6(step)) return false;
  // Where whole blocks were asked for, the lack of one comes first, and the wish for IPv6 stays: unless IPv6 is known to lack.
  const asksForBlocks = prefixesOf(step) > 0 && policyOf(failure).blocks.create === 'subnetBlocks';
  const isOfBlocks = asksForBlocks && known?.kind !== failure.kind;
  if (about === 'prefixes') return prefixesOf(step) === 0;
  return about === 'ipv6' || (about === undefined && !isOfBlocks && mayConcern(failure, 'ipv6'));
}

/** Whether only IPv6 does without it. */
export function blocksOnlyIpv6(blocked: WhatIsBlocked): boolean {
  return blocked === 'ipv6In' || blocked === 'ipv6On';
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
  const prefixes = prefixesOf(step) > 0 && ({ prefixes: { kind: 'prefixes', instanceId } } as const);
  const ipv6In = { kind: 'ipv6In', subnetId } as const;
  const { interfaceId } = 'interfaceId' in step ? step : { interfaceId: '' };
  switch (at) {
    case 'create':
      return {
        action: { kind: 'action', action: 'create' },
        subnet: { kind: 'subnet', subnetId },
        ...('securityGroupIds' in step && {
          securityGroups: { kind: 'securityGroups', ids: step.securityGroupIds },
        }),
        ...prefixes,
        ...(bringsIpv6(step) && { ipv6In }),
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
        interface: { kind: 'interface', interfaceId },
        assignmentsIn: { kind: 'assignmentsIn', subnetId },
        instance: { kind: 'instance', instanceId },
        ...prefixes,
      };
    case 'allocateIpv6':
      return {
        action: { kind: 'action', action: 'assignIpv6' },
        ipv6In,
        ipv6On: { kind: 'ipv6On', interfaceId },
      };
  }
}

/** The calls of a step, in order. */
export const callsOf: Record<PlannedStep['kind'], readonly StepCall[]> = {
  allocateIPs: ['allocate'],
  allocatePrefixes: ['allocate'],
  allocateIpv6Prefix: ['allocateIpv6'],
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

/**
 * The start of a sentence about a refusal. Empty if the cloud's message, or the node that has it, names the scope. `alike`: more
 * interfaces.
 */
export function describeScope(scope: RefusedScope, alike: readonly string[]): string {
  switch (scope.kind) {
    case 'action':
    case 'assignmentsIn':
    case 'instance':
      return '';
    case 'interface':
      return describeInterfaces([scope.interfaceId, ...alike]);
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
    default:
      return describeIpv6(scope);
  }
}

function describeInterfaces(ids: readonly string[]): string {
  return `for interface${ids.length > 1 ? 's' : ''} ${ids.join(', ')} `;
}

function describeIpv6(scope: RefusedScope & { readonly kind: 'ipv6In' | 'ipv6On' }): string {
  const place = scope.kind === 'ipv6In' ? `in subnet ${scope.subnetId}` : `on interface ${scope.interfaceId}`;
  return `for an IPv6 prefix ${place} `;
}
