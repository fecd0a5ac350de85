// An assignment that a killed leader sent, and that EC2 carries out after the next leader has read the node and asked for as much.
import { expect, test } from '@jest/globals';
import { instance, testCloud } from '../../support/test-cloud.ts';
import { World } from '../../support/world.ts';
import { startController } from '../../support/world-controller.ts';

const assign = 'AssignPrivateIpAddresses';

test.each([
  ['off', 'false', 8],
  ['on', 'true', 4],
])(
  'what a killed leader assigned late exceeds max-allocate once, with releases %s',
  async (_, releases, expected) => {
    const world = new World({
      cloud: testCloud({ instances: [instance()] }),
      configure: () => ({ ipam: { preAllocate: 4, maxAllocate: 4 } }),
    });
    const machine = world.machine();
    const flags = { 'aws-release-excess-ips': releases, 'excess-ip-release-delay': '20s' };
    const first = startController(world, { flags });
    const isLate = { kind: 'lost', effect: 'late', connection: 'hang', delayMs: 60_000 } as const;
    const end = world.fault(assign, isLate);
    await world.startAgents();
    const { counters } = world.cluster.ec2.gateway;
    await world.until('it is asked for addresses', () => counters.get(assign).calls > 0);
    end();
    first.kill();

    const second = startController(world, { identity: 'headwater-1', flags });
    await world.until('it is supplied', () => world.pool(machine).size >= 4);
    await world.until('the first call is carried out', () => world.held(machine).length > 4);
    await world.advance(1_800_000);

    expect(second.changes.filter(({ action }) => action === assign)).toHaveLength(1);
    expect(world.held(machine)).toHaveLength(expected);
    expect([...world.pool(machine).keys()].toSorted()).toEqual(world.held(machine).toSorted());
    expect(world.broken()).toEqual([]);
  },
);
