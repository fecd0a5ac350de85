// Defines the Azure of the demonstration: Uniform and Flexible scale sets and a VM of its own, with the rate limits,
// latency and lag of Azure. Operations on VMs end ten times faster than in life, as the agents are. Two VMs share a
// subnet with too few addresses.
import { validTopology } from '../demo-cloud.ts';
import { readArmTopology, type ArmTopology } from '../../../simulator/arm/arm-topology.ts';
import type { MachineFacts } from '../../../simulator/cluster/embedded-cluster.ts';
import type { NodeFacts } from '../../../simulator/workload/node-facts.ts';

/** The scale set with 123 addresses for its VMs and their pods, and its number of VMs. */
export const smallSet = { name: 'small', subnet: 'pods-small', nodes: 2 } as const;

/** The permissions of docs/azure-role.json: the controller of the demonstration may do nothing else. */
export const roleOfHeadwater: readonly string[] = [
  'Microsoft.Compute/virtualMachineScaleSets/read',
  'Microsoft.Compute/virtualMachineScaleSets/networkInterfaces/read',
  'Microsoft.Compute/virtualMachineScaleSets/virtualMachines/read',
  'Microsoft.Compute/virtualMachineScaleSets/virtualMachines/write',
  'Microsoft.Compute/virtualMachineScaleSets/virtualMachines/networkInterfaces/read',
  'Microsoft.Compute/virtualMachineScaleSets/virtualMachines/networkInterfaces/ipConfigurations/publicIPAddresses/read',
  'Microsoft.Compute/virtualMachines/read',
  'Microsoft.Compute/diskEncryptionSets/read',
  'Microsoft.Compute/locations/operations/read',
  'Microsoft.ManagedIdentity/userAssignedIdentities/assign/action',
  'Microsoft.Network/locations/operations/read',
  'Microsoft.Network/networkInterfaces/read',
  'Microsoft.Network/networkInterfaces/write',
  'Microsoft.Network/virtualNetworks/subnets/read',
  'Microsoft.Network/virtualNetworks/subnets/join/action',
  'Microsoft.Network/publicIPPrefixes/read',
  'Microsoft.Network/publicIPPrefixes/join/action',
  'Microsoft.Network/networkSecurityGroups/join/action',
  'Microsoft.Network/applicationSecurityGroups/joinIpConfiguration/action',
  'Microsoft.Network/publicIPAddresses/join/action',
  'Microsoft.Network/loadBalancers/backendAddressPools/join/action',
  'Microsoft.Network/loadBalancers/inboundNatPools/join/action',
  'Microsoft.Network/loadBalancers/inboundNatRules/join/action',
  'Microsoft.Network/applicationGateways/backendAddressPools/join/action',
];

export const subscription = '00000000-0000-0000-0000-000000000001';

/** The agent configuration of each machine. */
export function configureAzureNode(facts: MachineFacts, index: number): NodeFacts {
  return { ...facts, protocol: index % 2 === 0 ? 'crd-allocator' : 'multi-pool' };
}

export function azureTopology(nodes: number, seed: string): ArmTopology {
  const flexible = Math.max(1, Math.floor((nodes - smallSet.nodes) / 5));
  const standalone = nodes > 4 ? 1 : 0;
  const uniform = nodes - smallSet.nodes - flexible - standalone;
  const inNodes = [
    { name: 'nic0', subnet: 'nodes', securityGroup: 'nodes', applicationSecurityGroups: ['pods'] },
  ];
  const read = readArmTopology(
    JSON.stringify({
      cloud: 'azure',
      seed,
      subscriptions: [{ id: subscription, groups: ['MC_production', 'network'] }],
      principals: [
        {
          name: 'headwater',
          clientId: '00000000-0000-0000-0000-0000000000cc',
          secret: 'headwater-example-secret',
          roles: ['MC_production', 'network'].map((group) => ({
            scope: `/subscriptions/${subscription}/resourceGroups/${group}`,
            actions: roleOfHeadwater,
          })),
        },
      ],
      virtualNetworks: [
        {
          name: 'production',
          group: 'network',
          blocks: ['10.20.0.0/16'],
          subnets: [
            { name: 'nodes', block: '10.20.0.0/18' },
            { name: smallSet.subnet, block: '10.20.128.0/25' },
          ],
        },
      ],
      scaleSets: [
        {
          name: smallSet.name,
          count: smallSet.nodes,
          interfaces: [{ name: 'nic0', subnet: smallSet.subnet }],
        },
        { name: 'uniform', count: uniform, interfaces: inNodes },
        { name: 'flexible', mode: 'Flexible', count: flexible, interfaces: inNodes },
      ].filter(({ count }) => count > 0),
      machines: standalone === 0 ? [] : [{ name: 'single', interfaces: inNodes }],
      times: { machineMs: { min: 1000, max: 6000 }, interfaceMs: { min: 300, max: 2000 } },
      operations: { retryAfter: 1 },
    }),
  );
  return validTopology(read);
}
