// Changes of machines: the PUT of one of a Uniform scale set, power, and deletion. Each is an operation that takes time.
import type { Json, JsonObject } from '../workload/json.ts';
import { listAt, objectAt, textAt } from '../workload/json.ts';
import {
  beginChanges,
  type StartedChange,
  endChanges,
  free,
  type OperationFailure,
} from './address-changes.ts';
import type { ArmCloud } from './arm-cloud.ts';
import type { Machine, PowerState } from './arm-records.ts';
import type { MachinePlan } from './arm-topology-schema.ts';
import { ArmRefusal, badRequest, conflict } from './arm-refusal.ts';
import { changeOf, type ConfigurationChange, drops, isChange, refuseTooMany } from './configurations.ts';
import { lossesOf } from './losses.ts';
import type { Operation } from './operations.ts';
import { configurationsOf } from './machine-models.ts';
import { lacksPublicAddress } from './public-addresses.ts';
import { refuseEtag } from './etags.ts';
import { groupOf } from './resource-path.ts';

export interface MachineUpdate {
  readonly machine: Machine;
  readonly body: JsonObject;
  readonly ifMatch: string | undefined;
  /** The operation is to fail in the end. */
  readonly failure: OperationFailure | undefined;
}

/** Members that Azure writes itself and ignores in a body. */
const readOnly = new Set([
  'id',
  'name',
  'type',
  'instanceId',
  'sku',
  'resources',
  'zones',
  'etag',
  'systemData',
]);
const readOnlyProperties = new Set([
  'provisioningState',
  'latestModelApplied',
  'vmId',
  'instanceView',
  'timeCreated',
  'modelDefinitionApplied',
]);

/** Replaces the model of a machine of a Uniform scale set. Returns its operation; refuses and changes nothing. */
export function updateMachine(cloud: ArmCloud, update: MachineUpdate): Operation {
  const { machine, body, ifMatch } = update;
  refuseEtag(machine, ifMatch);
  refuseBusy(machine);
  const model = nextModel(machine, body);
  const changes = changesOf(cloud, machine, model);
  refuseTooMany(cloud, machine, changes);
  const operation = cloud.beginOperation(machine.path, 'Microsoft.Compute');
  cloud.onWrite({ path: machine.path, lost: lossesOf(machine.model, model), drops: changes.some(drops) });
  const { started, failure = update.failure } = beginAllChanges(cloud, changes, operation);
  const { failure: _, ...known } = machine;
  const changed = put(cloud, { ...known, model, state: 'Updating', operationId: operation.id });
  cloud.after(cloud.times.machineMs, () => {
    endChanges(cloud, started, failure);
    const current = cloud.machines.current.get(machine.id);
    cloud.operations.end(operation.id, failure ?? (current === undefined ? gone : undefined));
    if (current?.operationId !== operation.id) return;
    const { operationId: __, ...rest } = current;
    put(cloud, {
      ...rest,
      ...(failure === undefined ? { state: 'Succeeded' } : { state: 'Failed', failure }),
      // Half done, it says what was wanted.
      ...(failure !== undefined &&
        failure.isHalfDone !== true && {
          model: { ...changed.model, properties: machine.model['properties'] },
        }),
    });
  });
  return operation;
}

/** Begins the changes; a full subnet fails the operation, if Azure finds out only then. */
function beginAllChanges(
  cloud: ArmCloud,
  changes: readonly ConfigurationChange[],
  operation: Operation,
): { readonly started: readonly StartedChange[]; readonly failure?: OperationFailure } {
  try {
    const started = beginChanges(cloud, changes.filter(isChange), operation.id);
    const records = started.flatMap(({ interfaceId }) => cloud.interfaces.current.get(interfaceId) ?? []);
    return {
      started,
      ...(records.some((each) => lacksPublicAddress(cloud, each)) && { failure: fullPrefix }),
    };
  } catch (refusal) {
    const isLate = cloud.operationAnswers.fullSubnet === 'atTheEnd';
    if (isLate && refusal instanceof ArmRefusal && refusal.code === 'SubnetIsFull') {
      return { started: [], failure: { code: refusal.code, message: refusal.message } };
    }
    cloud.operations.forget(operation.id);
    throw refusal;
  }
}

