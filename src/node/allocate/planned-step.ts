// The steps of an allocation plan: what each brings the node and what it takes from the subnet.
import { prefixSize } from '../../providers/contract/network-interface.ts';
import type { OperationKind } from '../../providers/contract/operations.ts';
import type { NodeRequirements } from '../demand/node-requirements.ts';

export type PlannedStep =
  | {
      /** Single addresses or prefixes for an existing interface, or its one IPv6 prefix. */
      readonly kind: 'allocateIPs' | 'allocatePrefixes' | 'allocateIpv6Prefix';
      readonly interfaceId: string;
      readonly subnetId: string;
      /** Number of single addresses or of prefixes; 1 for an IPv6 prefix. */
      readonly count: number;
    }
  | {
      readonly kind: 'adoptInterface';
      readonly interfaceId: string;
      readonly subnetId: string;
      readonly deviceIndex: number;
      /** Pod addresses that it has. */
      readonly count: number;
      /** Free slots that it has: they are filled once it is attached. */
      readonly room: number;
      /** Whether it has an IPv6 prefix. */
      readonly ipv6Prefix?: true;
    }
  | {
      readonly kind: 'createInterface';
      readonly subnetId: string;
      readonly securityGroupIds: readonly string[];
      readonly deviceIndex: number;
      /** Initial secondary addresses; 0 if it starts with prefixes. */
      readonly count: number;
      /** Initial prefixes; 0 if it starts with secondary addresses. */
      readonly prefixCount: number;
      /** Whether it starts with an IPv6 prefix, too. */
      readonly ipv6Prefix?: true;
    };

/** Operations that a step needs together, so they are admitted together. */
export const operationsOf = {
  allocateIPs: ['allocateIPs'],
  allocatePrefixes: ['allocatePrefixes'],
  allocateIpv6Prefix: ['allocateIpv6Prefix'],
  adoptInterface: ['attachInterface'],
  createInterface: ['createInterface', 'attachInterface'],
} as const satisfies Record<PlannedStep['kind'], readonly OperationKind[]>;

/** Pod addresses that a step brings if it succeeds. */
export function podAddressesGained(step: PlannedStep, { usePrimaryAddress }: NodeRequirements): number {
  const primary = step.kind === 'createInterface' && usePrimaryAddress ? 1 : 0;
  return secondaryAddressesOf(step) + primary;
}

/** The unit that fills an interface's slots; fewer prefixes at once if a subnet refused more, one if its count has none. */
export type Unit = 'addresses' | 'prefixes' | 'fewerPrefixes' | 'uncountedPrefix';

/** Addresses in each unit. */
export const sizeOf: Record<Unit, number> = {
  addresses: 1,
  prefixes: prefixSize,
  fewerPrefixes: prefixSize,
  uncountedPrefix: prefixSize,
};

export function subnetAddressesUsed(step: PlannedStep): number {
  if (step.kind === 'adoptInterface') return 0;
  return secondaryAddressesOf(step) + (step.kind === 'createInterface' ? 1 : 0);
}

/** Secondary addresses that a step brings, those of prefixes included. */
export function secondaryAddressesOf(step: PlannedStep): number {
  switch (step.kind) {
    case 'allocateIPs':
    case 'adoptInterface':
      return step.count;
    case 'allocatePrefixes':
      return step.count * prefixSize;
    case 'allocateIpv6Prefix':
      return 0;
    case 'createInterface':
      return step.count + step.prefixCount * prefixSize;
  }
}

export function slotsFilled(step: PlannedStep, interfaceId: string): number {
  const fills = step.kind === 'allocateIPs' || step.kind === 'allocatePrefixes';
  return fills && step.interfaceId === interfaceId ? step.count : 0;
}

/** Secondary slots that a step adds and leaves free. */
export function slotsLeft(step: PlannedStep, slots: number): number {
  if (step.kind === 'adoptInterface') return step.room;
  return step.kind === 'createInterface' ? Math.max(0, slots - step.count - step.prefixCount) : 0;
}

/** The device index of the interface that a step adds; undefined if it adds none. */
export function deviceIndexOf(step: PlannedStep): number | undefined {
  return step.kind === 'adoptInterface' || step.kind === 'createInterface' ? step.deviceIndex : undefined;
}

export function bringsIpv6(step: PlannedStep): boolean {
  return step.kind === 'allocateIpv6Prefix' || ('ipv6Prefix' in step && step.ipv6Prefix);
}

/** Number of prefixes that a step requests. */
export function prefixesOf(step: PlannedStep): number {
  if (step.kind === 'createInterface') return step.prefixCount;
  return step.kind === 'allocatePrefixes' ? step.count : 0;
}

/** The next plan, seconds after the attach, sees what the free slots can take. */
export function deferredBy(step: PlannedStep): number {
  return step.kind === 'adoptInterface' && step.room > 0 ? Infinity : 0;
}
