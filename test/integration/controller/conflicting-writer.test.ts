import { describe, expect, test } from '@jest/globals';
import { thisProcess } from '../../../src/config/process-environment.ts';
import { KubernetesClient } from '../../../src/simulator/workload/kubernetes-client.ts';
import type { NodeFacts } from '../../../src/simulator/workload/node-facts.ts';
import { callKubernetes } from '../../support/kubernetes-call.ts';
import { mountedConfig } from '../../support/config-directory.ts';
import { StandInOperator } from '../../support/stand-in-operator.ts';
import { instance, testCloud } from '../../support/test-cloud.ts';
import { World } from '../../support/world.ts';
import { startController, type WorldController } from '../../support/world-controller.ts';

const quiet = 300_000;

function worldOf(count: number): World {
  return new World({
    cloud: testCloud({ instances: [instance({ type: 'm5.xlarge', count })] }),
    configure: (index) => ({ protocol: index % 2 === 0 ? 'crd-allocator' : 'multi-pool' }),
  });
}

/** A world with satisfied nodes and an idle controller. */
async function settled(count = 2): Promise<{ world: World; controller: WorldController }> {
  const world = worldOf(count);
  const controller = startController(world);
  for (const machine of world.machines) await world.announce(machine);
  await world.advance(60_000);
  return { world, controller };
}

async function conflictingWrites(controller: WorldController): Promise<number> {
  const parts = await Promise.all(
    ['pool', 'status'].map((part) => controller.metric(`headwater_conflicting_writes_total{part="${part}"}`)),
  );
  return parts.reduce<number>((sum, each) => sum + (each ?? 0), 0);
}

const releasing = { 'aws-release-excess-ips': 'true', 'excess-ip-release-delay': '60' };

const isStopped = ({ controller }: WorldController): boolean =>
  controller.status().paused.some(({ activities }) => activities.includes('allocation'));

const lines = (controller: WorldController, text: RegExp): number =>
  controller.logged.filter(({ level, message }) => level === 'warn' && text.test(message)).length;

