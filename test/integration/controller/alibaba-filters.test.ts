import { describe, expect, test } from '@jest/globals';
import { ecsInstance, testAlibaba } from '../../support/alibaba-cloud.ts';
import { AlibabaWorld } from '../../support/alibaba-world.ts';
import { startController } from '../../support/world-controller.ts';

describe('on Alibaba Cloud, a filter of instances', () => {
  test('leaves those without the tags alone and says so, also while they are read one by one', async () => {
    const tagged = ecsInstance({ name: 'worker', tags: { role: 'worker' } });
    const world = new AlibabaWorld({
      cloud: testAlibaba({
        instances: [tagged, ecsInstance({ name: 'other', interfaces: [{ vSwitch: 'pods', addresses: 3 }] })],
      }),
    });
    const controller = startController(world, { flags: { 'instance-tags-filter': 'role=worker' } });
    const [machine, other] = [world.machine(0), world.machine(1)];

    for (const each of world.machines) await world.announce(each);
    await world.advance(60_000);
    const error = `instance ${other.instanceId} does not carry the tags of --instance-tags-filter`;
    expect(world.operatorError(other)).toBe(error);
    await world.advance(1_200_000);

    expect(world.pool(machine).size).toBeGreaterThanOrEqual(8);
    expect(world.pool(other).size).toBe(0);
    expect(world.held(other)).toHaveLength(4);
    expect(controller.controller.status().inDeficit).toEqual([
      expect.objectContaining({ name: other.name, reason: 'InstanceNotManaged' }),
    ]);
    expect(world.broken()).toEqual([]);
  });
});

describe('on Alibaba Cloud, a filter of vSwitches', () => {
  test.each([
    { flag: 'subnet-ids-filter', value: 'vsw-pods' },
    { flag: 'subnet-tags-filter', value: 'purpose=pods' },
  ])('decides where new interfaces go, and hides nothing that a node has: $flag', async ({ flag, value }) => {
    const interfaces = [{ vSwitch: 'nodes', addresses: 3, tags: { 'cilium-eni-index': '1' } }];
    const zone = 'cn-hangzhou-a';
    const world = new AlibabaWorld({
      cloud: testAlibaba({
        vSwitches: [
          { name: 'nodes', zone, block: '10.0.16.0/20' },
          { name: 'pods', zone, block: '10.0.0.0/24', id: 'vsw-pods', tags: { purpose: 'pods' } },
        ],
        instances: [ecsInstance({ interfaces })],
      }),
      configure: () => ({ ipam: { minAllocate: 12 } }),
    });
    const machine = world.machine();
    const before = world.held(machine);
    startController(world, { flags: { [flag]: value } });

    await world.announce(machine);
    await world.advance(120_000);

    expect(before).toHaveLength(4);
    expect([...world.pool(machine).keys()]).toEqual(expect.arrayContaining([...before]));
    expect(world.pool(machine).size).toBeGreaterThanOrEqual(12);
    expect(world.interfaces(machine).map(({ subnetId }) => subnetId)).toEqual([
      machine.subnetId,
      machine.subnetId,
      'vsw-pods',
    ]);
    expect(world.broken()).toEqual([]);
  });
});
