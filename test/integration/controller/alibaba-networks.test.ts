import { describe, expect, test } from '@jest/globals';
import { ecsInstance, testAlibaba } from '../../support/alibaba-cloud.ts';
import { AlibabaWorld } from '../../support/alibaba-world.ts';
import { poolsOf } from '../../support/replaced-leader.ts';
import { startController } from '../../support/world-controller.ts';

const zone = 'cn-hangzhou-a';

function worldOfTwo(): AlibabaWorld {
  return new AlibabaWorld({
    cloud: testAlibaba({
      vpcs: [
        { name: 'main', blocks: ['10.0.0.0/16'], id: 'vpc-main' },
        { name: 'other', blocks: ['10.1.0.0/16'], id: 'vpc-other' },
      ],
      vSwitches: [
        { name: 'nodes', vpc: 'main', zone, block: '10.0.0.0/24' },
        { name: 'theirs', vpc: 'other', zone, block: '10.1.16.0/20' },
      ],
      securityGroups: [
        { name: 'nodes', vpc: 'main' },
        { name: 'theirs', vpc: 'other' },
      ],
      instances: [
        ecsInstance(),
        ecsInstance({ name: 'other', vSwitch: 'theirs', securityGroups: ['theirs'] }),
      ],
    }),
  });
}

describe('on Alibaba Cloud, a node of one VPC', () => {
  test.each(['DescribeVpcs', 'DescribeVSwitches', 'DescribeSecurityGroups', 'DescribeNetworkInterfaces'])(
    'is served while the cloud refuses to say anything of another VPC: %s',
    async (action) => {
      const world = worldOfTwo();
      const controller = startController(world);
      const [machine, other] = [world.machine(0), world.machine(1)];
      refuse(world, action);

      for (const each of [other, machine]) await world.announce(each);
      await world.advance(300_000);

      expect(world.pool(machine).size).toBeGreaterThanOrEqual(8);
      expect(world.events(machine.name)).toEqual([]);
      expect(controller.controller.unreadiness()).toBeUndefined();
      expect(world.broken()).toEqual([]);
    },
  );

  test('keeps its addresses while the cloud refuses to say anything of that VPC', async () => {
    const world = worldOfTwo();
    startController(world);
    for (const machine of world.machines) await world.announce(machine);
    await world.advance(120_000);
    const before = poolsOf(world);
    refuse(world, '*');
    await world.advance(1_800_000);

    expect(before.map((pool) => pool.length >= 8)).toEqual([true, true]);
    expect(poolsOf(world)).toEqual(before);
    expect(world.broken()).toEqual([]);
  });
});

function refuse(world: AlibabaWorld, action: string): void {
  const fault = {
    kind: 'error',
    code: 'InvalidVpcId.NotFound',
    status: 404,
    message: 'It is no VPC.',
  } as const;
  world.cluster.alibaba.gateway.faults.add({ action, rate: 1, match: { VpcId: 'vpc-other' }, fault });
}
