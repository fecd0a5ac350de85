import { describe, expect, test } from '@jest/globals';
import { assign } from '../../../src/simulator/cloud/assignments.ts';
import { objectAt } from '../../../src/simulator/workload/json.ts';
import type { NodeFacts } from '../../../src/simulator/workload/node-facts.ts';
import { instance, testCloud } from '../../support/test-cloud.ts';
import { World } from '../../support/world.ts';
import { startController } from '../../support/world-controller.ts';

/** A node with one address in use, and another node. */
async function withUsedAddress(which = 0): Promise<{
  world: World;
  machine: NodeFacts;
  other: NodeFacts;
  address: string;
  stop: () => Promise<void>;
}> {
  const world = new World({ cloud: testCloud({ instances: [instance({ count: 2 })] }) });
  const [machine, other] = [world.machine(which), world.machine(1 - which)];
  const controller = startController(world);
  for (const each of world.machines) await world.announce(each);
  await world.advance(30_000);
  await world.use(machine, 1);
  const [address = ''] = world.pool(machine).keys();
  await world.advance(5000);
  const stop = async (): Promise<void> => {
    controller.stop();
    await world.advance(30_000);
  };
  return { world, machine, other, address, stop };
}

/** Versions of the node's CiliumNode, since the first offer of the address, that do not offer it. */
function versionsWithout(world: World, machine: NodeFacts, address: string): number {
  const offers = world.history
    .of(machine.name)
    .map(({ object }) => address in objectAt(object, 'spec', 'ipam', 'pool'));
  return offers.slice(offers.indexOf(true)).filter((isOffered) => !isOffered).length;
}

function showing(address: string): { spec: { ipam: { pool: Record<string, { resource: string }> } } } {
  return { spec: { ipam: { pool: { [address]: { resource: 'eni-00000000000000009' } } } } };
}

describe('an address in use that a second CiliumNode starts to show', () => {
  test('stays where it is when that CiliumNode is not served', async () => {
    const { world, machine, other, address, stop } = await withUsedAddress();
    await stop();
    await world.delete(other);
    const ignored = { metadata: { annotations: { 'ipam.cilium.io/ignore': 'true' } } };
    await world.announce({ ...other, name: 'ignored' }, { ...ignored, ...showing(address) });

    const controller = startController(world, { identity: 'headwater-1' });
    await world.advance(900_000);

    expect(versionsWithout(world, machine, address)).toBe(0);
    expect(world.pool({ name: 'ignored' }).has(address)).toBe(true);
    expect(controller.controller.status().inDeficit).toEqual([]);
    expect(world.operatorError(machine)).toBe('');
    expect(world.bugs).toEqual([]);
  });

  test('is withdrawn there at once when that instance does not have it', async () => {
    const { world, machine, other, address } = await withUsedAddress();

    await world.patch(other, showing(address));
    // Leaves time to read both.
    world.refuse(503, 'PATCH', new RegExp(`${other.name}$`), 1);
    await world.use(machine, 2);
    await world.advance(60_000);

    expect(world.pool(other).has(address)).toBe(false);
    expect(world.pool(other).size).toBe(8);
    expect(versionsWithout(world, machine, address)).toBe(0);
    expect([machine, other].map((each) => world.operatorError(each))).toEqual(['', '']);
    expect(world.bugs).toEqual([]);
  });

  test.each([0, 1])(
    'is withdrawn there when the CiliumNode was changed while no controller ran (%i)',
    async (which) => {
      const { world, machine, other, address, stop } = await withUsedAddress(which);
      await stop();
      const [resource = ''] = world.pool(other).values();
      await world.patch(other, { spec: { ipam: { pool: { [address]: { resource } } } } });

      startController(world, { identity: 'headwater-1' });
      await world.advance(120_000);

      expect(world.pool(other).has(address)).toBe(false);
      expect(world.pool(other).size).toBe(8);
      expect(versionsWithout(world, machine, address)).toBe(0);
      expect(world.bugs).toEqual([]);
    },
  );
});

describe('an address that moved to another instance while no controller ran', () => {
  test('is not shown there before its former node lost it, even if that waits for the limits of its type', async () => {
    const types = ['t3.medium', 'm5.large'];
    const world = new World({
      cloud: testCloud({ instances: types.map((type) => instance({ name: type, type })) }),
    });
    const [former, next] = [world.machine(0), world.machine(1)];
    const controller = startController(world);
    for (const each of world.machines) await world.announce(each);
    await world.advance(60_000);
    const [address = ''] = world.pool(former).keys();
    const [to = ''] = world.pool(next).values();
    controller.stop();
    await world.advance(30_000);
    const moved = { addresses: [address], prefixes: [], count: 0, prefixCount: 0 };
    assign(world.cluster.ec2.network, to, moved, true);
    await world.advance(5000);
    const shownBy: (readonly boolean[])[] = [];
    world.cluster.kubernetes.follow('ciliumnodes.cilium.io', () => {
      shownBy.push([former, next].map((each) => world.pool(each).has(address)));
    });

    let isFirst = true;
    const hang = { kind: 'lost', effect: 'after', connection: 'hang', delayMs: 0 } as const;
    startController(world, {
      identity: 'headwater-1',
      // The answer about the limits of the former node's type takes half a minute.
      tamper: (action, output) => {
        if (action !== 'DescribeInstanceTypes' || !isFirst) return output;
        isFirst = false;
        world.cluster.ec2.gateway.faults.add({ action, count: 1, rate: 1, match: {}, fault: hang });
        const { InstanceTypes: all } = output as { InstanceTypes: { InstanceType: string }[] };
        return { InstanceTypes: all.filter(({ InstanceType: type }) => type !== types[0]) };
      },
    });
    await world.advance(120_000);

    expect(shownBy).not.toContainEqual([true, true]);
    expect(shownBy.at(-1)).toEqual([false, true]);
    expect(world.broken()).toEqual([]);
  });
});
