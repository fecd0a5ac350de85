import { describe, expect, test } from '@jest/globals';
import type { Principal } from '../../../src/simulator/arm/principals.ts';
import { AzureClusterWorld } from '../../support/azure-cluster-world.ts';
import { type JsonObject, objectAt } from '../../../src/simulator/workload/json.ts';
import { controllerPrincipal, scaleSet, testAzure } from '../../support/azure-cloud.ts';
import { azureRole } from '../../support/azure-role.ts';
import { startController, type WorldController } from '../../support/world-controller.ts';

const minute = 60_000;
const flags = { 'azure-release-excess-ips': 'true', 'excess-ip-release-delay': '30s' };

/** What happens while the permission is missing. */
interface Case {
  /** Whether the error of a node says the reason. The log says it for all. */
  readonly isShown?: true;
  /** Nodes of the scale set, and the one of its own, that have addresses meanwhile. */
  readonly served: readonly [number, number];
  /** VMs whose nodes stay. */
  readonly lost?: 'one of the scale set' | 'the one of its own';
}

const everybody = [2, 1] as const;
const nobody: Case = { served: [0, 0], isShown: true };
const onlyItsOwn: Case = { served: [0, 1], isShown: true };
const onlyTheSet: Case = { served: [2, 0], isShown: true };

const cases: Readonly<Record<string, Case>> = {
  'Microsoft.Compute/virtualMachineScaleSets/read': { served: everybody, lost: 'one of the scale set' },
  'Microsoft.Compute/virtualMachineScaleSets/networkInterfaces/read': { served: everybody },
  'Microsoft.Compute/virtualMachineScaleSets/virtualMachines/read': onlyItsOwn,
  'Microsoft.Compute/virtualMachineScaleSets/virtualMachines/write': onlyItsOwn,
  'Microsoft.Compute/virtualMachineScaleSets/virtualMachines/networkInterfaces/read': { served: everybody },
  'Microsoft.Compute/virtualMachineScaleSets/virtualMachines/networkInterfaces/ipConfigurations/publicIPAddresses/read':
    { served: everybody },
  'Microsoft.Compute/diskEncryptionSets/read': onlyItsOwn,
  'Microsoft.ManagedIdentity/userAssignedIdentities/assign/action': onlyItsOwn,
  'Microsoft.Compute/virtualMachines/read': { served: everybody, lost: 'the one of its own' },
  'Microsoft.Network/networkInterfaces/read': { served: [2, 0] },
  'Microsoft.Network/networkInterfaces/write': { served: [2, 0], isShown: true },
  'Microsoft.Network/virtualNetworks/subnets/read': { served: [0, 0] },
  'Microsoft.Network/virtualNetworks/subnets/join/action': nobody,
  'Microsoft.Network/publicIPPrefixes/read': { served: everybody, isShown: true },
  'Microsoft.Network/publicIPPrefixes/join/action': { served: everybody, isShown: true },
  'Microsoft.Network/networkSecurityGroups/join/action': nobody,
  'Microsoft.Network/applicationSecurityGroups/joinIpConfiguration/action': nobody,
  'Microsoft.Network/publicIPAddresses/join/action': onlyTheSet,
  'Microsoft.Network/loadBalancers/backendAddressPools/join/action': nobody,
  'Microsoft.Network/loadBalancers/inboundNatPools/join/action': onlyItsOwn,
  'Microsoft.Network/loadBalancers/inboundNatRules/join/action': onlyTheSet,
  'Microsoft.Network/applicationGateways/backendAddressPools/join/action': nobody,
};

const nic = {
  name: 'nic0',
  subnet: 'pods',
  securityGroup: 'nodes',
  applicationSecurityGroups: ['pods'],
  loadBalancerPools: ['front/nodes'],
};

const network =
  '/subscriptions/00000000-0000-0000-0000-000000000001/resourceGroups/nodes/providers/Microsoft.Network';
const gatewayPools = {
  applicationGatewayBackendAddressPools: [
    { id: `${network}/applicationGateways/front/backendAddressPools/nodes` },
  ],
};
/** What the primary configurations link to besides. */
const linksOfSet: JsonObject = {
  ...gatewayPools,
  loadBalancerInboundNatPools: [{ id: `${network}/loadBalancers/front/inboundNatPools/ssh` }],
};
const linksOfItsOwn: JsonObject = {
  ...gatewayPools,
  loadBalancerInboundNatRules: [{ id: `${network}/loadBalancers/front/inboundNatRules/ssh` }],
  publicIPAddress: { id: `${network}/publicIPAddresses/single` },
};

const compute = network.replace('Microsoft.Network', 'Microsoft.Compute');
const identity = {
  type: 'UserAssigned',
  userAssignedIdentities: {
    [compute.replace(/Compute$/, 'ManagedIdentity/userAssignedIdentities/kubelet')]: {},
  },
};
const encrypted = { diskEncryptionSet: { id: `${compute}/diskEncryptionSets/nodes` } };

