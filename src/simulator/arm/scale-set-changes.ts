// Changes of scale sets: more machines, fewer, none at all, and another model that machines do not have yet.
import { type JsonObject, objectAt } from '../workload/json.ts';
import type { ArmCloud } from './arm-cloud.ts';
import type { Machine, ScaleSet } from './arm-records.ts';
import { badRequest } from './arm-refusal.ts';
import { deleteMachine, refuseBusy, removeMachine, upgradeMachine } from './machine-changes.ts';
import { addInstance, start } from './new-machines.ts';
import type { Operation } from './operations.ts';

/** Begins to add or delete machines until there are so many; the last ones go first. */
export function scale(cloud: ArmCloud, scaleSet: ScaleSet, capacity: number): Operation {
  if (!Number.isInteger(capacity) || capacity < 0 || capacity > 1000) {
    throw badRequest('InvalidParameter', `The value ${capacity} of parameter sku.capacity is invalid.`);
  }
  const machines = machinesOf(cloud, scaleSet).filter(({ state }) => state !== 'Deleting');
  const added: Machine[] = [];
  try {
    while (machines.length + added.length < capacity) added.push(addInstance(cloud, scaleSet.id));
  } catch (refusal) {
    for (const machine of added) removeMachine(cloud, machine.id);
    throw refusal;
  }
  for (const machine of machines.slice(capacity)) deleteMachine(cloud, machine);
  const operation = cloud.beginOperation(scaleSet.path, 'Microsoft.Compute');
  put(cloud, scaleSet.id, 'Updating');
  cloud.after(machines.length > capacity ? cloud.times.deleteMs : cloud.times.startMs, () => {
    for (const { id } of added) start(cloud, id);
    put(cloud, scaleSet.id, 'Succeeded');
    cloud.operations.end(operation.id);
  });
  return operation;
}

/** Deletes a scale set with its machines. */
export function deleteScaleSet(cloud: ArmCloud, scaleSet: ScaleSet): Operation {
  const operation = cloud.beginOperation(scaleSet.path, 'Microsoft.Compute');
  put(cloud, scaleSet.id, 'Deleting');
  for (const machine of machinesOf(cloud, scaleSet)) deleteMachine(cloud, machine);
  cloud.after({ min: cloud.times.deleteMs.max, max: cloud.times.deleteMs.max }, () => {
    cloud.scaleSets.delete(scaleSet.id);
    cloud.operations.end(operation.id);
  });
  return operation;
}

/** Changes the model of a scale set. Its machines have the former one until each is upgraded. */
export function remodel(cloud: ArmCloud, scaleSet: ScaleSet, change: JsonObject): Operation {
  const { properties, tags } = change;
  const model = {
    ...scaleSet.model,
    ...(tags !== undefined && { tags }),
    properties: { ...objectAt(scaleSet.model, 'properties'), ...objectAt(properties) },
  };
  const operation = cloud.beginOperation(scaleSet.path, 'Microsoft.Compute');
  cloud.scaleSets.put({ ...scaleSet, model });
  put(cloud, scaleSet.id, 'Succeeded');
  for (const machine of machinesOf(cloud, scaleSet)) {
    cloud.machines.put({ ...machine, latestModelApplied: false });
  }
  cloud.operations.end(operation.id);
  return operation;
}

/** Begins to give machines the model of their scale set. Refuses if one of them is busy. */
export function upgrade(cloud: ArmCloud, scaleSet: ScaleSet, ids: readonly string[]): Operation {
  const machines = machinesOf(cloud, scaleSet).filter(({ instanceId = '' }) => ids.includes(instanceId));
  machines.forEach(refuseBusy);
  const operation = cloud.beginOperation(scaleSet.path, 'Microsoft.Compute');
  for (const machine of machines) upgradeMachine(cloud, machine, { plan: scaleSet.plan, operation });
  cloud.after(cloud.times.machineMs, () => cloud.operations.end(operation.id));
  return operation;
}

/** The machines of a scale set, in the order in which they came. */
export function machinesOf(cloud: ArmCloud, scaleSet: ScaleSet): readonly Machine[] {
  const own = [...cloud.machines.current.values()].filter(({ scaleSetId }) => scaleSetId === scaleSet.id);
  return own.toSorted((a, b) => numberOf(a) - numberOf(b));
}

function numberOf({ name }: Machine): number {
  return Number(name.slice(name.lastIndexOf('_') + 1));
}

function put(cloud: ArmCloud, id: string, state: ScaleSet['state']): void {
  const scaleSet = cloud.scaleSets.current.get(id);
  if (scaleSet === undefined) return;
  cloud.scaleSets.put({ ...scaleSet, state, etag: `"${Number(scaleSet.etag.slice(1, -1)) + 1}"` });
}
