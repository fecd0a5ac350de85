import { describe, expect, test } from '@jest/globals';
import { terminate } from '../../../src/simulator/cloud/instances.ts';
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

describe('on Alibaba Cloud, an instance that is gone', () => {
  test('is reported, also if the cloud refuses to list its interfaces', async () => {
    const world = worldOfTwo();
    startController(world);
    for (const machine of world.machines) await world.announce(machine);
    await world.advance(120_000);
    const { name, instanceId } = world.machine(0);
    terminate(world.cluster.network, [instanceId]);
    refuse(world, 'DescribeNetworkInterfaces', { InstanceId: instanceId }, 'InvalidInstanceId.NotFound');
    await world.advance(1_800_000);

    expect(world.events(name)).toContainEqual(
      expect.stringMatching(/^Node InstanceNotFound: instance i-\w+ is not found: /),
    );
    expect(world.broken()).toEqual([]);
  });
});

function refuse(
  world: AlibabaWorld,
  action: string,
  match: Readonly<Record<string, string>> = { VpcId: 'vpc-other' },
  code = 'InvalidVpcId.NotFound',
): void {
  const fault = { kind: 'error', code, status: 404, message: 'It is none.' } as const;
  world.cluster.alibaba.gateway.faults.add({ action, rate: 1, match, fault });
}
