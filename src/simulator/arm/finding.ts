// Finds what a path names, and refuses what is not there as Azure does: the group, the parent, the resource.
import type { ArmCall } from './arm-call.ts';
import type { ArmCloud } from './arm-cloud.ts';
import type { ArmInterface, Machine, ScaleSet } from './arm-records.ts';
import { type ArmRefusal, notFound } from './arm-refusal.ts';
import { groupOf, keyOf, nameOf, parentOf } from './resource-path.ts';

/** Refuses a subscription that does not exist. */
export function refuseUnknownSubscription(
  cloud: ArmCloud,
  { parameters }: Pick<ArmCall, 'parameters'>,
): void {
  const { subscription } = parameters;
  if (subscription === undefined || cloud.subscriptions.has(subscription.toLowerCase())) return;
  throw notFound('SubscriptionNotFound', `The subscription '${subscription}' could not be found.`);
}

/** Refuses a resource group that does not exist. */
export function refuseUnknownGroup(cloud: ArmCloud, call: Pick<ArmCall, 'parameters' | 'path'>): void {
  const { subscription = '', group } = call.parameters;
  if (group === undefined) return;
  const groups = cloud.subscriptions.get(subscription.toLowerCase());
  if (groups?.has(keyOf(groupOf(call.path))) === true) return;
  throw notFound('ResourceGroupNotFound', `Resource group '${group}' could not be found.`);
}

export function findScaleSet(cloud: ArmCloud, path: string): ScaleSet {
  const found = cloud.scaleSets.current.get(keyOf(path));
  if (found === undefined) throw resourceNotFound(path);
  return found;
}

/** A machine of its own, or one of a Flexible scale set. */
export function findMachine(cloud: ArmCloud, path: string): Machine {
  const found = cloud.machines.current.get(keyOf(path));
  if (found === undefined) throw resourceNotFound(path);
  return found;
}

/** A machine of a Uniform scale set. */
export function findInstance(cloud: ArmCloud, path: string): Machine {
  const scaleSet = parentOf(path);
  if (!cloud.scaleSets.current.has(keyOf(scaleSet))) throw parentNotFound(path);
  const found = cloud.machines.current.get(keyOf(path));
  if (found !== undefined) return found;
  throw notFound(
    'NotFound',
    `The VM with id ${nameOf(path)} in the virtual machine scale set ${nameOf(scaleSet)} was not found. The entity was not found in this Azure location.`,
  );
}

export function findInterface(cloud: ArmCloud, path: string): ArmInterface {
  const found = cloud.interfaces.current.get(keyOf(path));
  if (found === undefined) throw resourceNotFound(path);
  return found;
}

export function resourceNotFound(path: string): ArmRefusal {
  const [type, name] = typeAndName(path);
  const group = path.split('/')[4] ?? '';
  return notFound(
    'ResourceNotFound',
    `The Resource '${type}/${name}' under resource group '${group}' was not found. For more details please go to https://aka.ms/ARMResourceNotFoundFix`,
  );
}

export function parentNotFound(path: string): ArmRefusal {
  const [type, name] = typeAndName(parentOf(path));
  return notFound(
    'ParentResourceNotFound',
    `Failed to perform 'read' on resource(s) of type '${typeOf(path)}', because the parent resource '${type}/${name}' could not be found.`,
  );
}

/** `Microsoft.Compute/virtualMachineScaleSets/virtualMachines` of a path. */
function typeOf(path: string): string {
  const parts = path.split('/providers/')[1]?.split('/') ?? [];
  return [parts[0], ...parts.slice(1).filter((_, index) => index % 2 === 0)].join('/');
}

function typeAndName(path: string): readonly [string, string] {
  const names = path.split('/providers/')[1]?.split('/').slice(1) ?? [];
  return [typeOf(path), names.filter((_, index) => index % 2 === 1).join('/')];
}
