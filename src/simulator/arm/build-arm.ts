// Builds an Azure from a topology. Everything it names exists from the start, running and with its addresses.
import type { Random } from '../../runtime/random.ts';
import type { PacedClock } from '../cloud/paced-clock.ts';
import type { JsonObject } from '../workload/json.ts';
import { firstConfigurations } from './address-changes.ts';
import { ArmCloud } from './arm-cloud.ts';
import type { ArmInterface, Machine, ScaleSet } from './arm-records.ts';
import type { ArmTopology, InterfacePlan, MachinePlan } from './arm-topology-schema.ts';
import { changeOf } from './configurations.ts';
import { groupPath, keyOf, machinePath, nameOf, networkPath, scaleSetPath } from './resource-path.ts';

/** Builds a validated topology. Refuses what does not fit, as Azure would (too few addresses in a subnet). */
export function buildArm(options: {
  readonly topology: ArmTopology;
  readonly clock: PacedClock;
  readonly random: Random;
}): ArmCloud {
  const cloud = new ArmCloud(options);
  const { topology } = options;
  for (const { id, groups } of topology.subscriptions) {
    const named = groups.map((name) => [keyOf(groupPath(id, name)), name] as const);
    cloud.subscriptions.set(id.toLowerCase(), new Map(named));
  }
  addNetworks(cloud, topology);
  for (const plan of topology.scaleSets) addScaleSet(cloud, topology, plan);
  for (const plan of topology.machines) {
    for (let made = 0; made < plan.count; made++) {
      const name = plan.count === 1 ? plan.name : `${plan.name}-${made}`;
      addMachine(cloud, topology, plan, { path: machinePath(groupFor(topology, plan), name), name });
    }
  }
  cloud.network.begin();
  return cloud;
}

/** The path of the resource group of a plan: the one it names, or the first. */
export function groupFor(
  topology: ArmTopology,
  plan: { readonly subscription?: string | undefined; readonly group?: string | undefined },
): string {
  const [first] = topology.subscriptions;
  const subscription = plan.subscription ?? first?.id ?? '';
  const known = topology.subscriptions.find(({ id }) => id.toLowerCase() === subscription.toLowerCase());
  return groupPath(subscription, plan.group ?? known?.groups[0] ?? '');
}

function addNetworks(cloud: ArmCloud, topology: ArmTopology): void {
  for (const plan of topology.virtualNetworks) {
    const path = networkPath(groupFor(topology, plan), 'virtualNetworks', plan.name);
    const id = keyOf(path);
    const { name, blocks } = plan;
    const state = 'Succeeded' as const;
    cloud.virtualNetworks.set(id, { id, path, name, blocks, state, etag: cloud.newEtag() });
    const associated = blocks.map((block) => ({ associationId: block, block }));
    cloud.network.put('vpcs', { id, blocks: associated, ipv6Blocks: [], tags: {} });
    for (const subnet of plan.subnets) {
      const subnetPath = `${path}/subnets/${subnet.name}`;
      const subnetId = keyOf(subnetPath);
      const shared = { id: subnetId, block: subnet.block };
      cloud.network.addSubnet({ ...shared, vpcId: id, zone: '', tags: {} });
      cloud.subnets.set(subnetId, {
        ...shared,
        path: subnetPath,
        name: subnet.name,
        listed: subnet.listed,
        networkId: id,
        state,
        etag: cloud.newEtag(),
      });
    }
  }
}

/** The path of a subnet by its name in the topology: `network/subnet`, or the subnet alone. */
export function subnetPathFor(cloud: ArmCloud, text: string): string {
  for (const { path, name, networkId } of cloud.subnets.values()) {
    if (text === name || text === `${nameOf(cloud.virtualNetworks.get(networkId)?.path ?? '')}/${name}`) {
      return path;
    }
  }
  throw new Error(`the topology names the subnet ${JSON.stringify(text)}, which it does not define`);
}

function addScaleSet(cloud: ArmCloud, topology: ArmTopology, plan: ArmTopology['scaleSets'][number]): void {
  const group = groupFor(topology, plan);
  const path = scaleSetPath(group, plan.name);
  const record: ScaleSet = {
    id: keyOf(path),
    path,
    name: plan.name,
    mode: plan.mode,
    etag: '"1"',
    state: 'Succeeded',
    model: {
      location: cloud.location,
      tags: plan.tags,
      ...(plan.zones.length > 0 && { zones: plan.zones }),
      sku: { name: plan.size, tier: 'Standard' },
      properties: { orchestrationMode: plan.mode, upgradePolicy: { mode: 'Manual' } },
    },
  };
  cloud.scaleSets.put(record);
  for (let made = 0; made < plan.count; made++) addInstance(cloud, topology, plan, String(made));
}

/** Adds one machine to a scale set. Its number must be free. */
export function addInstance(
  cloud: ArmCloud,
  topology: ArmTopology,
  plan: ArmTopology['scaleSets'][number],
  instanceId: string,
): Machine {
  const group = groupFor(topology, plan);
  const scaleSet = scaleSetPath(group, plan.name);
  const name = `${plan.name}_${instanceId}`;
  const scaleSetId = keyOf(scaleSet);
  if (plan.mode === 'Flexible') {
    return addMachine(cloud, topology, plan, { path: machinePath(group, name), name, scaleSetId });
  }
  const path = `${scaleSet}/virtualMachines/${instanceId}`;
  return addMachine(cloud, topology, plan, { path, name, scaleSetId, instanceId });
}

interface MachineIdentity {
  readonly path: string;
  readonly name: string;
  readonly scaleSetId?: string;
  readonly instanceId?: string;
}

