import { describe, expect, test } from '@jest/globals';
import { terminate } from '../../../src/simulator/cloud/instances.ts';
import { ecsInstance, testAlibaba } from '../../support/alibaba-cloud.ts';
import { AlibabaWorld } from '../../support/alibaba-world.ts';
import { poolsOf } from '../../support/replaced-leader.ts';
import { startController } from '../../support/world-controller.ts';

const zone = 'cn-hangzhou-a';
const ofOther = { VpcId: 'vpc-other' };
const unknown = { code: 'InvalidVpcId.NotFound', status: 404 };
const denial = { code: 'Forbidden.RAM', status: 403 };

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

  test.each([
    ['DescribeVpcs', 'vpc:DescribeVpcs'],
    ['DescribeVSwitches', 'vpc:DescribeVSwitches'],
  ])('is served while RAM denies %s for another VPC, whose nodes name %s', async (action, permission) => {
    const world = worldOfTwo();
    const controller = startController(world);
    const [machine, other] = [world.machine(0), world.machine(1)];
    refuse(world, action, ofOther, denial);

    for (const each of [other, machine]) await world.announce(each);
    await world.advance(300_000);

    expect(world.pool(machine).size).toBeGreaterThanOrEqual(8);
    expect(world.events(machine.name)).toEqual([]);
    expect(controller.controller.unreadiness()).toBeUndefined();
    expect(controller.controller.node(other.name)).toMatchObject({
      reason: 'NetworkUnreadable',
      why: `allow ${permission} to Headwater's role: ${action} answers Forbidden.RAM: It is none.`,
    });
    expect(controller.controller.status().denied).toMatchObject([{ permission }]);
    expect(readings(controller).at(-1)).toMatchObject({ unreadNetworks: ['vpc-other'] });
    world.cluster.alibaba.gateway.faults.clear();
    await world.until('the other is served, too', () => world.pool(other).size >= 8, 120_000);
    expect(world.broken()).toEqual([]);
  });

  test('whose security groups are found by tags reads what is wrong there while RAM denies those of another', async () => {
    const world = worldOfTwo();
    const controller = startController(world);
    refuse(world, 'DescribeSecurityGroups', ofOther, denial);

    for (const machine of world.machines) {
      await world.announce(machine);
      const tags = { purpose: 'pods' };
      await world.patch(machine, { spec: { 'alibaba-cloud': { 'security-group-tags': tags } } });
    }
    await world.advance(300_000);

    const reasons = world.machines.map(({ name }) => controller.controller.node(name));
    expect(reasons).toMatchObject([
      { reason: 'NoSecurityGroupMatches' },
      { reason: 'NetworkUnreadable', why: expect.stringContaining('allow ecs:DescribeSecurityGroups') },
    ]);
  });

  test('grows in what is known of its VPC since RAM denies to say more of it', async () => {
    const world = worldOfTwo();
    startController(world);
    const other = world.machine(1);
    for (const each of world.machines) await world.announce(each);
    await world.advance(120_000);
    refuse(world, 'DescribeVSwitches', ofOther, denial);
    await world.advance(1_200_000);

    await world.request(other, 15);
    await world.until('it has 15 addresses', () => world.pool(other).size >= 15, 120_000);

    expect(world.broken()).toEqual([]);
  });

  test('and of another VPC are served while RAM denies a list of the interfaces of that one', async () => {
    const world = worldOfTwo();
    const controller = startController(world);
    refuse(world, 'DescribeNetworkInterfaces', ofOther, denial);

    for (const each of world.machines) await world.announce(each);
    await world.advance(1_800_000);

    expect(poolsOf(world).map((pool) => pool.length >= 8)).toEqual([true, true]);
    expect(world.machines.flatMap(({ name }) => world.events(name))).toEqual([]);
    expect(controller.controller.unreadiness()).toBeUndefined();
    expect(new Set(controller.warnings())).toEqual(new Set(['missing cloud permission']));
    expect(readings(controller).at(-1)).toMatchObject({ unreadNetworks: ['vpc-other'] });
    expect(world.broken()).toEqual([]);
  });

  test.each([unknown, denial])(
    'keeps its addresses while the cloud refuses to say anything of that VPC: %j',
    async (refusal) => {
      const world = worldOfTwo();
      startController(world);
      for (const machine of world.machines) await world.announce(machine);
      await world.advance(120_000);
      const before = poolsOf(world);
      refuse(world, '*', ofOther, refusal);
      await world.advance(1_800_000);

      expect(before.map((pool) => pool.length >= 8)).toEqual([true, true]);
      expect(poolsOf(world)).toEqual(before);
      expect(world.broken()).toEqual([]);
    },
  );
});

describe('on Alibaba Cloud, an instance that is gone', () => {
  test('is reported, also if the cloud refuses to list its interfaces', async () => {
    const world = worldOfTwo();
    startController(world);
    for (const machine of world.machines) await world.announce(machine);
    await world.advance(120_000);
    const { name, instanceId } = world.machine(0);
    terminate(world.cluster.network, [instanceId]);
    refuse(
      world,
      'DescribeNetworkInterfaces',
      { InstanceId: instanceId },
      { code: 'InvalidInstanceId.NotFound', status: 404 },
    );
    await world.advance(1_800_000);

    expect(world.events(name)).toContainEqual(
      expect.stringMatching(/^Node InstanceNotFound: instance i-\w+ is not found: /),
    );
    expect(world.broken()).toEqual([]);
  });
});

describe('on Alibaba Cloud, a vSwitch that a creation finds full', () => {
  test.each(['InvalidVSwitchId.IpNotEnough', 'QuotaExceeded.PrivateIpAddress'])(
    'keeps no node from another vSwitch: %s',
    async (code) => {
      const world = new AlibabaWorld({
        cloud: testAlibaba({
          vSwitches: [
            { name: 'nodes', zone, block: '10.0.0.0/24' },
            { name: 'large', zone, block: '10.0.16.0/20', id: 'vsw-large' },
          ],
          instances: [ecsInstance({ count: 2 })],
        }),
      });
      startController(world);
      refuse(world, 'CreateNetworkInterface', { VSwitchId: 'vsw-large' }, { code, status: 403 });

      for (const machine of world.machines) await world.announce(machine);
      await world.until('both are served', () => poolsOf(world).every((pool) => pool.length >= 8), 30_000);

      expect(world.machines.flatMap(({ name }) => world.events(name))).toEqual([]);
      expect(world.broken()).toEqual([]);
    },
  );
});

function readings({ logged }: ReturnType<typeof startController>): readonly unknown[] {
  return logged.filter(({ message }) => message === 'read the cloud').map(({ details }) => details);
}

function refuse(
  world: AlibabaWorld,
  action: string,
  match: Readonly<Record<string, string>> = ofOther,
  refusal = unknown,
): void {
  const fault = { kind: 'error', ...refusal, message: 'It is none.' } as const;
  world.cluster.alibaba.gateway.faults.add({ action, rate: 1, match, fault });
}
