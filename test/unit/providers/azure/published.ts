// Interfaces of one Azure VM, and what is published of them.
import type { JsonObject } from '../../../../src/runtime/json.ts';
import { applyMergePatch } from '../../../../src/kubernetes/transport/merge-patch.ts';
import { azureSection } from '../../../../src/providers/azure/cilium-node-section.ts';
import {
  emptyInfrastructure,
  type Infrastructure,
} from '../../../../src/providers/contract/infrastructure.ts';
import type { NetworkInterface } from '../../../../src/providers/contract/network-interface.ts';
import { attachment, networkInterface } from '../interfaces.ts';

export const section = azureSection({ of: (id) => id });

const group = '/subscriptions/s/resourceGroups/g/providers';
export const instanceId = `${group.toLowerCase()}/microsoft.compute/virtualmachinescalesets/pool/virtualmachines/3`;
export const network = `${group}/Microsoft.Network/virtualNetworks/net`;
export const subnet = `${network}/subnets/pods`;
export const otherSubnet = `${network}/subnets/more`;

export function idOf(name: string): string {
  return `${group}/Microsoft.Compute/virtualMachineScaleSets/pool/virtualMachines/3/networkInterfaces/${name}`;
}

export const infrastructure: Infrastructure = {
  ...emptyInfrastructure,
  subnets: new Map([
    [
      subnet,
      {
        id: subnet,
        cidr: '10.0.0.0/16',
        networkId: network,
        zone: '',
        tags: {},
        freeAddresses: 9,
        eligible: true,
      },
    ],
  ]),
};

/** An interface as the provider reads it. */
export function nic(name = 'eth0', change: Partial<NetworkInterface> = {}): NetworkInterface {
  return networkInterface({
    id: idOf(name),
    name,
    networkId: network,
    subnetId: subnet,
    zone: '',
    securityGroupIds: [`${group}/Microsoft.Network/networkSecurityGroups/open`],
    attachment: attachment({ id: '', instanceId, deviceIndex: Infinity }),
    ...change,
  });
}

/** What is published of that interface, after a change; null takes a field away. */
export function published(
  name: string,
  addresses: readonly string[] = [],
  change: JsonObject = {},
): JsonObject {
  const full = {
    id: idOf(name),
    name,
    mac: '02:00:00:00:00:01',
    state: 'succeeded',
    ip: '10.0.0.4',
    subnet: { id: subnet, cidr: '10.0.0.0/16' },
    cidr: '10.0.0.0/16',
    gateway: '10.0.0.1',
    'security-group': `${group}/Microsoft.Network/networkSecurityGroups/open`,
    ...(addresses.length > 0 && { addresses: addresses.map((ip) => ({ ip, subnet, state: 'succeeded' })) }),
  };
  return applyMergePatch(full, change) as JsonObject;
}

/** As an operator before 1.20 publishes it: no primary address, and its subnet only with each address. */
export function publishedBefore(
  name: string,
  addresses: readonly string[],
  change: JsonObject = {},
): JsonObject {
  return {
    id: idOf(name),
    name,
    mac: '02:00:00:00:00:01',
    cidr: '10.0.0.0/16',
    gateway: '10.0.0.1',
    GatewayIP: '10.0.0.1',
    addresses: addresses.map((ip) => ({ ip, subnet, state: 'succeeded' })),
    ...change,
  };
}
