// What a cloud denies to everybody for hours, and grants again: a running controller notices it soon.
import { describe, expect, test } from '@jest/globals';
import { ecsInstance, testAlibaba } from '../../support/alibaba-cloud.ts';
import { AlibabaWorld } from '../../support/alibaba-world.ts';
import { AzureClusterWorld } from '../../support/azure-cluster-world.ts';
import { scaleSet, testAzure } from '../../support/azure-cloud.ts';
import type { ClusterWorld } from '../../support/cluster-world.ts';
import { instance, testCloud } from '../../support/test-cloud.ts';
import { World } from '../../support/world.ts';
import { startController } from '../../support/world-controller.ts';

const hour = 3_600_000;

interface Row {
  readonly cloud: string;
  readonly world: () => ClusterWorld;
  readonly denial: { readonly code: string; readonly message: string };
  readonly actions: readonly string[];
}

const rows: readonly Row[] = [
  {
    cloud: 'AWS',
    world: () => new World({ cloud: testCloud({ instances: [instance({ count: 3 })] }) }),
    denial: { code: 'UnauthorizedOperation', message: 'You are not authorized to perform this operation.' },
    actions: [
      'DescribeNetworkInterfaces',
      'DescribeInstanceTypes',
      'DescribeVpcs',
      'DescribeSubnets',
      'CreateNetworkInterface',
      'AttachNetworkInterface',
      'AssignPrivateIpAddresses',
      '*',
    ],
  },
  {
    cloud: 'Azure',
    world: () => new AzureClusterWorld({ cloud: testAzure({ scaleSets: [scaleSet({ count: 3 })] }) }),
    denial: {
      code: 'AuthorizationFailed',
      message:
        "The client 'c' does not have authorization to perform action 'Microsoft.Compute/x/write' over scope '/s'.",
    },
    actions: [
      'Interfaces.ListVirtualMachineScaleSetNetworkInterfaces',
      'Interfaces.ListVirtualMachineScaleSetVMNetworkInterfaces',
      'VirtualMachineScaleSetVMs.Get',
      'VirtualMachineScaleSetVMs.Update',
      'Subnets.Get',
      '*',
    ],
  },
  {
    cloud: 'Alibaba Cloud',
    world: () => new AlibabaWorld({ cloud: testAlibaba({ instances: [ecsInstance({ count: 3 })] }) }),
    denial: { code: 'Forbidden.RAM', message: 'User not authorized to operate on the specified resource.' },
    actions: [
      'DescribeNetworkInterfaces',
      'DescribeInstances',
      'DescribeInstanceTypes',
      'DescribeVpcs',
      'DescribeVSwitches',
      'DescribeSecurityGroups',
      'CreateNetworkInterface',
      'AttachNetworkInterface',
      'AssignPrivateIpAddresses',
      '*',
    ],
  },
];

const cases = rows.flatMap((row) => row.actions.map((action) => ({ ...row, action })));

function deniedIn(status: object): number {
  return 'denied' in status && Array.isArray(status.denied) ? status.denied.length : -1;
}

describe('a permission that is granted again after three hours', () => {
  test.each(cases)(
    'is used within minutes, and told no longer: $cloud, $action',
    async ({ world: worldOf, denial, action }) => {
      const world = worldOf();
      // Hours of a Lease that nobody contests would be most of the work.
      const controller = startController(world, { flags: { 'leader-election': 'false' } });
      const grant = world.fault(action, { kind: 'error', status: 403, ...denial });
      for (const machine of world.machines) await world.announce(machine);
      await world.advance(3 * hour);

      grant();
      await world.until(
        'all nodes are served',
        () => world.machines.every((machine) => world.pool(machine).size >= 8),
        240_000,
      );

      // Nodes that got new interfaces instead ask for nothing on those that they have.
      const within = action === 'AssignPrivateIpAddresses' ? 2 * hour : 120_000;
      const isTold = (): boolean => deniedIn(controller.controller.status()) > 0;
      await world.until('the denial is told no longer', () => !isTold(), within);
      await world.advance(120_000);
      for (const { name } of world.machines)
        expect(controller.controller.node(name)).toMatchObject({ standing: 'satisfied' });
      expect(world.machines.map((machine) => world.operatorError(machine))).toEqual(['', '', '']);
      expect(world.broken()).toEqual([]);
    },
  );
});
