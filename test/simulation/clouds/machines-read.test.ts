import { describe, expect, test } from '@jest/globals';
import { machinesListed, ReadsOfOne } from './machines-read.ts';

const group = '/subscriptions/S/resourceGroups/Nodes';
const compute = `${group}/providers/Microsoft.Compute`;
const network = `${group}/providers/Microsoft.Network`;
const inGroup = '/subscriptions/s/resourcegroups/nodes/providers/microsoft.compute';

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
];

describe('a list of interfaces', () => {
  test.each(cases)('%s tells about no other machines', (_, path, machines) => {
    expect(machinesListed(`https://management.azure.com${path}?api-version=1&$skiptoken=x`)).toBe(machines);
    expect(machinesListed(`${path}?api-version=1`)).toBe(machines);
  });
});

const hosts = new Map([[`${network}/networkInterfaces/nic-a`.toLowerCase(), `${inGroup}/virtualmachines/a`]]);

describe('an interface that a process reads by itself', () => {
  const vm = `${compute}/virtualMachines/A`;
  const nic = `${network}/networkInterfaces/NIC-a`;
  const named = { id: vm };

  /** What the last of these requests of processes reads. */
  const lastOf = (requests: readonly Parameters<ReadsOfOne['read']>[0][]): string | undefined => {
    const reads = new ReadsOfOne((key) => hosts.get(key));
    return requests.map((request) => reads.read(request)).at(-1);
  };
  const readsVm = { identity: 'one', action: 'VirtualMachines.Get', url: vm, output: named };
  const readsInterface = { identity: 'one', action: 'Interfaces.Get', url: nic, output: { id: nic } };

  test('tells about its VM, if that was read before', () => {
    expect(lastOf([readsVm, readsInterface])).toBe(`${inGroup}/virtualmachines/a`);
  });

  test.each([
    ['is read for a change, alone', [readsInterface]],
    ['is read for a change, later', [readsVm, readsInterface, readsInterface]],
    ['belongs to a VM that another process read', [{ ...readsVm, identity: 'two' }, readsInterface]],
    ['belongs to a VM that could not be read', [{ ...readsVm, output: {} }, readsInterface]],
    [
      'is read again, as the first answer was lost',
      [readsVm, { ...readsInterface, output: {} }, readsInterface],
    ],
    ['is still to be read', [readsVm]],
  ])('tells nothing about its VM if it %s', (_, requests) => {
    expect(lastOf(requests)).toBe('');
  });
});
