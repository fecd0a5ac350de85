// Changes of interfaces that are resources of their own: of standalone machines and of Flexible scale sets.
import { type JsonObject, listAt, objectAt, textAt } from '../workload/json.ts';
import {
  beginChanges,
  endChanges,
  firstConfigurations,
  free,
  type OperationFailure,
} from './address-changes.ts';
import type { ArmCloud } from './arm-cloud.ts';
import type { ArmInterface } from './arm-records.ts';
import { badRequest, conflict } from './arm-refusal.ts';
import { changeOf, drops, refuseTooMany } from './configurations.ts';
import { refuseEtag, refuseMatch } from './etags.ts';
import { lossesOf } from './losses.ts';
import type { Operation } from './operations.ts';
import { keyOf, nameOf } from './resource-path.ts';

export interface InterfaceWrite {
  readonly path: string;
  readonly body: JsonObject;
  readonly ifMatch: string | undefined;
  /** The operation is to fail in the end. */
  readonly failure: OperationFailure | undefined;
}

const readOnly = new Set(['id', 'name', 'type', 'etag']);
const readOnlyProperties = new Set([
  'provisioningState',
  'resourceGuid',
  'macAddress',
  'virtualMachine',
  'primary',
  'hostedWorkloads',
  'tapConfigurations',
  'vnetEncryptionSupported',
  'allowPort25Out',
]);

/** Creates an interface or replaces its model. Returns its operation; refuses and changes nothing. */
export function putInterface(cloud: ArmCloud, write: InterfaceWrite): Operation {
  const known = cloud.interfaces.current.get(keyOf(write.path));
  const location = textAt(write.body, 'location');
  if (location === '') {
    throw badRequest('LocationRequired', 'The location property is required for this definition.');
  }
  if (location.toLowerCase().replaceAll(' ', '') !== cloud.location) {
    throw conflict(
      'InvalidResourceLocation',
      `The resource '${nameOf(write.path)}' cannot be in location '${location}'. It belongs to location '${cloud.location}'.`,
    );
  }
  return known === undefined ? createInterface(cloud, write) : updateInterface(cloud, known, write);
}

function updateInterface(cloud: ArmCloud, known: ArmInterface, write: InterfaceWrite): Operation {
  refuseEtag(known, write.ifMatch);
  refuseBusy(known);
  const model = withDnsOfAzure(modelOf(write.body), known.model);
  const change = changeOf(cloud, known, configurationsIn(write));
  refuseTooMany(cloud, cloud.machines.current.get(known.machineId ?? ''), [change]);
  const operation = cloud.beginOperation(known.path, 'Microsoft.Network');
  cloud.onWrite({ path: known.path, lost: lossesOf(known.model, model), drops: drops(change) });
  const started = beginChanges(cloud, [{ ...change, record: { ...known, model } }], operation.id);
  const { failure } = write;
  cloud.after(cloud.times.interfaceMs, () => {
    endChanges(cloud, started, failure);
    cloud.operations.end(operation.id, failure);
  });
  return operation;
}

function createInterface(cloud: ArmCloud, write: InterfaceWrite): Operation {
  const { path, body, failure, ifMatch } = write;
  refuseMatch(path, ifMatch);
  const empty: ArmInterface = {
    id: keyOf(path),
    path,
    name: nameOf(path),
    isPrimary: false,
    mac: '',
    model: modelOf(body),
    configurations: [],
    resourceGuid: cloud.newGuid(),
    etag: cloud.newEtag(),
    state: 'Updating',
  };
  const configurations = firstConfigurations(
    cloud,
    changeOf(cloud, empty, configurationsIn(write)),
    'Updating',
  );
  const operation = cloud.beginOperation(path, 'Microsoft.Network');
  cloud.putInterface({ ...empty, configurations, operationId: operation.id });
  cloud.after(cloud.times.interfaceMs, () => {
    endChanges(
      cloud,
      [{ interfaceId: empty.id, before: empty, added: configurations, dropped: [] }],
      failure,
    );
    cloud.operations.end(operation.id, failure);
  });
  return operation;
}

/** Deletes an interface that no machine has. */
export function deleteInterface(cloud: ArmCloud, record: ArmInterface): Operation {
  const machine = cloud.machines.current.get(record.machineId ?? '');
  if (machine !== undefined) {
    throw badRequest(
      'NicInUse',
      `Network Interface ${record.path} is used by existing resource ${machine.path}. In order to delete the network interface, it must be dissociated from the resource.`,
    );
  }
  refuseBusy(record);
  const operation = cloud.beginOperation(record.path, 'Microsoft.Network');
  cloud.putInterface({ ...record, state: 'Deleting', operationId: operation.id });
  cloud.after(cloud.times.interfaceMs, () => {
    free(cloud, record.configurations);
    cloud.deleteInterface(record);
    cloud.operations.end(operation.id);
  });
  return operation;
}

/** Without an operation of its own, it is updating as long as its machine is being created. */
function refuseBusy({ path, operationId, state }: ArmInterface): void {
  if (operationId === undefined && state !== 'Updating') return;
  const operation = operationId === undefined ? 'creation of its machine' : `operation ${operationId}`;
  throw conflict(
    'AnotherOperationInProgress',
    `Another operation on this or dependent resource is in progress. To retrieve status of the operation use uri: ${path} (${operation}).`,
  );
}

function configurationsIn({ path, body }: InterfaceWrite): ReturnType<typeof listAt> {
  const list = objectAt(body, 'properties')['ipConfigurations'];
  if (Array.isArray(list)) return listAt(body, 'properties', 'ipConfigurations');
  throw badRequest(
    'InvalidRequestFormat',
    `Cannot parse the request: ipConfigurations of ${path} is missing.`,
  );
}

/** The word of Azure on name servers stays, whatever a client writes. */
function withDnsOfAzure(model: JsonObject, known: JsonObject): JsonObject {
  const { appliedDnsServers } = objectAt(known, 'properties', 'dnsSettings');
  const properties = objectAt(model, 'properties');
  const given = properties['dnsSettings'];
  if (given === undefined || appliedDnsServers === undefined) return model;
  return { ...model, properties: { ...properties, dnsSettings: { ...objectAt(given), appliedDnsServers } } };
}

/** The part of a model that a client may write, configurations apart. */
function modelOf(body: JsonObject): JsonObject {
  const { ipConfigurations: _, ...properties } = objectAt(body, 'properties');
  return {
    ...Object.fromEntries(Object.entries(body).filter(([field]) => !readOnly.has(field))),
    properties: Object.fromEntries(
      Object.entries(properties).filter(([field]) => !readOnlyProperties.has(field)),
    ),
  };
}
