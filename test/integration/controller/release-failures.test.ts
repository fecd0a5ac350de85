import { describe, expect, test } from '@jest/globals';
import type { Protocol } from '../../../src/simulator/workload/node-facts.ts';
import { textMapAt } from '../../../src/simulator/workload/json.ts';
import { BusyWorld } from '../../support/busy-world.ts';
import { ids, instance, testCloud } from '../../support/test-cloud.ts';

const flags = { 'aws-release-excess-ips': 'true' };
const unassign = 'UnassignPrivateIpAddresses';

/** A node with 15 pods; once 12 of them are gone, it has 12 addresses more than it needs. */
function node(protocol: Protocol, change: Readonly<Record<string, string>> = {}): Promise<BusyWorld> {
  return BusyWorld.start({
    cloud: testCloud({ instances: [instance()] }),
    configure: () => ({ protocol }),
    setup: { flags: { ...flags, ...change } },
    pods: 15,
  });
}

/** The node has what its watermarks ask for, shows exactly that, and no handshake is open. */
function expectSettled(world: BusyWorld): void {
  const machine = world.machine();
  expect(world.held(machine)).toHaveLength(world.used().length + 8);
  expect([...world.pool(machine).keys()].sort()).toEqual([...world.held(machine)].sort());
  expect(textMapAt(world.ciliumNode(machine), 'status', 'ipam', 'release-ips')).toEqual(new Map());
  expect(world.waiting()).toEqual([]);
  expect(world.broken()).toEqual([]);
}

const protocols = ['crd-allocator', 'multi-pool'] as const;

describe.each(protocols)('an unassignment for an agent of %s', (protocol) => {
  test.each([
    { what: 'takes effect without an answer', effect: 'before', connection: 'drop' },
    { what: 'never takes effect and has no answer', effect: 'after', connection: 'hang' },
    { what: 'takes effect long after its time-out', effect: 'late', connection: 'hang' },
  ] as const)('takes no address in use when it $what', async ({ effect, connection }) => {
    const world = await node(protocol);
    const delayMs = effect === 'late' ? 25_000 : 0;
    const end = world.fault(unassign, { kind: 'lost', effect, connection, delayMs }, 2);

    await world.deleteLivingPods(12);
    // Pods come and go all the time, so that every offered address is soon in use.
    for (let round = 0; round < 20; round++) {
      world.addLivingPods(3, `round-${round}`);
      await world.advance(30_000);
      await world.deleteLivingPods(3, `round-${round}`);
    }
    end();
    await world.advance(900_000);

    expect(world.callsOf(unassign).length).toBeGreaterThan(2);
    expectSettled(world);
  });

  test('offers the addresses again, says so once, and is tried again later when EC2 refuses it for good', async () => {
    const world = await node(protocol);
    const end = world.fault(unassign, {
      kind: 'error',
      code: 'UnauthorizedOperation',
      status: 403,
      message: 'You are not authorized to perform this operation.',
    });
    const { length: held } = world.held(world.machine());

    await world.deleteLivingPods(12);
    await world.advance(600_000);
    const shown = world.pool(world.machine()).size;
    const calls = world.callsOf(unassign).length;
    end();
    await world.advance(4_000_000);

    expect(shown).toBe(held);
    expect(calls).toBeLessThanOrEqual(4);
    expectSettled(world);
  });

  test('releases the other addresses when one is gone already', async () => {
    const world = await node(protocol);
    await world.deleteLivingPods(12);
    // The first call takes effect without an answer; the other client changed only a part.
    world.fault(unassign, { kind: 'lost', effect: 'before', connection: 'drop', delayMs: 0 }, 1);

    await world.advance(1_200_000);

    expectSettled(world);
  });
});

describe.each(protocols)('a node of %s that needs again what it was about to release', (protocol) => {
  test('gets it back without a call', async () => {
    const world = await node(protocol);
    await world.deleteLivingPods(12);
    const stop = world.fault(unassign, { kind: 'throttle' });
    await world.until(
      'addresses are hidden',
      () => world.pool(world.machine()).size < world.held(world.machine()).length,
      400_000,
    );
    const before = { held: world.held(world.machine()).length, calls: world.controller.changes.length };

    world.addLivingPods(12, 'again');
    // An agent reports within 15 s what its pods use.
    await world.advance(20_000);
    stop();
    await world.advance(60_000);

    expect(world.held(world.machine())).toHaveLength(before.held);
    expect(world.controller.changes.slice(before.calls).map(({ action }) => action)).not.toContain(
      'AssignPrivateIpAddresses',
    );
    expect(world.waiting()).toEqual([]);
    expect(world.broken()).toEqual([]);
  });
});

