import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { thisProcess } from '../../../src/config/process-environment.ts';
import { assign } from '../../../src/simulator/cloud/assignments.ts';
import { nothing } from '../../../src/simulator/cloud/claims.ts';
import { type MountedConfig, mountedConfig } from '../../support/config-directory.ts';
import { instance, testCloud } from '../../support/test-cloud.ts';
import { World } from '../../support/world.ts';
import { startController, type WorldController } from '../../support/world-controller.ts';

let config: MountedConfig;

beforeEach(() => {
  config = mountedConfig();
});

afterEach(() => {
  config.remove();
});

const processEnvironment = { ...thisProcess, environment: {} };

/** A satisfied node, and a controller that reads the directory. */
async function settled(flags: Readonly<Record<string, string>> = {}): Promise<{
  world: World;
  controller: WorldController;
}> {
  config.mount({});
  const world = new World({ cloud: testCloud({ instances: [instance({ type: 'm5.xlarge' })] }) });
  const controller = startController(world, {
    flags: { 'config-dir': config.path, ...flags },
    processEnvironment,
  });
  await world.announce(world.machine());
  await world.advance(60_000);
  return { world, controller };
}

describe('changes paused in the directory', () => {
  test('do not start, are reported, and resume once the option is removed', async () => {
    const { world, controller } = await settled();
    const machine = world.machine();
    const before = controller.changes.length;

    config.mount({ pause: 'mutations' });
    await world.advance(10_000);
    await world.request(machine, 20);
    await world.advance(300_000);
    const during = {
      changes: controller.changes.length,
      stopped: controller.controller.status().paused,
      paused: await controller.metric('headwater_mutations_paused{reason="paused"}'),
      error: world.operatorError(machine),
      events: world.events(machine.name),
    };
    config.mount({});
    // Its agent reads no pool, which follows once that is in no write's way.
    await world.advance(40_000);

    expect(during.changes).toBe(before);
    expect(during.stopped).toEqual([{ reason: 'paused', activities: ['allocation', 'release'] }]);
    expect(during.paused).toBe(1);
    expect(during.error).toBe('the node lacks addresses and gets none for now: it is paused (--pause)');
    expect(during.events).toContainEqual(
      expect.stringContaining(`CiliumNode MutationsPaused: ${during.error}`),
    );
    expect(world.pool(machine).size).toBe(20);
    expect(world.operatorError(machine)).toBe('');
    expect(await controller.metric('headwater_mutations_paused{reason="paused"}')).toBe(0);
    expect(
      controller.logged.filter(({ message }) => message === 'options changed while running'),
    ).toHaveLength(2);
    expect(world.broken()).toEqual([]);
  });

  test('still publish what the cloud has', async () => {
    const { world } = await settled({ 'resync-interval': '30s' });
    const machine = world.machine();
    config.mount({ pause: 'mutations' });
    await world.advance(10_000);

    const [own] = world.interfaces(machine);
    const { network } = world.cluster.ec2;
    assign(network, own?.id ?? '', { ...nothing, count: 2 }, false);
    await world.advance(120_000);

    expect(world.pool(machine).size).toBe(10);
    expect([...world.pool(machine).keys()].sort()).toEqual([...world.held(machine)].sort());
    expect(world.broken()).toEqual([]);
  });

  test.each([
    { what: 'attached', odd: false, interfaces: 2 },
    { what: 'deleted when it cannot be attached', odd: true, interfaces: 1 },
  ])('leave an interface whose creation was in flight $what', async ({ odd, interfaces }) => {
    const { world, controller } = await settled();
    const machine = world.machine();
    world.fault('CreateNetworkInterface', { kind: 'slow', ms: 25_000 });
    if (odd)
      world.fault('AttachNetworkInterface', { kind: 'error', code: 'Odd', status: 400, message: 'odd' });
    await world.patch(machine, { spec: { ipam: { 'min-allocate': 20 } } });
    await world.advance(3000);

    config.mount({ pause: 'mutations releases' });
    await world.advance(10_000);
    const paused = world.clock.monotonic();
    await world.advance(300_000);

    const afterwards = controller.changes.filter(({ at }) => at >= paused).map(({ action }) => action);
    // The call is repeated while EC2 does not know yet what it has just created.
    expect([...new Set(afterwards)]).toEqual([
      'CreateNetworkInterface',
      'AttachNetworkInterface',
      ...(odd ? ['DeleteNetworkInterface'] : []),
    ]);
    expect(world.interfaces(machine)).toHaveLength(interfaces);
    expect(world.orphaned()).toEqual([]);
    expect(world.pool(machine).size).toBe(world.held(machine).length);
    expect(world.broken()).toEqual([]);
  });

  test('include calls that wait for the rate limits and calls decided earlier', async () => {
    const { world, controller } = await settled({
      'limit-ipam-api-qps': '0.05',
      'limit-ipam-api-burst': '1',
    });
    const machine = world.machine();
    const before = controller.changes.length;
    await world.request(machine, 12);
    await world.advance(100);

    config.mount({ pause: 'mutations' });
    await world.advance(300_000);

    expect(controller.changes.length - before).toBeLessThanOrEqual(1);
  });
});

/** Calls that took something away, since that time. */
const taken = ({ removals }: WorldController, since: number): readonly string[] =>
  removals.filter(({ at }) => at > since).map(({ action }) => action);

