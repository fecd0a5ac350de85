import { describe, expect, test } from '@jest/globals';
import { machinesRead } from './machines-read.ts';

const group = '/subscriptions/S/resourceGroups/Nodes';
const compute = `${group}/providers/Microsoft.Compute`;
const network = `${group}/providers/Microsoft.Network`;
const inGroup = '/subscriptions/s/resourcegroups/nodes/providers/microsoft.compute';

const hosts = new Map([[`${network}/networkInterfaces/nic-a`.toLowerCase(), `${inGroup}/virtualmachines/a`]]);

const cases: readonly (readonly [string, string, string])[] = [
  [
    'of a scale set',
    `${compute}/virtualMachineScaleSets/Set-1/networkInterfaces`,
    `${inGroup}/virtualmachinescalesets/set-1/virtualmachines/*`,
  ],
  [
    'of a VM of a scale set',
    `${compute}/virtualMachineScaleSets/Set-1/virtualMachines/7/networkInterfaces`,
    `${inGroup}/virtualmachinescalesets/set-1/virtualmachines/7`,
  ],
  ['of a group', `${network}/networkInterfaces`, `${inGroup}/virtualmachines/*`],
  ['with one interface', `${network}/networkInterfaces/NIC-a`, `${inGroup}/virtualmachines/a`],
  ['with an interface that is gone', `${network}/networkInterfaces/nic-b`, ''],
];

describe('an answer about interfaces', () => {
  test.each(cases)('%s tells about no other machines', (_, path, machines) => {
    const hostOf = (key: string): string | undefined => hosts.get(key);

    expect(machinesRead(`https://management.azure.com${path}?api-version=1&$skiptoken=x`, hostOf)).toBe(
      machines,
    );
    expect(machinesRead(`${path}?api-version=1`, hostOf)).toBe(machines);
  });
});
