// How resources look in answers.
import { type JsonObject, objectAt, textAt } from '../workload/json.ts';
import { capacityOf } from './address-changes.ts';
import type { ArmCloud } from './arm-cloud.ts';
import type {
  ArmInterface,
  ArmSubnet,
  Configuration,
  Machine,
  PublicAddress,
  PublicIpPrefix,
  ScaleSet,
  VirtualNetwork,
} from './arm-records.ts';
import { publicAddressPath } from './public-addresses.ts';
import { nameOf, parentOf } from './resource-path.ts';

/** The most configurations of a subnet that Azure lists; with more, it leaves out the list. */
const maxListed = 5000;

export function renderMachine(cloud: ArmCloud, machine: Machine, withView: boolean): JsonObject {
  const { path, name, model, instanceId, etag } = machine;
  const properties = objectAt(model, 'properties');
  const interfaces = cloud.interfacesOf(machine);
  return {
    name,
    id: path,
    ...(instanceId === undefined
      ? { type: 'Microsoft.Compute/virtualMachines' }
      : {
          instanceId,
          type: 'Microsoft.Compute/virtualMachineScaleSets/virtualMachines',
          sku: { name: textAt(properties, 'hardwareProfile', 'vmSize'), tier: 'Standard' },
        }),
    ...model,
    etag,
    properties: {
      ...properties,
      ...(machine.instanceId === undefined
        ? scaleSetOf(cloud, machine)
        : {
            latestModelApplied: machine.latestModelApplied,
            modelDefinitionApplied: 'VirtualMachineScaleSet',
          }),
      networkProfile: {
        ...objectAt(properties, 'networkProfile'),
        networkInterfaces: interfaces.map((each) => ({
          id: each.path,
          properties: { primary: each.isPrimary },
        })),
      },
      vmId: machine.vmId,
      timeCreated: new Date(machine.made).toISOString(),
      provisioningState: machine.state,
      ...(withView && { instanceView: renderView(machine) }),
    },
  };
}

/** States as Azure lists them: how the last change ended, and whether the machine runs. */
export function renderView(machine: Machine): JsonObject {
  const { state, failure, power } = machine;
  const provisioning =
    failure === undefined
      ? {
          code: `ProvisioningState/${state.toLowerCase()}`,
          level: 'Info',
          displayStatus: `Provisioning ${state.toLowerCase()}`,
        }
      : {
          code: `ProvisioningState/failed/${failure.code}`,
          level: 'Error',
          displayStatus: 'Provisioning failed',
          message: failure.message,
        };
  return {
    vmAgent: { vmAgentVersion: '2.11.1.4', statuses: [] },
    statuses: [provisioning, { code: `PowerState/${power}`, level: 'Info', displayStatus: `VM ${power}` }],
  };
}

function scaleSetOf(cloud: ArmCloud, { scaleSetId }: Machine): JsonObject {
  const scaleSet = cloud.scaleSets.current.get(scaleSetId ?? '');
  return scaleSet === undefined ? {} : { virtualMachineScaleSet: { id: scaleSet.path } };
}

export function renderScaleSet(cloud: ArmCloud, scaleSet: ScaleSet): JsonObject {
  const { path, name, model, etag, state } = scaleSet;
  let capacity = 0;
  for (const { scaleSetId } of cloud.machines.current.values()) if (scaleSetId === scaleSet.id) capacity += 1;
  return {
    name,
    id: path,
    type: 'Microsoft.Compute/virtualMachineScaleSets',
    ...model,
    etag,
    sku: { ...objectAt(model, 'sku'), capacity },
    properties: {
      ...objectAt(model, 'properties'),
      provisioningState: state,
      singlePlacementGroup: false,
      overprovision: false,
    },
  };
}

export function renderInterface(cloud: ArmCloud, record: ArmInterface): JsonObject {
  const { path, name, model, etag, state, mac, machineId } = record;
  const machine = cloud.machines.current.get(machineId ?? '');
  return {
    name,
    id: path,
    etag,
    ...model,
    ...('location' in model && { type: 'Microsoft.Network/networkInterfaces' }),
    properties: {
      ...objectAt(model, 'properties'),
      provisioningState: state,
      resourceGuid: record.resourceGuid,
      ipConfigurations: record.configurations.map((each) => renderConfiguration(cloud, record, each)),
      ...(mac !== '' && { macAddress: mac }),
      primary: record.isPrimary,
      ...(machine !== undefined && { virtualMachine: { id: machine.path } }),
      hostedWorkloads: [],
      tapConfigurations: [],
      nicType: 'Standard',
    },
  };
}