describe('a cilium-operator that still runs', () => {
  test('pauses all changes, which is reported everywhere', async () => {
    const { world, controller } = await settled();
    const operator = new StandInOperator(world);
    const [machine] = world.machines;
    if (machine === undefined) throw new Error('there is no machine');

    void operator.run();
    await world.until('all is paused', () => isStopped(controller), 5000);
    await world.advance(2000);
    const since = world.clock.monotonic();
    await world.request(machine, 20);
    await world.advance(200_000);

    expect(controller.changes.filter(({ at }) => at > since)).toEqual([]);
    expect(controller.publications.filter(({ at }) => at > since)).toEqual([]);
    expect(world.events(machine.name)).toContainEqual(
      expect.stringMatching(
        /^CiliumNode ConflictingWriter: cilium-operator-aws, not Headwater, wrote the pool/,
      ),
    );
    expect(world.events(machine.name)).toContainEqual(
      expect.stringMatching(/^CiliumNode MutationsPaused: .* another program writes CiliumNodes/),
    );
    expect(await conflictingWrites(controller)).toBeGreaterThanOrEqual(2);
    expect(await controller.metric('headwater_mutations_paused{reason="conflictingWriter"}')).toBe(1);
    expect(await controller.metric('headwater_conflicting_writer{stops="fleet"}')).toBe(1);
    expect(controller.controller.status().paused).toEqual([
      {
        reason: 'conflictingWriter',
        activities: ['allocation', 'release', 'ciliumnode-writes'],
        manager: 'cilium-operator-aws',
        node: expect.stringMatching(/^ip-/) as unknown,
        parts: ['status'],
        quietInSeconds: expect.any(Number) as unknown,
      },
    ]);
    expect(lines(controller, /conflicting writer continues/)).toBe(1);
    expect(world.broken()).toEqual([]);
  });

  test.each([
    { what: 'a cilium-operator', userAgent: 'cilium-operator-aws/1.17.4', isClusterWide: true },
    { what: 'another client', userAgent: 'kubectl/v1.31.0', isClusterWide: false },
  ])(
    'is known by its name: that $what pauses the fleet at its first write is $isClusterWide',
    async (row) => {
      const { world, controller } = await settled();
      const client = new KubernetesClient(world.cluster.kubernetes.handle, row.userAgent);
      const [machine, other] = world.machines;
      if (machine === undefined || other === undefined) throw new Error('there are no machines');
      const [address = ''] = world.pool(machine).keys();

      await callKubernetes(client, {
        method: 'PATCH',
        path: `/apis/cilium.io/v2/ciliumnodes/${machine.name}`,
        body: { spec: { ipam: { pool: { [address]: { owner: 'somebody' } } } } },
      });
      await world.advance(1000);
      const stopped = isStopped(controller);
      const since = world.clock.monotonic();
      await world.request(other, 9);
      await world.advance(60_000);

      expect(stopped).toBe(row.isClusterWide);
      expect(controller.changes.some(({ at }) => at > since)).toBe(!row.isClusterWide);
      expect(controller.controller.status().paused).toMatchObject([
        {
          reason: 'conflictingWriter',
          manager: row.userAgent.split('/')[0],
          node: machine.name,
          parts: ['pool'],
        },
      ]);
    },
  );

  test('pauses all changes of a new leader at its first write, while the previous leader may still have written', async () => {
    const { world, controller } = await settled();
    controller.kill();
    const next = startController(world, { identity: 'next' });
    await world.until('the next one leads', () => next.controller.status().state === 'leading', 60_000);
    await world.advance(3000);
    const since = world.clock.monotonic();

    void new StandInOperator(world).run();
    await world.until('all is paused', () => isStopped(next), 2000);
    await world.request(world.machine(), 20);
    await world.advance(100_000);

    expect(next.changes).toEqual([]);
    expect(next.publications.filter(({ at }) => at > since + 2000)).toEqual([]);
    expect(world.broken()).toEqual([]);
  });

  test('is none beside a dry run, which serves nodes as soon as it is stopped', async () => {
    const config = mountedConfig();
    config.mount({ 'dry-run': 'true' });
    const world = worldOf(2);
    for (const machine of world.machines) await world.announce(machine);
    const controller = startController(world, {
      flags: { 'config-dir': config.path },
      processEnvironment: { ...thisProcess, environment: {} },
    });
    const operator = new StandInOperator(world, { supplies: true });
    void operator.run(10_000);
    await world.advance(60_000);
    await world.request(world.machine(1), 12);
    await world.advance(20_000);
    const beside = controller.controller.status().paused.map(({ reason }) => reason);
    operator.stop();
    config.mount({});
    await world.request(world.machine(1), 20);
    await world.until('the node has them', () => world.pool(world.machine(1)).size >= 20, 60_000);

    expect(operator.writes.filter((at) => at > 30_000)).not.toEqual([]);
    expect(beside).toEqual(['dryRun']);
    expect(await conflictingWrites(controller)).toBe(0);
    expect(world.broken()).toEqual([]);
    config.remove();
  });

  test('lets changes resume and deficits be served 5 quiet minutes after it stops', async () => {
    const { world, controller } = await settled();
    const operator = new StandInOperator(world);
    const machine = world.machine();
    void operator.run();
    await world.until('all is paused', () => isStopped(controller), 5000);
    await world.advance(60_000);
    operator.stop();
    await world.request(machine, 20);
    await world.addPods(machine, { count: 5 });
    const last = operator.writes.at(-1) ?? 0;

    await world.until('all goes on', () => !isStopped(controller), quiet + 10_000);
    const resumed = world.clock.monotonic();
    await world.advance(30_000);

    expect(resumed - last).toBeGreaterThanOrEqual(quiet);
    expect(resumed - last).toBeLessThan(quiet + 1000);
    expect(controller.changes.filter(({ at }) => at > last + 1000 && at < resumed)).toEqual([]);
    expect(world.pool(machine).size).toBeGreaterThanOrEqual(20);
    expect(world.operatorError(machine)).toBe('');
    // What the other writer changed is restored.
    expect(JSON.stringify(world.enis(machine))).not.toContain('(Cilium)');
    expect(lines(controller, /no conflicting write for 5 min/)).toBe(1);
    expect(await controller.metric('headwater_mutations_paused{reason="conflictingWriter"}')).toBe(0);
    expect(controller.controller.status().paused).toEqual([]);
    expect(world.broken()).toEqual([]);
  });

  test('is corrected once in 5 minutes at most, for hours', async () => {
    const { world, controller } = await settled();
    void new StandInOperator(world).run();

    await world.advance(7_200_000);

    const stops = lines(controller, /conflicting writer continues/);
    const after = controller.publications.filter(({ at }) => at > 61_000);
    expect(stops).toBeGreaterThan(10);
    expect(stops).toBeLessThanOrEqual(24);
    // One write per node and attempt.
    expect(after.length).toBeLessThanOrEqual(2 * (stops + 1));
    expect(controller.changes.filter(({ at }) => at > 61_000)).toEqual([]);
    expect(world.broken()).toEqual([]);
  });

  test('does not stop an operation in flight', async () => {
    const { world, controller } = await settled();
    const machine = world.machine();
    const full = world.held(machine).length;
    world.fault('CreateNetworkInterface', { kind: 'slow', ms: 5000 });
    await world.patch(machine, { spec: { ipam: { 'min-allocate': full + 12 } } });
    await world.advance(3000);

    await new StandInOperator(world).resync();
    await world.until('all is paused', () => isStopped(controller), 1000);
    const stopped = world.clock.monotonic();
    await world.advance(30_000);

    const afterwards = controller.changes.filter(({ at, result }) => at >= stopped && result === 'OK');
    expect(afterwards.map(({ action }) => action)).toEqual([
      'CreateNetworkInterface',
      'AttachNetworkInterface',
    ]);
    expect(world.interfaces(machine)).toHaveLength(2);
    expect(world.orphaned()).toEqual([]);
    expect(world.broken()).toEqual([]);
  });
});

