import { describe, expect, test } from '@jest/globals';
import { instance, testCloud } from '../../support/test-cloud.ts';
import { World } from '../../support/world.ts';
import { startController, type WorldController } from '../../support/world-controller.ts';

function worldOf(count = 4): World {
  return new World({
    cloud: testCloud({ instances: [instance({ count })] }),
    configure: (index) => ({ protocol: index % 2 === 0 ? 'crd-allocator' : 'multi-pool' }),
  });
}

const leads = (controller: WorldController): boolean => controller.controller.state === 'leading';

function deletions({ calls }: WorldController): number {
  return calls.filter(({ action }) => action === 'DeleteNetworkInterface').length;
}

/** A burst of pods over the whole fleet, a few seconds long. */
function burst(world: World, name: string, pods: number): void {
  const load = { kind: 'burst', name, at: 0, pods, over: 3000 } as const;
  void world.cluster.workload.run(load, new AbortController().signal);
}

const odd = { kind: 'error', code: 'Odd', status: 400, message: 'odd' } as const;

describe('two controllers', () => {
  test('share the work so that one acts and the other makes a single call to the cloud', async () => {
    const world = worldOf();
    const both = ['headwater-a', 'headwater-b'].map((identity) => startController(world, { identity }));
    void world.cluster.workload.start();
    await world.advance(1000);
    burst(world, 'web', 30);
    await world.advance(180_000);

    const [leader, standby] = both.toSorted((a, b) => Number(leads(b)) - Number(leads(a)));
    expect(both.filter(leads)).toHaveLength(1);
    expect(standby?.controller.state).toBe('standby');
    expect(standby?.calls.map(({ action }) => action)).toEqual(['DescribeVpcs']);
    expect(standby?.publications).toEqual([]);
    expect(await standby?.metric('headwater_leader')).toBe(0);
    expect(await leader?.metric('headwater_leader')).toBe(1);
    expect(standby?.controller.unreadiness()).toBeUndefined();
    expect(world.cluster.workload.waits.count).toBe(30);
    expect(world.broken()).toEqual([]);
  });

  test('report the leader in the status of the standby, which does not report zero for what it does not know', async () => {
    const world = worldOf();
    const both = ['headwater-a', 'headwater-b'].map((identity) => startController(world, { identity }));
    await world.advance(30_000);

    const [leading, standing] = both
      .toSorted((a, b) => Number(leads(b)) - Number(leads(a)))
      .map(({ controller }) => controller.status());
    expect(leading).toMatchObject({ state: 'leading', nodes: expect.anything(), version: '1.2.3' });
    expect(leading).not.toHaveProperty('leader');
    expect(standing).toMatchObject({ state: 'standby', leader: leading?.identity, version: '1.2.3' });
    const ofTheFleet = ['nodes', 'addresses', 'inDeficit', 'warnings', 'excluded', 'subnets'];
    expect(Object.keys(standing ?? {}).filter((key) => ofTheFleet.includes(key))).toEqual([]);
  });

  test('hand over at once when one shuts down in the middle of a burst', async () => {
    const world = worldOf();
    const first = startController(world, { identity: 'headwater-a' });
    await world.advance(1000);
    const second = startController(world, { identity: 'headwater-b' });
    void world.cluster.workload.start();
    await world.advance(60_000);
    burst(world, 'web', 40);
    await world.advance(2500);

    const signalledAt = world.clock.monotonic();
    first.stop();
    await world.until('the second leads', () => leads(second), 30_000);
    const taken = world.clock.monotonic() - signalledAt;
    await world.advance(180_000);

    expect(await first.outcome).toBe('stopped');
    expect(taken).toBeLessThan(8000);
    expect(world.cluster.workload.waits.count).toBe(40);
    expect(world.orphaned()).toEqual([]);
    expect(world.broken()).toEqual([]);
  });

  test.each([0, 700, 1500, 2600])(
    'hand over once the lease has expired, %d ms into a burst, when one dies',
    async (into) => {
      const world = worldOf();
      const first = startController(world, { identity: 'headwater-a' });
      await world.advance(1000);
      const second = startController(world, { identity: 'headwater-b' });
      void world.cluster.workload.start();
      await world.advance(60_000);
      burst(world, 'web', 40);
      await world.advance(into);

      const killed = world.clock.monotonic();
      first.kill();
      await world.until('the second leads', () => leads(second), 30_000);
      const taken = world.clock.monotonic() - killed;
      await world.advance(180_000);

      expect(taken).toBeGreaterThan(10_000);
      expect(taken).toBeLessThan(20_000);
      expect(world.cluster.workload.waits.count).toBe(40);
      expect(world.broken()).toEqual([]);
    },
  );

  test('hand over again and again, and no pod ever loses its address', async () => {
    const world = worldOf();
    void world.cluster.workload.start();
    const load = { kind: 'steady', name: 'web', arrivalsPerMinute: 30, meanLifetime: 90_000 } as const;
    void world.cluster.workload.run(load, new AbortController().signal);

    for (let turn = 0; turn < 12; turn++) {
      const controller = startController(world, { identity: `headwater-${turn}` });
      await world.advance(25_000 + turn * 317);
      if (turn % 2 === 0) controller.kill();
      else controller.stop();
    }
    startController(world, { identity: 'the-last' });
    await world.advance(120_000);

    expect(world.cluster.workload.waits.count).toBeGreaterThan(100);
    expect(world.broken()).toEqual([]);
  });
});