/** Azure accepts the model, finds out at the end, and the model keeps saying what was wanted. */
const fullPrefix: OperationFailure = {
  code: 'PublicIpPrefixOutOfIpAddressesForVMScaleSet',
  message: 'The public IP prefix has no address left for this virtual machine.',
  isHalfDone: true,
};

const gone = { code: 'OperationPreempted', message: 'Operation execution has been preempted by a delete.' };

/** Deletes a machine with its interfaces. Their addresses are free when the operation ends. */
export function deleteMachine(cloud: ArmCloud, machine: Machine): Operation {
  const operation = cloud.beginOperation(machine.path, 'Microsoft.Compute');
  put(cloud, { ...machine, state: 'Deleting', operationId: operation.id });
  cloud.after(cloud.times.deleteMs, () => {
    removeMachine(cloud, machine.id);
    cloud.operations.end(operation.id);
  });
  return operation;
}

/** Removes a machine at once, with its interfaces and everything that they hold. */
export function removeMachine(cloud: ArmCloud, id: string): void {
  const machine = cloud.machines.current.get(id);
  if (machine === undefined) return;
  for (const record of cloud.interfacesOf(machine)) {
    free(cloud, record.configurations);
    cloud.deleteInterface(record);
  }
  cloud.machines.delete(id);
  cloud.network.delete('instances', id);
}

const powers = {
  deallocate: { during: 'deallocating', after: 'deallocated', time: 'deallocateMs' },
  start: { during: 'starting', after: 'running', time: 'startMs' },
} as const satisfies Record<string, { during: PowerState; after: PowerState; time: keyof ArmCloud['times'] }>;

/** Starts or deallocates a machine; its addresses stay its own. */
export function changePower(cloud: ArmCloud, machine: Machine, action: keyof typeof powers): Operation {
  refuseBusy(machine);
  const { during, after, time } = powers[action];
  const operation = cloud.beginOperation(machine.path, 'Microsoft.Compute');
  put(cloud, { ...machine, power: during, state: 'Updating', operationId: operation.id });
  cloud.after(cloud.times[time], () => {
    cloud.operations.end(operation.id);
    const current = cloud.machines.current.get(machine.id);
    if (current?.operationId !== operation.id) return;
    const { operationId: _, ...rest } = current;
    put(cloud, { ...rest, power: after, state: 'Succeeded' });
    const instance = cloud.network.instances.get(machine.id);
    if (instance === undefined) return;
    cloud.network.put('instances', { ...instance, state: after === 'running' ? 'running' : 'stopped' });
  });
  return operation;
}

/**
 * Gives a machine the model of its scale set, in the course of an operation of the whole set. What others added to its
 * interfaces is gone.
 */
export function upgradeMachine(
  cloud: ArmCloud,
  machine: Machine,
  { plan, operation }: { readonly plan: MachinePlan; readonly operation: Operation },
): void {
  const group = groupOf(machine.path);
  const fresh = new Map(plan.interfaces.map((each) => [each.name, configurationsOf(cloud, group, each)]));
  const changes = cloud
    .interfacesOf(machine)
    .map((record) => changeOf(cloud, record, fresh.get(record.name) ?? []))
    .filter(isChange);
  const started = beginChanges(cloud, changes, operation.id);
  const model = withConfigurations(machine.model, fresh);
  put(cloud, { ...machine, model, state: 'Updating', operationId: operation.id });
  cloud.after(cloud.times.machineMs, () => {
    endChanges(cloud, started, undefined);
    const current = cloud.machines.current.get(machine.id);
    if (current?.operationId !== operation.id) return;
    const { operationId: _, ...rest } = current;
    put(cloud, { ...rest, state: 'Succeeded', latestModelApplied: true });
  });
}