describe('an agent that is asked to release', () => {
  test('keeps an address that it uses, and is not asked again at once', async () => {
    const world = await node('crd-allocator');
    const machine = world.machine();
    await world.deleteLivingPods(12);
    const marked = (): readonly string[] =>
      [...textMapAt(world.ciliumNode(machine), 'status', 'ipam', 'release-ips')].map(([address]) => address);
    await world.until('it is asked', () => marked().length > 0, 400_000);

    world.addLivingPods(12, 'again');
    await world.advance(1_800_000);

    expectSettled(world);
  });

  test.each([0, 5_000, 15_000, 20_000, 40_000])(
    'loses nothing when it becomes a multi-pool agent %i ms after it was asked',
    async (ms) => {
      const world = await node('crd-allocator');
      const machine = world.machine();
      await world.deleteLivingPods(12);
      await world.until(
        'it is asked',
        () => textMapAt(world.ciliumNode(machine), 'status', 'ipam', 'release-ips').size > 0,
        400_000,
      );
      await world.advance(ms);

      void world.cluster.workload.changeAgent(machine.name, 'multi-pool');
      world.addLivingPods(6, 'later');
      await world.advance(1_800_000);

      expectSettled(world);
    },
  );
});

describe.each(protocols)('a new leader beside an agent of %s', (protocol) => {
  test.each([100_000, 185_000, 190_000, 200_000, 215_000, 230_000, 270_000, 290_000])(
    'continues %i ms after the pods left, takes nothing away in its first 20 s, and loses nothing',
    async (ms) => {
      const world = await node(protocol);
      await world.deleteLivingPods(12);
      await world.advance(ms);

      const controller = world.takeOver({ flags });
      await world.until('it leads', () => controller.controller.state === 'leading', 60_000);
      const leadsSince = world.clock.monotonic();
      world.addLivingPods(4, 'later');
      await world.advance(900_000);

      const taken = controller.calls.filter(({ action }) => action === unassign);
      expect(taken.filter(({ at }) => at < leadsSince + 20_000)).toEqual([]);
      expectSettled(world);
    },
  );
});

test('addresses that one node releases serve another node at once', async () => {
  const world = await BusyWorld.start({
    cloud: testCloud({ instances: [instance({ count: 2 })] }),
    configure: () => ({ eni: { subnetTags: { purpose: 'pods' }, firstInterfaceIndex: 1 } }),
    setup: { flags },
    pods: 16,
  });
  world.occupy(ids.pods);
  world.occupy(ids.morePods);
  await world.deleteLivingPods(16);
  world.addLivingPods(4, 'needy');
  await world.advance(1_200_000);

  expect(world.waiting()).toEqual([]);
  expect(world.broken()).toEqual([]);
});

test('a new leader tries no release in its quiet period, and then releases everything at once', async () => {
  const soon = { 'excess-ip-release-delay': '3' };
  const world = await node('crd-allocator', soon);
  const end = world.fault(unassign, { kind: 'throttle' });
  await world.deleteLivingPods(12);
  await world.until('something is to be unassigned', () => world.callsOf(unassign).length > 0, 400_000);
  const { logged } = world.takeOver({ flags: { ...flags, ...soon } });
  await world.until('it leads', () => logged.some(({ message }) => message === 'leading'), 60_000);
  const leadsAt = world.clock.monotonic();
  end();

  await world.until(
    'all excess is released',
    () => world.held(world.machine()).length === world.used().length + 8,
    60_000,
  );
  const took = world.clock.monotonic() - leadsAt;
  await world.advance(120_000);

  const early = logged.filter(({ message }) =>
    message.startsWith('release deferred: outside the safe lease window'),
  );
  expect(early).toEqual([]);
  expect(took).toBeLessThan(25_000);
  expectSettled(world);
});

test('the slot of an interface that is detached and cannot be deleted is used as soon as it is needed', async () => {
  const world = await BusyWorld.start({
    cloud: testCloud({ instances: [instance()] }),
    setup: { flags: { ...flags, 'idle-interface-delay': '1h', 'resync-interval': '6h' } },
    pods: 14,
  });
  const machine = world.machine();
  const before = world.interfaces(machine).length;
  await world.deleteLivingPods(14);
  world.fault('DeleteNetworkInterface', { kind: 'throttle' });
  await world.until('interfaces are detached', () => world.interfaces(machine).length < before, 6_000_000);

  world.addLivingPods(22, 'again');
  await world.advance(60_000);

  expect(world.waiting()).toEqual([]);
  expect(world.interfaces(machine)).toHaveLength(before);
  expect(world.orphaned().length).toBeGreaterThan(0);
  expect(world.broken()).toEqual([]);
});
