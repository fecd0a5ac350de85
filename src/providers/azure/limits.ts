// Azure's limits, as Azure documents them, and which of them a call spends from:
// https://learn.microsoft.com/azure/azure-resource-manager/management/request-limits-and-throttling (Resource Manager and
// the network provider) and https://learn.microsoft.com/azure/virtual-machines/compute-throttling-limits (compute).
import type { BucketLimit, LimitKey } from '../rate-limit/limit-key.ts';

/** Compute's limits refill each minute, and hold three minutes of calls. */
function perMinute(calls: number): BucketLimit {
  return { kind: 'bucket', capacity: 3 * calls, refill: calls / 60 };
}

function perMinuteAndResource(calls: number): BucketLimit {
  return { ...perMinute(calls), isPerThing: true };
}

/** At most `calls` in any five minutes: what a bucket holds and what it gains in that time, together. */
function perFiveMinutes(calls: number): BucketLimit {
  return { kind: 'bucket', capacity: calls / 4, refill: (calls * 3) / 4 / 300 };
}

const sizes = {
  // Resource Manager, per subscription, region and principal.
  'arm-reads': { kind: 'bucket', capacity: 250, refill: 25 },
  'arm-writes': { kind: 'bucket', capacity: 200, refill: 10 },
  // The network provider, per subscription and region. Deletions count as writes.
  'network-reads': perFiveMinutes(10_000),
  'network-writes': perFiveMinutes(1000),
  // Compute, per subscription and region, and per resource.
  'VirtualMachines.Get': perMinute(8000),
  'VirtualMachines.Get-per-VM': perMinuteAndResource(12),
  'VirtualMachineScaleSets.Get': perMinute(800),
  'VirtualMachineScaleSets.Get-per-set': perMinuteAndResource(12),
  // Not documented, but reported.
  'VirtualMachineScaleSetVMs.Get': perMinute(2000),
  'VirtualMachineScaleSetVMs.Get-per-VM': perMinuteAndResource(6),
  'VirtualMachineScaleSetVMs.Update': perMinute(500),
  'VirtualMachineScaleSetVMs.Update-per-VM': perMinuteAndResource(4),
  'Operations.Get': perMinute(5000),
  'Operations.Get-per-VM': perMinuteAndResource(15),
} as const satisfies Readonly<Record<string, BucketLimit>>;

type LimitName = keyof typeof sizes;

export const azureLimits: ReadonlyMap<string, BucketLimit> = new Map<string, BucketLimit>(
  Object.entries(sizes),
);

/** The limits of each call, the most specific one first. */
const limitsOfCalls = {
  'VirtualMachineScaleSetVMs.Get': [
    'VirtualMachineScaleSetVMs.Get',
    'VirtualMachineScaleSetVMs.Get-per-VM',
    'arm-reads',
  ],
  'VirtualMachineScaleSetVMs.Update': [
    'VirtualMachineScaleSetVMs.Update',
    'VirtualMachineScaleSetVMs.Update-per-VM',
    'arm-writes',
  ],
  'VirtualMachines.Get': ['VirtualMachines.Get', 'VirtualMachines.Get-per-VM', 'arm-reads'],
  'VirtualMachineScaleSets.Get': [
    'VirtualMachineScaleSets.Get',
    'VirtualMachineScaleSets.Get-per-set',
    'arm-reads',
  ],
  /** The state of a long-running operation of compute. */
  'Operations.Get': ['Operations.Get', 'Operations.Get-per-VM', 'arm-reads'],
  'Interfaces.ListVirtualMachineScaleSetNetworkInterfaces': ['network-reads', 'arm-reads'],
  'Interfaces.ListVirtualMachineScaleSetVMNetworkInterfaces': ['network-reads', 'arm-reads'],
  'Interfaces.List': ['network-reads', 'arm-reads'],
  'Interfaces.Get': ['network-reads', 'arm-reads'],
  'Interfaces.CreateOrUpdate': ['network-writes', 'arm-writes'],
  /** The state of a long-running operation of the network provider. */
  'NetworkOperations.Get': ['network-reads', 'arm-reads'],
  'Subnets.Get': ['network-reads', 'arm-reads'],
  'PublicIPPrefixes.List': ['network-reads', 'arm-reads'],
  'PublicIPAddresses.GetVirtualMachineScaleSetPublicIPAddress': ['network-reads', 'arm-reads'],
  'Subscriptions.List': ['arm-reads'],
  'Permissions.ListForResource': ['arm-reads'],
} as const satisfies Readonly<Record<string, readonly LimitName[]>>;

export type AzureCallName = keyof typeof limitsOfCalls;

/** Every call that Headwater sends. */
export const azureCalls = Object.keys(limitsOfCalls) as readonly AzureCallName[];

export interface CallTarget {
  /** In one spelling. */
  readonly subscriptionId: string;
  /** ARM id of the VM or set, in one spelling; undefined for a listing. */
  readonly resource?: string;
}

/** The limits that a call spends from. Limits of a VM or set are left out if the call names none. */
export function limitsOf(call: AzureCallName, { subscriptionId, resource }: CallTarget): readonly LimitKey[] {
  return limitsOfCalls[call].flatMap((name): LimitKey[] => {
    const size: BucketLimit = sizes[name];
    if (size.isPerThing !== true) return [{ name, resource: subscriptionId }];
    return resource === undefined ? [] : [{ name, resource }];
  });
}