/** The model of a machine with these configurations by interface, and everything else as it was. */
function withConfigurations(
  model: JsonObject,
  fresh: ReadonlyMap<string, readonly JsonObject[]>,
): JsonObject {
  const properties = objectAt(model, 'properties');
  const profile = objectAt(properties, 'networkProfileConfiguration');
  const changed = listAt(profile, 'networkInterfaceConfigurations').map((item) => {
    const ipConfigurations = fresh.get(textAt(item, 'name')) ?? [];
    return { ...objectAt(item), properties: { ...objectAt(item, 'properties'), ipConfigurations } };
  });
  const networkProfileConfiguration = { ...profile, networkInterfaceConfigurations: changed };
  return { ...model, properties: { ...properties, networkProfileConfiguration } };
}

function put(cloud: ArmCloud, machine: Machine): Machine {
  const written = { ...machine, etag: `"${Number(machine.etag.slice(1, -1)) + 1}"` };
  cloud.machines.put(written);
  return written;
}

/** Refuses a machine that another operation is changing. */
export function refuseBusy({ name, operationId, state }: Machine): void {
  if (state === 'Deleting') {
    throw conflict(
      'OperationNotAllowed',
      `Operation cannot be performed on the virtual machine '${name}' since the VM is marked for deletion.`,
    );
  }
  if (operationId === undefined && state !== 'Creating') return;
  const operation = operationId === undefined ? 'its creation' : `operation ${operationId}`;
  throw conflict(
    'OperationNotAllowed',
    `Operation cannot be performed on the virtual machine '${name}' because ${operation} is in progress (${state}).`,
  );
}

/** The model after a PUT: what the body says, but for what only Azure writes. */
function nextModel(machine: Machine, body: JsonObject): JsonObject {
  const known = objectAt(machine.model, 'properties');
  const given = objectAt(body, 'properties');
  const writable = Object.entries(given).filter(([field]) => !readOnlyProperties.has(field));
  return {
    ...Object.fromEntries(Object.entries(machine.model).filter(([field]) => readOnly.has(field))),
    ...Object.fromEntries(Object.entries(body).filter(([field]) => !readOnly.has(field))),
    properties: { ...Object.fromEntries(writable), ...storageOf(known, given) },
  };
}

/** Without an image reference the image stays; another one is refused. */
function storageOf(known: JsonObject, given: JsonObject): JsonObject {
  const image = objectAt(known, 'storageProfile', 'imageReference');
  const wanted = given['storageProfile'];
  if (wanted === undefined) return {};
  const other = objectAt(wanted, 'imageReference');
  const isOther = Object.entries(other).some(([field, value]) => field in image && image[field] !== value);
  if (isOther) {
    throw conflict(
      'PropertyChangeNotAllowed',
      "Changing property 'storageProfile.imageReference' is not allowed.",
    );
  }
  return { storageProfile: { ...objectAt(wanted), imageReference: image } };
}

/** The changes of each interface that the model names; interfaces themselves neither come nor go. */
function changesOf(cloud: ArmCloud, machine: Machine, model: JsonObject): readonly ConfigurationChange[] {
  const records = cloud.interfacesOf(machine);
  const profile = objectAt(model, 'properties', 'networkProfileConfiguration');
  const named = new Map<string, Json>(
    listAt(profile, 'networkInterfaceConfigurations').map((item) => [textAt(item, 'name'), item]),
  );
  if (named.size !== records.length || records.some(({ name }) => !named.has(name))) {
    throw conflict(
      'OperationNotAllowed',
      `Adding or removing network interfaces of virtual machine '${machine.name}' requires that it is deallocated.`,
    );
  }
  const primaries = [...named.values()].filter((item) => objectAt(item, 'properties')['primary'] === true);
  if (primaries.length !== 1) {
    throw badRequest(
      'VirtualMachineMustHavePrimaryNetworkInterface',
      `Virtual machine ${machine.path} must have exactly one primary network interface, and has ${primaries.length}.`,
    );
  }
  return records.map((record) =>
    changeOf(cloud, record, listAt(named.get(record.name), 'properties', 'ipConfigurations')),
  );
}
