// Causes that a check names on Azure, each staged by itself.
import { describe, expect, test } from '@jest/globals';
import type { Principal } from '../../../src/simulator/arm/principals.ts';
import { controllerPrincipal, scaleSet, testAzure } from '../../support/azure-cloud.ts';
import { AzureClusterWorld } from '../../support/azure-cluster-world.ts';
import { checkedWorld } from '../../support/checked-world.ts';
import { agentCauses, playWell } from './staged-agent-causes.ts';
import { type Causes, clusterCauses, playCauses, type Stage } from './staged-causes.ts';

const make = (): AzureClusterWorld =>
  new AzureClusterWorld({
    cloud: testAzure({
      respelled: 0,
      scaleSets: [scaleSet({ count: 3 })],
      publicIpPrefixes: [{ name: 'egress', block: '203.0.113.0/30', tags: { pool: 'egress' } }],
    }),
  });

/** The identity may do everything but these. */
const denying =
  (...notActions: readonly string[]) =>
  ({ world }: Pick<Stage<AzureClusterWorld>, 'world'>): void => {
    const { principals } = world.cluster.arm.gateway.tokens;
    const roles: Principal['roles'] = [{ scope: '/', actions: ['*'], notActions: [...notActions] }];
    const principal = principals.find(({ name }) => name === controllerPrincipal);
    Object.assign(principal ?? {}, { roles });
  };

const causes: Causes<AzureClusterWorld> = {
  ...clusterCauses({
    section: 'azure',
    operator: 'cilium-operator-azure',
    allocator: [/^problem other programs: azure-cns runs on 1 node /, { 'k8s-app': 'azure-cns' }],
    most: 255,
    releases: 'azure-release-excess-ips',
  }),
  ...agentCauses,
  'credentials that the cloud refuses': {
    stage: ({ world }) =>
      void world.fault('Subscriptions.List', {
        kind: 'error',
        code: 'InvalidAuthenticationToken',
        status: 401,
        message: 'no',
      }),
    row: /^problem cloud: Subscriptions\.List failed: InvalidAuthenticationToken/,
  },
  'cloud that does not answer': {
    stage: ({ world }) =>
      void world.fault('Subscriptions.List', {
        kind: 'error',
        code: 'ServiceUnavailable',
        status: 503,
        message: 'no',
      }),
    row: /^unknown cloud: Subscriptions\.List failed: ServiceUnavailable/,
  },
  'read that is throttled': {
    stage: ({ world }) => void world.fault('Permissions.ListForResource', { kind: 'throttle' }),
    row: /^unknown permissions in the cloud: Microsoft\..* was not answered: TooManyRequests/,
  },
  'read of interfaces that is denied': {
    stage: denying('*/virtualMachines/networkInterfaces/read'),
    row: /^problem permissions in the cloud: Interfaces\.\w+ failed: AuthorizationFailed/,
  },
  'read of subnets that is denied': {
    stage: denying('Microsoft.Network/virtualNetworks/subnets/read'),
    row: /^problem permissions in the cloud: Subnets\.Get failed: AuthorizationFailed/,
  },
  'change of instances that is denied': {
    stage: denying('Microsoft.Compute/virtualMachineScaleSets/virtualMachines/write'),
    row: /^problem permissions in the cloud: Microsoft\.Compute\/\S+\/virtualMachines\/write at pool\/0 is denied/,
  },
  'use of the subnet that is denied': {
    stage: denying('*/subnets/join/action'),
    row: /^problem permissions in the cloud: Microsoft\.Network\/\S+\/join\/action at main\/pods is denied/,
  },
  'use of a public IP prefix that is denied': {
    stage: async ({ world, one }) => {
      await world.patch(one, { spec: { ipam: { 'static-ip-tags': { pool: 'egress' } } } });
      denying('*/publicIPPrefixes/join/action')({ world });
    },
    row: /^problem permissions in the cloud: Microsoft\.Network\/publicIPPrefixes\/join\/action at egress is denied/,
  },
  'question about permissions that is denied': {
    stage: denying('Microsoft.Authorization/permissions/read'),
    row: /^warning permissions in the cloud: Microsoft\..* may not be asked about: AuthorizationFailed/,
  },
  'instance that is gone': {
    stage: ({ world, two }) =>
      world.announce({ ...two, name: 'gone', instanceId: two.instanceId.replace(/\d+$/, '9') }),
    row: /^problem instances: the cloud does not show 1 instance /,
  },
  'subscription that is not served': {
    stage: () => ({ 'azure-subscription-id': '00000000-0000-0000-0000-000000000009' }),
    row: /^warning instances: 2 instances .* are not served: /,
  },
  'resource group that is not served': {
    stage: () => ({ 'azure-resource-group': 'elsewhere' }),
    row: /^warning instances: 2 instances .* are not served: /,
  },
};

describe('a check on Azure names', () => {
  playCauses(make, causes);
});

describe('a check on Azure finds nothing wrong with', () => {
  playWell(make);
});

describe('a check on Azure', () => {
  test.each<[string, number, RegExp]>([
    [
      'nearly full',
      10,
      /^warning subnets: interfaces of nodes are in .*\/pods \(10\.0\.16\.0\/28\), where 1 of 16 /,
    ],
    ['full', 11, /^problem subnets: no address is left in .*\/pods$/],
  ])('names a subnet that is %s', async (_, count, row) => {
    const subnets = [{ name: 'pods', block: '10.0.16.0/28' }];
    const virtualNetworks = [{ name: 'main', blocks: ['10.0.0.0/16'], subnets }];
    const world = new AzureClusterWorld({
      cloud: testAzure({ virtualNetworks, scaleSets: [scaleSet({ count })] }),
    });
    for (const machine of world.machines) await world.announce(machine);

    expect((await checkedWorld(world)).wrong).toEqual([expect.stringMatching(row)]);
  });
});