describe('an edit of a pool by hand', () => {
  test('is undone at once, and stops releases for 5 minutes', async () => {
    const { world, controller } = await settled();
    const [machine, other] = world.machines;
    if (machine === undefined || other === undefined) throw new Error('there are no two machines');
    const [address = ''] = world.pool(machine).keys();

    await world.patch(machine, { spec: { ipam: { pool: { [address]: null } } } });
    await world.advance(1000);
    await world.request(other, 20);
    await world.advance(30_000);
    const during = controller.controller.status().paused;
    const stops = await Promise.all(
      ['releases', 'fleet'].map((each) => controller.metric(`headwater_conflicting_writer{stops="${each}"}`)),
    );
    await world.advance(quiet);

    expect(stops).toEqual([1, 0]);
    expect(world.pool(machine).has(address)).toBe(true);
    expect(world.pool(other).size).toBe(20);
    expect(during).toEqual([
      expect.objectContaining({ reason: 'conflictingWriter', activities: ['release'], node: machine.name }),
    ]);
    expect(controller.controller.status().paused).toEqual([]);
    expect(await conflictingWrites(controller)).toBe(1);
    expect(lines(controller, /conflicting writer detected/)).toBe(1);
    expect(world.events(machine.name)).toContainEqual(
      expect.stringMatching(/^CiliumNode ConflictingWriter: another program/),
    );
  });

  test('stops a release in progress until the pool has been quiet', async () => {
    const world = worldOf(2);
    const controller = startController(world, { flags: releasing });
    const { workload } = world.cluster;
    void workload.start();
    await world.advance(60_000);
    for (let index = 0; index < 30; index++) {
      void workload.createPod({ name: `pod-${index}`, placement: 'spread' });
    }
    await world.advance(60_000);
    for (let index = 0; index < 30; index++) await workload.deletePod(`default/pod-${index}`);
    await world.advance(20_000);

    await world.patch(world.machine(), { spec: { ipam: { pool: { '10.0.0.250': { resource: 'eni-1' } } } } });
    const since = world.clock.monotonic();
    await world.until('it goes on', () => controller.controller.status().paused.length === 0, quiet + 5000);
    const quietUntil = world.clock.monotonic();
    await world.advance(600_000);

    const released = controller.changes.filter(({ action }) => action === 'UnassignPrivateIpAddresses');
    expect(quietUntil - since).toBeGreaterThanOrEqual(quiet);
    expect(released.length).toBeGreaterThan(0);
    expect(released.filter(({ at }) => at > since && at < quietUntil)).toEqual([]);
    expect(world.held(world.machine())).toHaveLength((workload.views[0]?.addressesInUse.size ?? 0) + 8);
  });

  test('counts as a conflicting writer when it is made twice', async () => {
    const { world, controller } = await settled();
    const machine = world.machine();
    const [address = ''] = world.pool(machine).keys();

    const strike = { spec: { ipam: { pool: { [address]: null } } } };
    await world.patch(machine, strike);
    await world.advance(quiet - 100_000);
    await world.patch(machine, strike);
    // The quiet time counts from the last edit.
    await world.advance(quiet - 10_000);
    const late = [isStopped(controller), world.pool(machine).has(address)];
    await world.advance(15_000);

    expect(late).toEqual([true, false]);
    expect(isStopped(controller)).toBe(false);
    expect(world.pool(machine).has(address)).toBe(true);
  });

  test('pauses its node when it is made twice, and the fleet once the same writer writes another node', async () => {
    const { world, controller } = await settled(4);
    const [first, second, third, fourth] = world.machines;
    if (!first || !second || !third || !fourth) throw new Error('there are no four machines');
    let writes = 0;
    const patch = async (userAgent: string, machine: NodeFacts): Promise<void> => {
      // A removal names no writer: the API server records only who set a field.
      const address = `10.0.48.${++writes}`;
      await callKubernetes(new KubernetesClient(world.cluster.kubernetes.handle, userAgent), {
        method: 'PATCH',
        path: `/apis/cilium.io/v2/ciliumnodes/${machine.name}`,
        body: { spec: { ipam: { pool: { [address]: { resource: 'eni-1' } } } } },
      });
      await world.advance(2000);
    };
    /** Whether the node gets what it requests. */
    const isServed = async (machine: NodeFacts): Promise<boolean> => {
      const wanted = world.pool(machine).size + 1;
      await world.request(machine, wanted);
      await world.advance(10_000);
      return world.pool(machine).size >= wanted;
    };

    for (let write = 0; write < 2; write++) await patch('kubectl/v1.31.0', first);
    const afterTwo = [await isServed(first), await isServed(second)];
    for (let write = 0; write < 2; write++) await patch('k9s/v0.50', second);
    const ofAnother = [await isServed(second), await isServed(third)];
    await patch('kubectl/v1.31.0', third);
    const ofTheSame = await isServed(fourth);

    expect(afterTwo).toEqual([false, true]);
    expect(ofAnother).toEqual([false, true]);
    expect(ofTheSame).toBe(false);
    expect(world.events(first.name)).toContainEqual(
      expect.stringMatching(
        /^CiliumNode ConflictingWriter: kubectl, not Headwater, wrote .*: this node gets nothing, and nothing is released from any until there has been no such write for 5 minutes/,
      ),
    );
    expect(await controller.metric('headwater_conflicting_writer{stops="fleet"}')).toBe(1);
  });

  test('counts as a late write of the previous leader shortly after a change of leader', async () => {
    const world = worldOf(1);
    const machine = world.machine();
    const controller = startController(world);
    await world.announce(machine);
    await world.until('the node is supplied', () => world.pool(machine).size === 8, 15_000);
    await world.advance(2000);

    await world.patch(machine, { spec: { ipam: { pool: { '10.0.16.250': { resource: 'eni-1' } } } } });
    await world.advance(2000);

    expect(world.pool(machine).size).toBe(8);
    expect(await conflictingWrites(controller)).toBe(0);
  });
});