describe.each(['crd-allocator', 'multi-pool'] as const)(
  'releases paused while an agent of %s',
  (protocol) => {
    // Before anything is in excess for long enough; while the agent is asked or the address is hidden; and in between.
    test.each([20_000, 190_000, 215_000, 260_000])(
      'releases (%d ms into it) take nothing away, let demand be served, and resume afterwards',
      async (into) => {
        config.mount({});
        const world = new World({
          cloud: testCloud({ instances: [instance()] }),
          configure: () => ({ protocol }),
        });
        const { workload } = world.cluster;
        const flags = { 'config-dir': config.path, 'aws-release-excess-ips': 'true' };
        const controller = startController(world, { flags, processEnvironment });
        void workload.start();
        await world.advance(60_000);
        for (let index = 0; index < 15; index++) {
          void workload.createPod({ name: `pod-${index}`, placement: 'spread' });
        }
        await world.advance(120_000);
        const machine = world.machine();
        for (let index = 0; index < 12; index++) await workload.deletePod(`default/pod-${index}`);
        await world.advance(into);

        config.mount({ pause: 'releases' });
        await world.advance(11_000);
        const paused = world.clock.monotonic();
        const held = world.held(machine).length;
        await world.advance(600_000);
        const during = [taken(controller, paused), world.held(machine).length];
        const gated = await controller.metric(
          'headwater_cloud_calls_total{action="UnassignPrivateIpAddresses",outcome="stopped"}',
        );
        for (let index = 0; index < 12; index++) {
          void workload.createPod({ name: `late-${index}`, placement: 'spread' });
        }
        await world.advance(60_000);
        const { count } = workload.waits;
        for (let index = 0; index < 12; index++) await workload.deletePod(`default/late-${index}`);
        config.mount({});
        await world.advance(900_000);

        const inUse = workload.views[0]?.addressesInUse.size ?? 0;
        expect(during).toEqual([[], held]);
        // Nothing reached the gate: it was not started.
        expect(gated).toBeUndefined();
        expect(count).toBe(27);
        expect(world.held(machine).length).toBe(inUse + 8);
        expect(world.broken()).toEqual([]);
      },
    );
  },
);

describe('an interface without pod addresses', () => {
  /** One node with an interface that has been empty for 50 min of its hour. */
  async function almostIdle(): Promise<{ world: World; controller: WorldController }> {
    config.mount({});
    const world = new World({ cloud: testCloud({ instances: [instance()] }) });
    const { workload } = world.cluster;
    const flags = {
      'config-dir': config.path,
      'aws-release-excess-ips': 'true',
      'idle-interface-delay': '1h',
    };
    const controller = startController(world, { flags, processEnvironment });
    void workload.start();
    await world.advance(60_000);
    for (let index = 0; index < 14; index++) {
      void workload.createPod({ name: `pod-${index}`, placement: 'spread' });
    }
    await world.advance(120_000);
    for (let index = 0; index < 14; index++) await workload.deletePod(`default/pod-${index}`);
    await world.advance(3_600_000);
    return { world, controller };
  }

  test('stays while releases are paused, and is deleted afterwards', async () => {
    const { world } = await almostIdle();
    const machine = world.machine();
    const before = Object.keys(world.enis(machine));

    config.mount({ pause: 'releases' });
    await world.advance(3_600_000);
    const during = [Object.keys(world.enis(machine)), world.interfaces(machine).length];
    config.mount({});
    await world.advance(120_000);

    expect(before).toHaveLength(3);
    expect(during).toEqual([before, 3]);
    expect(world.interfaces(machine).length).toBeLessThan(3);
    expect(world.orphaned()).toEqual([]);
    expect(world.broken()).toEqual([]);
  });

  test('is still deleted when it is already being detached', async () => {
    const { world, controller } = await almostIdle();
    world.fault('DeleteNetworkInterface', { kind: 'error', code: 'Odd', status: 400, message: 'odd' }, 4);
    const detaching = (): number =>
      controller.calls.filter(({ action }) => action.startsWith('Detach')).length;
    await world.until('one is being detached', () => detaching() > 0, 3_600_000);

    config.mount({ pause: 'releases' });
    await world.advance(10_000);
    const whenPaused = [controller.controller.status().paused.length, world.orphaned().length];
    await world.advance(300_000);

    expect(whenPaused[0]).toBe(1);
    expect(whenPaused[1]).toBeGreaterThan(0);
    expect(world.orphaned()).toEqual([]);
    expect(world.broken()).toEqual([]);
  });
});

describe('releases paused', () => {
  test('let allocation continue when a flag pauses them, and the directory does not change that', async () => {
    const { world, controller } = await settled({ pause: 'releases' });
    config.mount({ pause: 'mutations' });
    await world.advance(20_000);

    await world.request(world.machine(), 20);
    await world.advance(30_000);

    expect(world.pool(world.machine()).size).toBe(20);
    expect(controller.controller.status().paused).toEqual([{ reason: 'paused', activities: ['release'] }]);
    expect(world.broken()).toEqual([]);
  });
});

describe('a value that the directory cannot have', () => {
  test('is logged once, and the previous value stays in force', async () => {
    const { world, controller } = await settled();
    config.mount({ pause: 'mutations' });
    await world.advance(10_000);

    config.mount({ pause: 'all' });
    await world.advance(120_000);

    expect(controller.logged.filter(({ level }) => level === 'warn')).toContainEqual({
      level: 'warn',
      message: 'option not changed: the previous value stays',
      details: {
        problem: `pause: "all" from the file ${config.path}/pause is refused; accepted: releases, mutations, or several of them separated by commas or spaces`,
      },
    });
    expect(controller.warnings().filter((text) => text.startsWith('option not changed'))).toHaveLength(1);
    expect(controller.controller.status().paused).toHaveLength(1);
  });
});
