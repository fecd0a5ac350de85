import { describe, expect, test } from '@jest/globals';
import { detachedInterfaces } from '../../../src/simulator/cluster/invariants.ts';
import { objectAt } from '../../../src/simulator/workload/json.ts';
import { instance, testCloud } from '../../support/test-cloud.ts';
import { World } from '../../support/world.ts';
import { startController } from '../../support/world-controller.ts';

/** Addresses that left a pool, in order of time. */
function struck(world: World, from: number): string[] {
  const lost: string[] = [];
  const pools = new Map<string, Set<string>>();
  for (const [index, { name, object }] of world.history.states.entries()) {
    const pool = new Set(Object.keys(objectAt(object, 'spec', 'ipam', 'pool')));
    const gone = [...(pools.get(name) ?? [])].filter((address) => !pool.has(address));
    if (index >= from) lost.push(...gone.map((address) => `${name} ${address}`));
    pools.set(name, pool);
  }
  return lost;
}

async function fleet(): Promise<World> {
  const world = new World({
    cloud: testCloud({ instances: [instance({ type: 'm5.xlarge', count: 4 })] }),
    configure: (index) => ({ protocol: index % 2 === 0 ? 'crd-allocator' : 'multi-pool' }),
  });
  void world.cluster.workload.start();
  await world.advance(1);
  return world;
}

describe('a restarted controller', () => {
  test.each([
    { what: 'an empty listing', garbled: undefined },
    { what: 'a listing without ids', garbled: 'idsMissing' },
    { what: 'a listing of unknown states', garbled: 'unknownEnum' },
    { what: 'a listing that ends in the middle', garbled: 'truncated' },
  ] as const)('withdraws nothing when it reads $what', async ({ garbled }) => {
    const world = await fleet();
    const first = startController(world);
    await world.advance(90_000);
    first.stop();
    await world.advance(30_000);
    const from = world.history.states.length;
    const held = world.machines.map((machine) => world.held(machine));

    const { network } = world.cluster.ec2;
    const { consistency } = network;
    const endLag = (): void => void Object.assign(network, { consistency });
    // A listing of the time before the first instance shows nothing.
    if (garbled === undefined) {
      Object.assign(network, { consistency: { ...consistency, listingLagMs: { min: 29_000, max: 29_000 } } });
    }
    const end = garbled && world.fault('DescribeNetworkInterfaces', { kind: 'garbled', form: garbled });
    startController(world, { identity: 'headwater-1', flags: { 'resync-interval': '20s' } });
    await world.advance(240_000);
    end?.();
    endLag();
    await world.advance(120_000);

    expect(struck(world, from)).toEqual([]);
    expect(world.machines.map((machine) => world.held(machine))).toEqual(held);
    expect(world.broken()).toEqual([]);
  });

  test('withdraws nothing when it reads running instances without interfaces', async () => {
    const world = await fleet();
    const first = startController(world);
    await world.advance(90_000);
    first.stop();
    await world.advance(30_000);
    const from = world.history.states.length;
    let isEmpty = true;

    const second = startController(world, {
      identity: 'headwater-1',
      flags: { 'resync-interval': '20s' },
      tamper: (action, output) =>
        action === 'DescribeNetworkInterfaces' && isEmpty ? { NetworkInterfaces: [] } : output,
    });
    await world.advance(240_000);
    isEmpty = false;
    const load = { kind: 'burst', name: 'web', at: 0, pods: 40, over: 1000 } as const;
    void world.cluster.workload.run(load, new AbortController().signal);
    await world.advance(240_000);

    expect(struck(world, from)).toEqual([]);
    expect(second.warnings()).toEqual(world.machines.map(() => 'node cannot be satisfied'));
    expect(world.machines.map((machine) => world.operatorError(machine))).toEqual(
      world.machines.map(() => ''),
    );
    expect(world.cluster.workload.waits.count).toBe(40);
    expect(world.broken()).toEqual([]);
  });

  test('withdraws nothing when it reads a listing older than the last changes', async () => {
    const world = await fleet();
    const first = startController(world);
    await world.advance(90_000);
    const { network } = world.cluster.ec2;
    const listingLagMs = { min: 25_000, max: 25_000 };
    Object.assign(network, { consistency: { ...network.consistency, listingLagMs } });
    await world.advance(60_000);
    const load = { kind: 'burst', name: 'web', at: 0, pods: 40, over: 1000 } as const;
    void world.cluster.workload.run(load, new AbortController().signal);
    await world.advance(4000);
    const from = world.history.states.length;
    first.stop();
    await world.advance(5000);

    startController(world, { identity: 'headwater-1' });
    await world.advance(300_000);

    expect(struck(world, from)).toEqual([]);
    expect(world.cluster.workload.waits.count).toBe(40);
    expect(detachedInterfaces(world.cluster)).toEqual([]);
    expect(world.broken()).toEqual([]);
  });

  test.each([500, 1200, 1900, 2600, 4000, 6000])(
    'adopts what the previous leader started when that died %d ms into a burst',
    async (into) => {
      const world = await fleet();
      const first = startController(world);
      await world.advance(90_000);
      const load = { kind: 'burst', name: 'web', at: 0, pods: 60, over: 500 } as const;
      void world.cluster.workload.run(load, new AbortController().signal);
      await world.advance(into);
      const from = world.history.states.length;

      first.kill();
      startController(world, { identity: 'headwater-1' });
      await world.advance(300_000);

      expect(struck(world, from)).toEqual([]);
      expect(world.cluster.workload.waits.count).toBe(60);
      expect(world.broken()).toEqual([]);
    },
  );

  test('changes nothing when nothing is lacking', async () => {
    const world = await fleet();
    const first = startController(world);
    await world.advance(90_000);
    first.stop();
    await world.advance(30_000);

    const second = startController(world, { identity: 'headwater-1' });
    await world.advance(120_000);

    expect(second.changes).toEqual([]);
    expect(second.publications).toEqual([]);
    expect(world.broken()).toEqual([]);
  });
});
