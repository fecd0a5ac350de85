// What a plan consists of: steps that bring a node addresses, each with what it brings and what it takes.
import { prefixSize } from '../providers/network-interface.ts';
import type { NodeRequirements } from './node-requirements.ts';

export type PlannedStep =
  | {
      /** Single addresses, or prefixes, for an interface that is there. */
      readonly kind: 'allocateIPs' | 'allocatePrefixes';
      readonly interfaceId: string;
      readonly subnetId: string;
      /** Of single addresses or of prefixes. */
      readonly count: number;
    }
  | {
      readonly kind: 'adoptInterface';
      readonly interfaceId: string;
      readonly subnetId: string;
      readonly deviceIndex: number;
      /** Pod addresses that it has. */
      readonly count: number;
      /** Slots for more addresses that it has: they are filled once it is attached. */
      readonly room: number;
    }
  | {
      readonly kind: 'createInterface';
      readonly subnetId: string;
      readonly securityGroupIds: readonly string[];
      readonly deviceIndex: number;
      /** Secondary addresses that it starts with; 0 where it starts with prefixes. */
      readonly count: number;
      /** Prefixes that it starts with; 0 where it starts with secondary addresses. */
      readonly prefixCount: number;
    };

/** Pod addresses that a step brings when it succeeds. */
export function yieldOf(step: PlannedStep, { usePrimaryAddress }: NodeRequirements): number {
  const primary = step.kind === 'createInterface' && usePrimaryAddress ? 1 : 0;
  return secondaryAddressesOf(step) + primary;
}

/** Addresses that a step takes from its subnet. */
export function takenBy(step: PlannedStep): number {
  if (step.kind === 'adoptInterface') return 0;
  return secondaryAddressesOf(step) + (step.kind === 'createInterface' ? 1 : 0);
}

/** Addresses beyond an interface's primary one that a step brings, those of prefixes included. */
export function secondaryAddressesOf(step: PlannedStep): number {
  switch (step.kind) {
    case 'allocateIPs':
    case 'adoptInterface':
      return step.count;
    case 'allocatePrefixes':
      return step.count * prefixSize;
    case 'createInterface':
      return step.count + step.prefixCount * prefixSize;
  }
}

/** Slots that a step fills on an interface that is there. */
export function slotsFilled(step: PlannedStep, interfaceId: string): number {
  const fills = step.kind === 'allocateIPs' || step.kind === 'allocatePrefixes';
  return fills && step.interfaceId === interfaceId ? step.count : 0;
}

/** Slots of an interface that a step brings and leaves free, of those beside its primary address. */
export function slotsLeft(step: PlannedStep, slots: number): number {
  if (step.kind === 'adoptInterface') return step.room;
  return step.kind === 'createInterface' ? Math.max(0, slots - step.count - step.prefixCount) : 0;
}

/** Where a step puts an interface that is new to the instance; undefined for a step that brings none. */
export function deviceIndexOf(step: PlannedStep): number | undefined {
  return step.kind === 'adoptInterface' || step.kind === 'createInterface' ? step.deviceIndex : undefined;
}

/** How many prefixes a step asks for. */
export function prefixesOf(step: PlannedStep): number {
  if (step.kind === 'createInterface') return step.prefixCount;
  return step.kind === 'allocatePrefixes' ? step.count : 0;
}
