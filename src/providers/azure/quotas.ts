// What limits calls to ARM, by the documented sizes
// (https://learn.microsoft.com/azure/azure-resource-manager/management/request-limits-and-throttling,
// https://learn.microsoft.com/azure/virtual-machines/compute-throttling-limits).
import { type LimitKey, type LimitSize, type LimitSizes } from '../rate-limit/limit-key.ts';
import type { CloudCall } from '../gate/cloud-call.ts';
import type { ArmOperation, ArmRequest } from './arm-api.ts';

function bucket(capacity: number, refill: number): LimitSize {
  return { kind: 'bucket', capacity, refill };
}

function perMinute(capacity: number, refill: number): LimitSize {
  return bucket(capacity, refill / 60);
}

function perVm(capacity: number, refill: number): LimitSize {
  return { ...perMinute(capacity, refill), isPerThing: true };
}

/** Half of what a window of 5 minutes allows at once, and the other half spread over it: never more in any 5 minutes. */
function perFiveMinutes(most: number): LimitSize {
  return bucket(most / 2, most / 2 / 300);
}

export const documentedLimits: LimitSizes = new Map([
  ['ResourceManager.Reads', bucket(250, 25)],
  ['ResourceManager.Writes', bucket(200, 10)],
  ['Network.Reads', perFiveMinutes(10_000)],
  ['Network.Writes', perFiveMinutes(1000)],
  ['VirtualMachineScaleSetVMs.Update', perMinute(1500, 500)],
  ['VirtualMachineScaleSetVMs.Update.perVM', perVm(12, 4)],
  ['VirtualMachineScaleSetVMs.Get', perMinute(6000, 2000)],
  ['VirtualMachineScaleSetVMs.Get.perVM', perVm(18, 6)],
  ['VirtualMachines.Get', perMinute(24_000, 8000)],
  ['VirtualMachines.Get.perVM', perVm(36, 12)],
  ['VirtualMachineScaleSets.Get', perMinute(2400, 800)],
  ['Operations.Get', perMinute(15_000, 5000)],
  ['Operations.Get.perVM', perVm(45, 15)],
]);

/** Operations of Compute with limits of their own. */
const ofCompute: ReadonlySet<ArmOperation> = new Set([
  'VirtualMachineScaleSetVMs.Update',
  'VirtualMachineScaleSetVMs.Get',
  'VirtualMachines.Get',
  'VirtualMachineScaleSets.Get',
  'Operations.Get',
]);

type Limited = Pick<ArmRequest, 'operation' | 'method' | 'provider' | 'subscriptionId' | 'resource'>;

/** What a request spends from, the most specific limit first. */
export function limitsOf({ operation, method, provider, subscriptionId, resource }: Limited): LimitKey[] {
  const way = method === 'GET' ? 'Reads' : 'Writes';
  const own = provider === 'compute' && ofCompute.has(operation);
  return [
    ...(own && resource !== undefined ? [{ name: `${operation}.perVM`, resource }] : []),
    ...(own ? [{ name: operation, resource: subscriptionId }] : []),
    ...(provider === 'network' ? [{ name: `Network.${way}`, resource: subscriptionId }] : []),
    { name: `ResourceManager.${way}`, resource: subscriptionId },
  ];
}

export function callOf(request: Limited): CloudCall {
  return {
    name: request.operation,
    effect: request.method === 'GET' ? 'reads' : 'adds',
    limits: limitsOf(request),
  };
}

/** Codes of the throttle of ARM itself, which its answers do not name otherwise. */
const ofResourceManager: ReadonlySet<string> = new Set([
  'SubscriptionRequestsThrottled',
  'ResourceManagerThrottled',
]);

/** The limit that a throttled answer names; undefined if it names none. */
export function throttledLimit(
  request: Limited,
  { code, remaining }: { readonly code: string; readonly remaining: ReadonlyMap<string, number> },
): LimitKey | undefined {
  const isSpent = [...remaining].some(([name, count]) => name.startsWith('subscription-') && count === 0);
  return ofResourceManager.has(code) || isSpent ? limitsOf(request).at(-1) : undefined;
}

/** The limits that an answer says something about, and how many calls each has left. */
export function remainingLimits(
  { method, subscriptionId }: Limited,
  remaining: ReadonlyMap<string, number>,
): readonly { readonly limit: LimitKey; readonly count: number }[] {
  const [header, name] =
    method === 'GET'
      ? ['subscription-reads', 'ResourceManager.Reads']
      : ['subscription-writes', 'ResourceManager.Writes'];
  const count = remaining.get(header);
  return count === undefined ? [] : [{ limit: { name, resource: subscriptionId }, count }];
}
