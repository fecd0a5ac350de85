// The models of machines and interfaces when they are new, by the plan that a topology has of them.
import type { JsonObject } from '../workload/json.ts';
import type { ArmCloud } from './arm-cloud.ts';
import type { InterfacePlan, MachinePlan } from './arm-topology-schema.ts';
import { nameOf, networkPath } from './resource-path.ts';

/** The primary configuration of an interface, and the others. */
export function configurationsOf(cloud: ArmCloud, group: string, plan: InterfacePlan): readonly JsonObject[] {
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

/** An interface in the model of a machine of a Uniform scale set. */
export function interfaceConfiguration(
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

/** The model of an interface besides its configurations. */
export function interfaceModel(
  cloud: ArmCloud,
  group: string,
  plan: InterfacePlan,
  ofUniform: boolean,
): JsonObject {
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

/** The model of a machine. */
export function modelOf(cloud: ArmCloud, plan: MachinePlan, name: string, network: JsonObject): JsonObject {
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
          name: `${name}_OsDisk`,
          createOption: 'FromImage',
          diskSizeGB: 128,
        },
        dataDisks: [],
      },
      osProfile: {
        computerName: name.replaceAll('_', '-'),
        adminUsername: 'azureuser',
        secrets: [],
      },
      diagnosticsProfile: { bootDiagnostics: { enabled: true } },
      ...network,
    },
  };
}

/** The path of a subnet by its name in the topology: `network/subnet`, or the subnet alone. */
function subnetPathFor(cloud: ArmCloud, text: string): string {
  for (const { path, name, networkId } of cloud.subnets.values()) {
    if (text === name || text === `${nameOf(cloud.virtualNetworks.get(networkId)?.path ?? '')}/${name}`) {
      return path;
    }
  }
  throw new Error(`the topology names the subnet ${JSON.stringify(text)}, which it does not define`);
}
