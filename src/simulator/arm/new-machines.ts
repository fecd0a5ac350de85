// Adds machines with their interfaces, by the plan that a topology has of them. One that is added while the cloud runs
// is being created until it is started; its addresses are taken from the beginning.
import { type StartedChange, endChanges, firstConfigurations, free } from './address-changes.ts';
import type { ArmCloud } from './arm-cloud.ts';
import type { ArmInterface, Machine } from './arm-records.ts';
import type { InterfacePlan, MachinePlan } from './arm-topology-schema.ts';
import { changeOf } from './configurations.ts';
import { configurationsOf, interfaceConfiguration, interfaceModel, modelOf } from './machine-models.ts';
import { groupOf, keyOf, machinePath, nameOf, networkPath } from './resource-path.ts';

export interface NewMachine {
  readonly plan: MachinePlan;
  /** Path of its resource group. */
  readonly group: string;
  readonly path: string;
  readonly name: string;
  readonly scaleSetId?: string;
  /** Its number in a Uniform scale set. */
  readonly instanceId?: string;
}

/** Adds one machine to a scale set, with a number that none has had. */
export function addInstance(cloud: ArmCloud, scaleSetId: string): Machine {
  const scaleSet = cloud.scaleSets.current.get(scaleSetId);
  if (scaleSet === undefined) throw new Error(`no such scale set: ${scaleSetId}`);
  const { plan, made, mode, path } = scaleSet;
  const group = groupOf(path);
  const shared = { plan, group, name: `${plan.name}_${made}`, scaleSetId };
  const machine = addMachine(
    cloud,
    mode === 'Uniform'
      ? { ...shared, instanceId: String(made), path: `${path}/virtualMachines/${made}` }
      : { ...shared, path: machinePath(group, shared.name) },
  );
  cloud.scaleSets.put({ ...scaleSet, made: made + 1 });
  return machine;
}

/** Adds a machine, or refuses and takes nothing. */
export function addMachine(cloud: ArmCloud, wanted: NewMachine): Machine {
  const { plan, group, ...identity } = wanted;
  const isNew = cloud.network.started;
  const interfaces = newInterfaces(cloud, wanted);
  const ofUniform = wanted.instanceId !== undefined;
  const machine: Machine = {
    ...identity,
    id: keyOf(wanted.path),
    vmId: cloud.newGuid(),
    etag: '"1"',
    state: isNew ? 'Creating' : 'Succeeded',
    power: isNew ? 'starting' : 'running',
    latestModelApplied: true,
    interfaceIds: interfaces.map(({ id }) => id),
    made: cloud.clock.wall(),
    model: modelOf(cloud, plan, wanted.name, {
      ...(ofUniform && {
        networkProfileConfiguration: {
          networkInterfaceConfigurations: plan.interfaces.map((each, index) =>
            interfaceConfiguration(group, each, index === 0, configurationsOf(cloud, group, each)),
          ),
        },
      }),
    }),
  };
  cloud.machines.put(machine);
  for (const record of interfaces) cloud.putInterface(record);
  addToNetwork(cloud, machine, plan.size);
  return machine;
}

/** Starts a machine that was added while the cloud runs. */
export function start(cloud: ArmCloud, machineId: string): void {
  const machine = cloud.machines.current.get(machineId);
  if (machine?.state !== 'Creating') return;
  cloud.machines.put({ ...machine, state: 'Succeeded', power: 'running' });
  const started = cloud.interfacesOf(machine).map((record): StartedChange => {
    cloud.interfaces.put({ ...record, mac: cloud.newMac() });
    return { interfaceId: record.id, before: record, added: [], dropped: [] };
  });
  endChanges(cloud, started, undefined);
  const instance = cloud.network.instances.get(machineId);
  if (instance !== undefined) cloud.network.put('instances', { ...instance, state: 'running' });
}

/** The interfaces of a new machine with their addresses; refuses and takes nothing. */
function newInterfaces(cloud: ArmCloud, wanted: NewMachine): readonly ArmInterface[] {
  const made: ArmInterface[] = [];
  try {
    for (const [index, plan] of wanted.plan.interfaces.entries()) {
      const record = newInterface(cloud, wanted, plan, index === 0);
      const change = changeOf(cloud, record, configurationsOf(cloud, wanted.group, plan));
      const configurations = firstConfigurations(cloud, change, record.state);
      made.push({ ...record, configurations });
    }
    return made;
  } catch (refusal) {
    for (const { configurations } of made) free(cloud, configurations);
    throw refusal;
  }
}

function newInterface(
  cloud: ArmCloud,
  { path, name, group, instanceId }: NewMachine,
  plan: InterfacePlan,
  isPrimary: boolean,
): ArmInterface {
  const ofUniform = instanceId !== undefined;
  const own = ofUniform
    ? `${path}/networkInterfaces/${plan.name}`
    : networkPath(group, 'networkInterfaces', `${name}-${plan.name}`);
  const isNew = cloud.network.started;
  return {
    id: keyOf(own),
    path: own,
    name: nameOf(own),
    machineId: keyOf(path),
    isPrimary,
    mac: isNew ? '' : cloud.newMac(),
    model: interfaceModel(cloud, group, plan, ofUniform),
    configurations: [],
    resourceGuid: cloud.newGuid(),
    etag: cloud.newEtag(),
    state: isNew ? 'Updating' : 'Succeeded',
  };
}

/** The machine as every cloud's checks see it. */
function addToNetwork(cloud: ArmCloud, machine: Machine, size: string): void {
  const [primary] = cloud.interfacesOf(machine).map(({ id }) => cloud.network.interfaces.get(id));
  cloud.network.put('instances', {
    id: machine.id,
    name: machine.name,
    reservationId: machine.vmId,
    launchIndex: 0,
    type: size,
    imageId: '',
    state: machine.state === 'Creating' ? 'pending' : 'running',
    launchTime: machine.made,
    vpcId: primary?.vpcId ?? '',
    subnetId: primary?.subnetId ?? '',
    zone: '',
    interfaceIds: machine.interfaceIds,
    primaryAddress: primary?.primaryAddress ?? '',
    tags: {},
  });
}