function addMachine(
  cloud: ArmCloud,
  topology: ArmTopology,
  plan: MachinePlan,
  identity: MachineIdentity,
): Machine {
  const id = keyOf(identity.path);
  const ofUniform = identity.instanceId !== undefined;
  const group = groupFor(topology, plan);
  const interfaces = plan.interfaces.map((each) => ({
    plan: each,
    path: ofUniform
      ? `${identity.path}/networkInterfaces/${each.name}`
      : networkPath(group, 'networkInterfaces', `${identity.name}-${each.name}`),
  }));
  const configurations = interfaces.map((each) => configurationsOf(cloud, group, each.plan));
  const machine: Machine = {
    ...identity,
    id,
    vmId: cloud.newGuid(),
    etag: '"1"',
    state: 'Succeeded',
    power: 'running',
    latestModelApplied: true,
    interfaceIds: interfaces.map(({ path }) => keyOf(path)),
    made: cloud.clock.wall(),
    model: modelOf(cloud, plan, identity, {
      ...(ofUniform && {
        networkProfileConfiguration: {
          networkInterfaceConfigurations: plan.interfaces.map((each, index) =>
            interfaceConfiguration(group, each, index === 0, configurations[index] ?? []),
          ),
        },
      }),
    }),
  };
  cloud.machines.put(machine);
  interfaces.forEach(({ plan: each, path }, index) => {
    const record: ArmInterface = {
      id: keyOf(path),
      path,
      name: nameOf(path),
      machineId: id,
      isPrimary: index === 0,
      mac: cloud.newMac(),
      model: interfaceModel(cloud, group, each, ofUniform),
      configurations: [],
      resourceGuid: cloud.newGuid(),
      etag: cloud.newEtag(),
      state: 'Succeeded',
    };
    const change = changeOf(cloud, record, configurations[index] ?? []);
    cloud.putInterface({ ...record, configurations: firstConfigurations(cloud, change, 'Succeeded') });
  });
  addToNetwork(cloud, machine, plan.size);
  return machine;
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
    state: 'running',
    launchTime: machine.made,
    vpcId: primary?.vpcId ?? '',
    subnetId: primary?.subnetId ?? '',
    zone: '',
    interfaceIds: machine.interfaceIds,
    primaryAddress: primary?.primaryAddress ?? '',
    tags: {},
  });
}

function configurationsOf(cloud: ArmCloud, group: string, plan: InterfacePlan): readonly JsonObject[] {
  const subnet = { id: subnetPathFor(cloud, plan.subnet) };
  const groups = plan.applicationSecurityGroups.map((name) => ({
    id: networkPath(group, 'applicationSecurityGroups', name),
  }));
  const pools = plan.loadBalancerPools.map((text) => {
    const [balancer = '', pool = ''] = text.split('/');
    return { id: `${networkPath(group, 'loadBalancers', balancer)}/backendAddressPools/${pool}` };
  });
  const shared = {
    subnet,
    privateIPAddressVersion: 'IPv4',
    ...(groups.length > 0 && { applicationSecurityGroups: groups }),
  };
  const primary = {
    name: 'ipconfig1',
    properties: {
      primary: true,
      ...shared,
      ...(pools.length > 0 && { loadBalancerBackendAddressPools: pools }),
      ...(plan.publicAddress && {
        publicIPAddressConfiguration: { name: 'public', properties: { idleTimeoutInMinutes: 4 } },
      }),
    },
  };
  const others = Array.from({ length: plan.addresses }, (_, index) => ({
    name: `ipconfig${index + 2}`,
    properties: { primary: false, ...shared },
  }));
  return [primary, ...others];
}

function interfaceConfiguration(
  group: string,
  plan: InterfacePlan,
  isPrimary: boolean,
  configurations: readonly JsonObject[],
): JsonObject {
  return {
    name: plan.name,
    properties: {
      primary: isPrimary,
      enableAcceleratedNetworking: true,
      disableTcpStateTracking: false,
      dnsSettings: { dnsServers: [] },
      enableIPForwarding: true,
      ...securityGroupOf(group, plan),
      ipConfigurations: configurations,
    },
  };
}

function securityGroupOf(group: string, plan: InterfacePlan): JsonObject {
  return plan.securityGroup === undefined
    ? {}
    : { networkSecurityGroup: { id: networkPath(group, 'networkSecurityGroups', plan.securityGroup) } };
}

function interfaceModel(cloud: ArmCloud, group: string, plan: InterfacePlan, ofUniform: boolean): JsonObject {
  return {
    ...(!ofUniform && { location: cloud.location, tags: plan.tags }),
    properties: {
      dnsSettings: { dnsServers: [], appliedDnsServers: [] },
      enableAcceleratedNetworking: true,
      enableIPForwarding: true,
      ...securityGroupOf(group, plan),
    },
  };
}

function modelOf(
  cloud: ArmCloud,
  plan: MachinePlan,
  identity: MachineIdentity,
  network: JsonObject,
): JsonObject {
  const image =
    plan.image === undefined
      ? { publisher: 'Canonical', offer: 'ubuntu-24_04-lts', sku: 'server', version: 'latest' }
      : { id: plan.image };
  return {
    location: cloud.location,
    tags: plan.tags,
    ...(plan.zones.length > 0 && { zones: plan.zones }),
    properties: {
      hardwareProfile: { vmSize: plan.size },
      storageProfile: {
        imageReference: image,
        osDisk: {
          osType: 'Linux',
          name: `${identity.name}_OsDisk`,
          createOption: 'FromImage',
          diskSizeGB: 128,
        },
        dataDisks: [],
      },
      osProfile: {
        computerName: identity.name.replaceAll('_', '-'),
        adminUsername: 'azureuser',
        secrets: [],
      },
      diagnosticsProfile: { bootDiagnostics: { enabled: true } },
      ...network,
    },
  };
}