/** As those of AKS have an identity, and a disk that a key of ours encrypts. */
function withIdentityAndKey(model: JsonObject): JsonObject {
  const properties = objectAt(model, 'properties');
  const profile = objectAt(properties, 'storageProfile');
  const osDisk = { ...objectAt(profile, 'osDisk'), managedDisk: encrypted };
  return { ...model, identity, properties: { ...properties, storageProfile: { ...profile, osDisk } } };
}

/** Another client links the VMs and the interfaces of all nodes to more. */
async function linkMore(world: AzureClusterWorld): Promise<void> {
  const { cloud } = world.cluster.arm;
  for (const machine of cloud.machines.current.values())
    cloud.machines.put({ ...machine, model: withIdentityAndKey(machine.model) });
  for (const machine of cloud.machines.current.values()) {
    const isOfSet = machine.instanceId !== undefined;
    const path = isOfSet ? machine.path : (cloud.interfacesOf(machine)[0]?.path ?? '');
    const links = isOfSet ? linksOfSet : linksOfItsOwn;
    const changed = world.hand.change(path, ([first = {}, ...others]) => [
      { ...objectAt(first), properties: { ...objectAt(first, 'properties'), ...links } },
      ...others,
    ]);
    await world.advance(minute);
    expect(await changed).toBeLessThan(300);
  }
  await world.advance(4 * minute);
}

interface Played {
  readonly world: AzureClusterWorld;
  readonly controller: WorldController;
  readonly allow: (actions: readonly string[]) => void;
}

/** Two nodes of a scale set and one of its own; one of each asks for more later, and one for a public address. */
async function play(actions: readonly string[], { lost }: Case): Promise<Played> {
  const world = new AzureClusterWorld({
    cloud: testAzure({
      scaleSets: [scaleSet({ count: 2, interfaces: [nic] })],
      machines: [{ name: 'single', interfaces: [nic] }],
      publicIpPrefixes: [{ name: 'egress', block: '203.0.113.0/30', tags: { pool: 'egress' } }],
    }),
  });
  const { gateway } = world.cluster.arm;
  const principal = gateway.tokens.principals.find(({ name }) => name === controllerPrincipal);
  if (principal === undefined) throw new Error('the cloud has no such principal');
  const allow = (allowed: readonly string[]): void => {
    const roles: Principal['roles'] = [{ scope: '/', actions: [...allowed] }];
    Object.assign(principal, { roles });
  };
  await linkMore(world);
  allow(actions);
  const controller = startController(world, { flags });
  const [first] = world.machines;
  for (const machine of world.machines)
    await world.announce(machine, {
      spec: { ipam: machine === first ? { 'static-ip-tags': { pool: 'egress' } } : {} },
    });
  await world.advance(5 * minute);
  const gone = world.machines.find(({ instanceId }) =>
    lost === 'the one of its own' ? instanceId.endsWith('single') : instanceId.endsWith('/1'),
  );
  if (lost !== undefined && gone !== undefined)
    void world.hand.send('DELETE', world.cluster.arm.cloud.machine(gone.instanceId).path);
  await world.advance(15 * minute);
  return { world, controller, allow };
}

function served(world: AzureClusterWorld): readonly [number, number] {
  const full = world.machines.filter((machine) => world.pool(machine).size >= 8);
  const single = full.filter(({ instanceId }) => instanceId.endsWith('single'));
  return [full.length - single.length, single.length];
}

function errors(world: AzureClusterWorld): string {
  return world.machines.map((machine) => world.operatorError(machine)).join('; ');
}

describe('the shipped role of Azure', () => {
  // The model lets those follow a change who may make it.
  test.each(azureRole.filter((action) => !action.includes('/locations/')))(
    'allows %s because Headwater needs it and names it when it is denied',
    async (action) => {
      const each = cases[action];
      if (each === undefined) throw new Error(`no case needs ${action}`);
      const remedy = `allow ${action} to Headwater's role`;
      const played = await play(
        azureRole.filter((other) => other !== action),
        each,
      );
      const { world, controller, allow } = played;
      const during = {
        denied: controller.controller.status().denied,
        shown: each.isShown === true ? errors(world) : remedy,
        served: served(world),
      };
      allow(azureRole);
      await world.advance(25 * minute);

      expect(during.denied).toEqual([expect.objectContaining({ permission: action, remedy })]);
      expect(during.shown).toContain(remedy);
      expect(during.served).toEqual(each.served);
      const warned = controller.logged.filter(({ message }) => message === 'missing cloud permission');
      expect(warned.map(({ details }) => details['permission'])).toEqual([action]);
      expect(controller.controller.status().denied).toEqual([]);
      expect(world.broken()).toEqual([]);
    },
  );
});