describe('a leading controller', () => {
  test('takes nothing away in its first 20 s', async () => {
    const world = worldOf(1);
    const machine = world.machine();
    world.fault('AttachNetworkInterface', odd);
    const controller = startController(world);
    await world.announce(machine, { spec: { ipam: { 'min-allocate': 15 } } });
    await world.until('it leads', () => leads(controller));
    const led = world.clock.monotonic();

    await world.until('an interface is deleted', () => deletions(controller) > 0);

    expect(world.clock.monotonic() - led).toBeGreaterThanOrEqual(20_000);
    expect(world.broken()).toEqual([]);
  });

  test('takes nothing away after it lost its lease', async () => {
    const world = worldOf(1);
    const machine = world.machine();
    const controller = startController(world);
    await world.advance(30_000);
    world.fault('AttachNetworkInterface', odd);
    // Every call takes long enough for the Lease to end in the middle.
    world.fault('CreateNetworkInterface', { kind: 'slow', ms: 12_000 });
    await world.announce(machine, { spec: { ipam: { 'min-allocate': 15 } } });
    await world.advance(3000);

    world.kubernetesFault({ path: /\/leases\//, effect: { kind: 'dropBefore' } });
    await world.advance(60_000);

    expect(await controller.outcome).toBe('lost');
    expect(deletions(controller)).toBe(0);
    expect(controller.logged).toContainEqual(
      expect.objectContaining({ message: 'leader election lost, exiting' }),
    );
    expect(world.broken()).toEqual([]);
  });

  test('takes nothing away beyond its lease when its wall clock is set forward', async () => {
    const world = worldOf(1);
    const machine = world.machine();
    const controller = startController(world);
    await world.advance(30_000);
    world.fault('AttachNetworkInterface', odd);
    await world.announce(machine, { spec: { ipam: { 'min-allocate': 15 } } });

    await world.until('one is deleted', () => deletions(controller) > 0);
    world.clock.shiftWall(3_600_000);
    await world.advance(30_000);

    expect(deletions(controller)).toBe(1);
    expect(await controller.outcome).toBe('lost');
  });

  test('stops acting and fails when a bug breaks its election', async () => {
    const world = worldOf(1);
    let isBroken = false;
    const controller = startController(world, {
      beforeAnswer: ({ path }) => {
        if (isBroken && path.includes('/leases/')) throw new TypeError('a bug');
        return Promise.resolve();
      },
    });
    await world.advance(30_000);
    world.fault('CreateNetworkInterface', { kind: 'slow', ms: 6000 });
    await world.announce(world.machine(), { spec: { ipam: { 'min-allocate': 15 } } });
    await world.advance(1000);

    isBroken = true;
    await Promise.all([expect(controller.outcome).rejects.toThrow('a bug'), world.advance(4000)]);
    const before = controller.changes.length;
    await world.advance(60_000);

    expect(controller.changes.slice(before).map(({ action }) => action)).not.toContain(
      'AttachNetworkInterface',
    );
  });

  test('acts alone and needs no lease without an election', async () => {
    const world = worldOf(1);
    const controller = startController(world, { flags: { 'leader-election': 'false' } });

    await world.announce(world.machine());
    await world.advance(60_000);
    const leads = await controller.metric('headwater_leader');
    controller.stop();
    await world.advance(30_000);

    expect(leads).toBe(1);
    expect(world.pool(world.machine()).size).toBe(8);
    expect(controller.writes.filter(({ path }) => path.includes('/leases'))).toEqual([]);
    expect(await controller.outcome).toBe('stopped');
  });
});

describe('a controller that shuts down', () => {
  test('exits at once with nothing in flight, and releases its lease', async () => {
    const world = worldOf(2);
    const controller = startController(world);
    for (const machine of world.machines) await world.announce(machine);
    await world.advance(60_000);
    const signalledAt = world.clock.monotonic();
    let ended: number | undefined;
    void controller.outcome.then(() => {
      ended = world.clock.monotonic();
    });

    controller.stop();
    await world.advance(30_000);

    const [lease] = world.cluster.kubernetes.list('leases.coordination.k8s.io');
    expect((ended ?? Infinity) - signalledAt).toBeLessThan(1000);
    expect(lease?.['spec']).toMatchObject({ holderIdentity: '' });
  });

  test.each([100, 600, 1100, 1600, 2500])(
    'finishes operations in flight and starts none in the middle of a scale-up (%d ms)',
    async (into) => {
      const world = worldOf(1);
      const machine = world.machine();
      const controller = startController(world);
      await world.advance(30_000);
      await world.announce(machine, { spec: { ipam: { 'min-allocate': 25 } } });
      await world.advance(into);

      controller.stop();
      const signalledAt = world.clock.monotonic();
      await world.advance(30_000);

      const started = controller.calls.filter(
        ({ at, action }) => at > signalledAt && action.startsWith('Create'),
      );
      expect(await controller.outcome).toBe('stopped');
      expect(world.orphaned()).toEqual([]);
      expect(started.length).toBeLessThanOrEqual(2);
      expect(controller.calls.every(({ at }) => at < signalledAt + 20_000)).toBe(true);
      expect(world.broken()).toEqual([]);
    },
  );

  test.each(['CreateNetworkInterface', 'AttachNetworkInterface'])(
    'exits after 20 s while %s hangs',
    async (action) => {
      const world = worldOf(1);
      const machine = world.machine();
      const controller = startController(world);
      await world.advance(30_000);
      world.fault(action, { kind: 'lost', effect: 'after', connection: 'hang', delayMs: 0 });
      await world.announce(machine, { spec: { ipam: { 'min-allocate': 15 } } });
      await world.advance(3000);
      let ended: number | undefined;
      void controller.outcome.then(() => {
        ended = world.clock.monotonic();
      });

      controller.stop();
      const signalledAt = world.clock.monotonic();
      await world.advance(120_000);

      expect(ended).toBeDefined();
      expect((ended ?? Infinity) - signalledAt).toBeLessThan(21_000);
      expect(await controller.outcome).toBe('stopped');
      expect(world.broken()).toEqual([]);
    },
  );

  test('exits without having acted when it did not lead yet', async () => {
    const world = worldOf(1);
    const controller = startController(world);
    const end = world.kubernetesFault({ effect: { kind: 'dropBefore' } });
    await world.advance(10_000);

    controller.stop();
    await world.advance(30_000);
    end();

    expect(await controller.outcome).toBe('stopped');
    expect(controller.calls).toEqual([]);
    expect(controller.writes).toEqual([]);
  });
});