describe('no conflicting writer', () => {
  test('is seen in agents of both protocols, over an hour of pods that come and go and agents that are replaced', async () => {
    const world = worldOf(4);
    const controller = startController(world, { flags: releasing });
    const { workload } = world.cluster;
    const forever = new AbortController().signal;
    void workload.start();
    void workload.run({ kind: 'steady', name: 'web', arrivalsPerMinute: 6, meanLifetime: 120_000 }, forever);
    void workload.run({ kind: 'rolling-upgrade', name: 'upgrade', at: 600_000, every: 300_000 }, forever);
    void workload.run(
      { kind: 'burst', name: 'batch', at: 1_500_000, pods: 60, over: 3000, lifetime: 600_000 },
      forever,
    );

    await world.advance(3_600_000);

    expect(await conflictingWrites(controller)).toBe(0);
    expect(controller.publications.length).toBeGreaterThan(50);
    expect(controller.calls.map(({ action }) => action)).toContain('UnassignPrivateIpAddresses');
    expect(world.broken()).toEqual([]);
  });

  test('is seen in the previous leader, however it ended, nor in writes with lost answers', async () => {
    const world = worldOf(3);
    const { workload } = world.cluster;
    void workload.start();
    void workload.run(
      { kind: 'steady', name: 'web', arrivalsPerMinute: 30, meanLifetime: 60_000 },
      new AbortController().signal,
    );
    world.kubernetesFault({
      method: 'PATCH',
      path: /ciliumnodes/,
      times: 40,
      effect: { kind: 'dropAfter' },
    });
    const turns: WorldController[] = [];

    for (let turn = 0; turn < 8; turn++) {
      const controller = startController(world, { identity: `headwater-${turn}`, flags: releasing });
      turns.push(controller);
      await world.advance(90_000 + turn * 317);
      if (turn % 2 === 0) controller.kill();
      else controller.stop();
    }

    const counts = await Promise.all(turns.map(conflictingWrites));
    const lost = turns.flatMap(({ publications }) => publications.filter(({ status }) => status === 0));
    expect(counts).toEqual(turns.map(() => 0));
    expect(lost.length).toBeGreaterThanOrEqual(40);
    expect(world.broken()).toEqual([]);
  });

  test('is seen in the previous leader that only took out what an operator had put in', async () => {
    const world = worldOf(1);
    const machine = world.machine();
    await world.announce(machine);
    const operator = new StandInOperator(world, { describes: false, supplies: true });
    for (let run = 0; run < 4; run++) await operator.resync();
    expect(world.pool(machine).size).toBe(8);
    const controller = startController(world);
    await world.until(
      'the controller leads',
      () => controller.controller.status().state === 'leading',
      60_000,
    );
    await world.advance(3000);

    // The last action of the previous leader.
    const [address = ''] = world.pool(machine).keys();
    await world.patch(machine, { spec: { ipam: { pool: { [address]: null } } } });
    await world.advance(15_000);

    expect(await conflictingWrites(controller)).toBe(0);
    expect(controller.controller.status().paused).toEqual([]);
  });

  test('is seen in the previous leader when the watch shows its writes minutes late', async () => {
    const world = worldOf(2);
    const [before, next] = ['headwater-a', 'headwater-b'].map((identity) =>
      startController(world, { identity }),
    );
    if (before === undefined || next === undefined) throw new Error('there are no two controllers');
    const machine = world.machine();
    for (const each of world.machines) await world.announce(each);
    await world.advance(60_000);
    const [leader, successor] = before.publications.length > 0 ? [before, next] : [next, before];
    const [address = ''] = world.pool(machine).keys();
    world.kubernetesFault({
      path: /ciliumnodes.*watch=/,
      times: Infinity,
      effect: { kind: 'delayEvents', ms: 120_000 },
    });

    // The last action of this leader.
    leader.kill();
    await world.patch(machine, { spec: { ipam: { pool: { [address]: null } } } });
    await world.advance(300_000);

    expect(await successor.metric('headwater_leader')).toBe(1);
    expect(await conflictingWrites(successor)).toBe(0);
    expect(world.pool(machine).has(address)).toBe(true);
    expect(world.broken()).toEqual([]);
  });

  test('is seen in clients that write nodes which Headwater does not manage', async () => {
    const tags = { role: 'worker' };
    const world = new World({
      cloud: testCloud({ instances: [instance({ tags }), instance({ name: 'other' })] }),
    });
    const controller = startController(world, { flags: { 'instance-tags-filter': 'role=worker' } });
    const [machine, untagged] = world.machines;
    if (machine === undefined || untagged === undefined) throw new Error('there are no two machines');
    await world.announce(machine);
    await world.announce(untagged);
    await world.advance(60_000);

    for (let write = 0; write < 5; write++) {
      await world.patch(untagged, {
        spec: { ipam: { pool: { [`10.0.0.${200 + write}`]: { resource: 'eni-x' } } } },
      });
      await world.advance(1000);
    }
    await world.patch(machine, { metadata: { annotations: { 'ipam.cilium.io/ignore': 'true' } } });
    await world.advance(1000);
    await world.patch(machine, { spec: { ipam: { pool: null } } });
    await world.advance(1000);

    expect(await conflictingWrites(controller)).toBe(0);
    expect(controller.controller.status().paused).toEqual([]);
  });
});