function renderConfiguration(
  cloud: ArmCloud,
  record: ArmInterface,
  configuration: Configuration,
): JsonObject {
  const { name, etag, state, address, isPrimary, properties } = configuration;
  const { publicIPAddressConfiguration: _, ...own } = properties;
  const publicPath = publicAddressPath(cloud, record, configuration);
  return {
    name,
    id: `${record.path}/ipConfigurations/${name}`,
    etag,
    ...('location' in record.model && { type: 'Microsoft.Network/networkInterfaces/ipConfigurations' }),
    properties: {
      ...own,
      // Azure shows the state of the interface for all of its configurations.
      provisioningState: record.state === 'Succeeded' ? state : record.state,
      ...(address !== undefined && { privateIPAddress: address }),
      privateIPAllocationMethod: textAt(properties, 'privateIPAllocationMethod') || 'Dynamic',
      ...(publicPath !== undefined && { publicIPAddress: { id: publicPath } }),
      subnet: { id: cloud.subnets.get(configuration.subnetId)?.path ?? '' },
      primary: isPrimary,
      privateIPAddressVersion: textAt(properties, 'privateIPAddressVersion') || 'IPv4',
    },
  };
}

export function renderNetwork(cloud: ArmCloud, network: VirtualNetwork): JsonObject {
  const subnets = [...cloud.subnets.values()].filter(({ networkId }) => networkId === network.id);
  return {
    name: network.name,
    id: network.path,
    etag: network.etag,
    type: 'Microsoft.Network/virtualNetworks',
    location: cloud.location,
    properties: {
      provisioningState: network.state,
      addressSpace: { addressPrefixes: network.blocks },
      subnets: subnets.map((subnet) => renderSubnet(cloud, subnet)),
      virtualNetworkPeerings: [],
      enableDdosProtection: false,
    },
  };
}

export function renderSubnet(cloud: ArmCloud, subnet: ArmSubnet): JsonObject {
  const held = capacityOf(subnet.block) - cloud.network.space(subnet.id).available;
  return {
    name: subnet.name,
    id: subnet.path,
    etag: subnet.etag,
    type: 'Microsoft.Network/virtualNetworks/subnets',
    properties: {
      provisioningState: subnet.state,
      ...(subnet.listed || subnet.otherPrefixes.length > 0
        ? { addressPrefixes: [...subnet.otherPrefixes, subnet.block] }
        : { addressPrefix: subnet.block }),
      ...(held > 0 && held <= maxListed && { ipConfigurations: configurationsIn(cloud, subnet.id) }),
      delegations: [],
      privateEndpointNetworkPolicies: 'Disabled',
      privateLinkServiceNetworkPolicies: 'Enabled',
    },
  };
}

function configurationsIn(cloud: ArmCloud, subnetId: string): readonly JsonObject[] {
  return [...cloud.interfaces.current.values()].flatMap(({ path, configurations }) =>
    configurations
      .filter((each) => each.subnetId === subnetId)
      .map(({ name }) => ({ id: `${path}/ipConfigurations/${name}` })),
  );
}

export function renderPrefix(cloud: ArmCloud, prefix: PublicIpPrefix): JsonObject {
  const given = [...cloud.publicAddresses.values()].filter(({ prefixId }) => prefixId === prefix.id);
  return {
    name: prefix.name,
    id: prefix.path,
    etag: prefix.etag,
    type: 'Microsoft.Network/publicIPPrefixes',
    location: cloud.location,
    tags: prefix.tags,
    sku: { name: 'Standard', tier: 'Regional' },
    properties: {
      provisioningState: prefix.state,
      publicIPAddressVersion: 'IPv4',
      prefixLength: Number(prefix.block.split('/')[1]),
      ipPrefix: prefix.block,
      ...(given.length > 0 && { publicIPAddresses: given.map(({ path }) => ({ id: path })) }),
    },
  };
}

export function renderPublicAddress(cloud: ArmCloud, { path, address, prefixId }: PublicAddress): JsonObject {
  return {
    name: nameOf(path),
    id: path,
    properties: {
      provisioningState: 'Succeeded',
      ipAddress: address,
      publicIPAddressVersion: 'IPv4',
      publicIPAllocationMethod: 'Static',
      publicIPPrefix: { id: cloud.publicIpPrefixes.get(prefixId)?.path ?? '' },
      ipConfiguration: { id: parentOf(path) },
    },
  };
}
