import { describe, expect, test } from '@jest/globals';
import {
  instanceIdOf,
  parseInstanceId,
  parseInterfaceId,
  parseSubnetId,
} from '../../../../src/providers/azure/ids.ts';

const group = '/subscriptions/0000-1/resourceGroups/MC_rg';

describe('a provider ID', () => {
  test.each([
    [
      `azure:///subscriptions/0000-1/resourceGroups/MC_RG/providers/Microsoft.Compute/virtualMachineScaleSets/Pool/virtualMachines/3`,
      '/subscriptions/0000-1/resourcegroups/mc_rg/providers/microsoft.compute/virtualmachinescalesets/pool/virtualmachines/3',
    ],
    [
      `AZURE:///subscriptions/0000-1/resourceGroups/rg/providers/Microsoft.Compute/virtualMachines/vm-a_0`,
      '/subscriptions/0000-1/resourcegroups/rg/providers/microsoft.compute/virtualmachines/vm-a_0',
    ],
    ['aws:///eu-west-1a/i-0123456789abcdef0', undefined],
    [
      'azure:///subscriptions/0000-1/resourceGroups/rg/providers/Microsoft.ContainerInstance/containerGroups/x',
      undefined,
    ],
    ['azure:///subscriptions/0000-1', undefined],
    ['azure://', undefined],
    ['', undefined],
  ])('%s names the instance %s', (providerId, id) => {
    expect(instanceIdOf(providerId)).toBe(id);
  });
});

describe('an instance id', () => {
  test('of a scale set is read in its parts', () => {
    expect(
      parseInstanceId(
        '/Subscriptions/S/ResourceGroups/G/providers/Microsoft.Compute/virtualMachineScaleSets/P/virtualMachines/3',
      ),
    ).toEqual({ kind: 'scaleSetVm', subscriptionId: 's', resourceGroup: 'g', scaleSet: 'p', number: '3' });
  });

  test.each([
    '/subscriptions/s/resourceGroups/g/providers/Microsoft.Compute/virtualMachineScaleSets/p',
    '/subscriptions/s/resourceGroups/g/providers/Microsoft.Compute/virtualMachines/',
    '/subscriptions/s/resourceGroups/g/providers/Microsoft.Compute/virtualMachines/a?b',
    '/subscriptions//resourceGroups/g/providers/Microsoft.Compute/virtualMachines/a',
    'subscriptions/s/resourceGroups/g/providers/Microsoft.Compute/virtualMachines/a',
    '/subscriptions/s/resourceGroups/g/providers/Microsoft.Compute/virtualMachines/a/b',
  ])('is not %s', (text) => {
    expect(parseInstanceId(text)).toBeUndefined();
  });
});

describe('other ids', () => {
  test('of interfaces are those of scale-set VMs and of interfaces of their own', () => {
    const own = `${group}/providers/Microsoft.Network/networkInterfaces/n`;
    const ofVm = own.replace(
      'Microsoft.Network',
      'Microsoft.Compute/virtualMachineScaleSets/p/virtualMachines/0',
    );

    expect(parseInterfaceId(own)?.names).toEqual(['n']);
    expect(parseInterfaceId(ofVm)?.names).toEqual(['p', '0', 'n']);
    expect(parseInterfaceId(own.replace('networkInterfaces', 'loadBalancers'))).toBeUndefined();
  });

  test('of subnets hold their network', () => {
    expect(
      parseSubnetId(
        '/subscriptions/s/resourceGroups/g/providers/Microsoft.Network/virtualNetworks/v/subnets/a',
      ),
    ).toEqual({
      subscriptionId: 's',
      resourceGroup: 'g',
      network: 'v',
      name: 'a',
      networkId: '/subscriptions/s/resourceGroups/g/providers/Microsoft.Network/virtualNetworks/v',
    });
  });
});
