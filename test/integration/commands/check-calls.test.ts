import { describe, expect, test } from '@jest/globals';
import { ecsInstance, testAlibaba } from '../../support/alibaba-cloud.ts';
import { AlibabaWorld } from '../../support/alibaba-world.ts';
import { scaleSet, testAzure } from '../../support/azure-cloud.ts';
import { AzureClusterWorld } from '../../support/azure-cluster-world.ts';
import { checkedWorld } from '../../support/checked-world.ts';
import type { ClusterWorld } from '../../support/cluster-world.ts';
import { instance, subnets, testCloud } from '../../support/test-cloud.ts';
import { startController, stopController } from '../../support/world-controller.ts';
import { World } from '../../support/world.ts';

const count = 1000;
const room = '10.0.64.0/18';

const worlds: Readonly<Record<string, () => ClusterWorld>> = {
  EC2: () =>
    new World({
      cloud: testCloud({
        subnets: [{ ...subnets.nodes, block: room }],
        routeTables: [],
        instances: [instance({ count })],
      }),
    }),
  'Azure, in a scale set': () => {
    const network = { name: 'main', blocks: ['10.0.0.0/8'], subnets: [{ name: 'pods', block: room }] };
    return new AzureClusterWorld({
      cloud: testAzure({ virtualNetworks: [network], scaleSets: [scaleSet({ count })] }),
    });
  },
  'Azure, with VMs of their own': () => {
    const network = { name: 'main', blocks: ['10.0.0.0/8'], subnets: [{ name: 'pods', block: room }] };
    const machines = [{ name: 'vm', count, interfaces: [{ name: 'nic0', subnet: 'pods' }] }];
    return new AzureClusterWorld({
      cloud: testAzure({ virtualNetworks: [network], scaleSets: [], machines }),
    });
  },
  'Alibaba Cloud': () => {
    const vSwitches = [{ name: 'nodes', zone: 'cn-hangzhou-a', block: room }];
    return new AlibabaWorld({ cloud: testAlibaba({ vSwitches, instances: [ecsInstance({ count })] }) });
  },
};

describe('a check of a clean cluster of 1,000 nodes', () => {
  test.each(Object.keys(worlds))('is fine, and takes at most 12 calls: %s', async (name) => {
    const world = worlds[name]?.();
    if (world === undefined) throw new Error(`no world is named ${name}`);
    const [served, ...others] = world.machines.toSorted((a, b) => (a.instanceId < b.instanceId ? -1 : 1));
    if (served === undefined) throw new Error('there is no machine');
    await world.announce(served, { spec: { ipam: { 'pre-allocate': 20 } } });
    const controller = startController(world);
    await world.until('a node has interfaces of Headwater', () => world.pool(served).size >= 20);
    await stopController(world, controller);
    for (const machine of others) await world.announce(machine);

    const { calls, wrong } = await checkedWorld(world);

    expect(world.machines).toHaveLength(count);
    expect(wrong).toEqual([]);
    if (name === 'EC2') expect(calls).toContain('DeleteNetworkInterface');
    expect(calls.length).toBeLessThanOrEqual(12);
  });
});
