import { describe, expect, test } from '@jest/globals';
import { assign } from '../../../src/simulator/cloud/assignments.ts';
import { associate } from '../../../src/simulator/cloud/public-addresses.ts';
import { nothing } from '../../../src/simulator/cloud/claims.ts';
import type { IpamWatermarks, Protocol } from '../../../src/simulator/workload/node-facts.ts';
import { textMapAt } from '../../../src/simulator/workload/json.ts';
import { standings } from '../../../src/simulator/cluster/invariants.ts';
import { instance, testCloud } from '../../support/test-cloud.ts';
import { World } from '../../support/world.ts';
import { startController, type WorldController } from '../../support/world-controller.ts';

const releasing = { 'aws-release-excess-ips': 'true' };

/** One node with its agent and `pods` served pods. */
async function busyNode(
  protocol: Protocol,
  pods: number,
  {
    ipam = {},
    flags = releasing,
    cloud = {},
  }: {
    ipam?: IpamWatermarks;
    flags?: Readonly<Record<string, string>>;
    cloud?: Readonly<Record<string, unknown>>;
  } = {},
): Promise<{ world: World; controller: WorldController }> {
  const world = new World({
    cloud: testCloud({ instances: [instance()], ...cloud }),
    configure: () => ({ protocol, ipam }),
  });
  const controller = startController(world, { flags: { 'resync-interval': '30s', ...flags } });
  await world.startAgents();
  await world.advance(60_000);
  for (let index = 0; index < pods; index++) {
    void world.cluster.workload.createPod({ name: `pod-${index}`, placement: 'spread' });
  }
  await world.advance(120_000);
  return { world, controller };
}

describe.each(['crd-allocator', 'multi-pool'] as const)('an agent of %s', (protocol) => {
  test('releases what its pods no longer need, down to the watermarks', async () => {
    const { world } = await busyNode(protocol, 15);
    const machine = world.machine();
    const before = world.held(machine).length;

    for (let index = 0; index < 12; index++) await world.cluster.workload.deletePod(`default/pod-${index}`);
    await world.advance(600_000);

    const inUse = world.cluster.workload.views[0]?.addressesInUse.size ?? 0;
    expect(before).toBeGreaterThanOrEqual(inUse + 8 + 12);
    expect(world.held(machine).length).toBe(inUse + 8);
    expect(standings(world.cluster)).toEqual([expect.objectContaining({ met: true, excess: 0 })]);
    expect([...world.pool(machine).keys()].sort()).toEqual([...world.held(machine)].sort());
    expect(textMapAt(world.ciliumNode(machine), 'status', 'ipam', 'release-ips')).toEqual(new Map());
    expect(world.broken()).toEqual([]);
  });

  test('keeps an address that an Elastic IP points to, whether or not its pods use it', async () => {
    const { world, controller } = await busyNode(protocol, 15, {
      cloud: { publicAddresses: [{ count: 1 }] },
    });
    const machine = world.machine();
    const { network } = world.cluster.ec2;
    const [publicAddress] = network.all('publicAddresses').keys();
    const isUsed = (address: string): boolean =>
      world.cluster.workload.views[0]?.addressesInUse.has(address) === true;

    for (let index = 0; index < 15; index++) await world.cluster.workload.deletePod(`default/pod-${index}`);
    const led = world
      .interfaces(machine)
      .flatMap((item) =>
        item.addresses
          .filter((address) => address !== item.primaryAddress)
          .map((address) => ({ item, address })),
      )
      .find(({ address }) => !isUsed(address));
    const [interfaceId = '', privateAddress = ''] = [led?.item.id, led?.address];
    associate(network, { id: publicAddress ?? '', interfaceId, privateAddress, reassociate: false });
    await world.advance(900_000);

    const released = controller.changes.filter(({ action }) => action === 'UnassignPrivateIpAddresses');
    expect(released.length).toBeGreaterThan(0);
    expect(JSON.stringify(released)).not.toContain(`"${privateAddress}"`);
    expect(world.held(machine)).toContain(privateAddress);
    expect(world.pool(machine).has(privateAddress)).toBe(true);
    expect(world.broken()).toEqual([]);
  });

  test('keeps everything without the option', async () => {
    const { world, controller } = await busyNode(protocol, 15, { flags: {} });
    const before = world.held(world.machine()).length;

    for (let index = 0; index < 15; index++) await world.cluster.workload.deletePod(`default/pod-${index}`);
    await world.advance(900_000);

    expect(world.held(world.machine()).length).toBe(before);
    expect(controller.calls.filter(({ action }) => action === 'UnassignPrivateIpAddresses')).toEqual([]);
    expect(standings(world.cluster).map(({ excess }) => excess)).toEqual([before - 2 - 8]);
    expect(world.broken()).toEqual([]);
  });
});

test('a node loses an interface without pod addresses after an hour, and can use its slot again', async () => {
  const { world, controller } = await busyNode('crd-allocator', 14, {
    flags: { ...releasing, 'idle-interface-delay': '1h' },
  });
  const machine = world.machine();
  const before = world.interfaces(machine).length;
  for (let index = 0; index < 14; index++) await world.cluster.workload.deletePod(`default/pod-${index}`);
  await world.advance(900_000);
  const emptied = { interfaces: world.interfaces(machine).length, held: world.held(machine).length };

  await world.advance(3_600_000);
  const after = world.interfaces(machine).length;
  for (let index = 0; index < 14; index++) {
    void world.cluster.workload.createPod({ name: `later-${index}`, placement: 'spread' });
  }
  await world.advance(120_000);

  expect(before).toBe(3);
  expect(emptied.interfaces).toBe(before);
  expect(after).toBeLessThan(before);
  expect(Object.keys(world.enis(machine))).toHaveLength(world.interfaces(machine).length);
  expect(world.orphaned()).toEqual([]);
  expect(controller.warnings()).toEqual([]);
  expect(world.broken()).toEqual([]);
});

test.each([
  ['soon', 500],
  ['late', 40_000],
])(
  'a detached interface is deleted once, when a read shows that its attachment ended %s',
  async (_, detachMs) => {
    const { world, controller } = await busyNode('crd-allocator', 14, {
      flags: { ...releasing, 'idle-interface-delay': '10m' },
      cloud: { times: { detachMs } },
    });
    for (let index = 0; index < 14; index++) await world.cluster.workload.deletePod(`default/pod-${index}`);
    await world.advance(1_800_000);

    const sent = (action: string): readonly number[] =>
      controller.calls.filter((call) => call.action === action).map(({ at }) => at);
    const [detachedAt = 0] = sent('DetachNetworkInterface');
    const deleted = sent('DeleteNetworkInterface');
    expect(deleted.length).toBeGreaterThan(0);
    expect(deleted).toHaveLength(sent('DetachNetworkInterface').length);
    expect(Math.min(...deleted) - detachedAt - detachMs).toBeGreaterThan(0);
    expect(Math.min(...deleted) - detachedAt - detachMs).toBeLessThan(2000 + detachMs / 4);
    expect(world.orphaned()).toEqual([]);
  },
);

test('an interface that another client gave an address since the last read is kept', async () => {
  const { world, controller } = await busyNode('crd-allocator', 14, {
    flags: { ...releasing, 'idle-interface-delay': '1h', 'resync-interval': '6h' },
  });
  const machine = world.machine();
  for (let index = 0; index < 14; index++) await world.cluster.workload.deletePod(`default/pod-${index}`);
  await world.advance(900_000);
  const empty = world
    .interfaces(machine)
    .filter(({ deviceIndex, addresses }) => (deviceIndex ?? 0) > 0 && addresses.length === 1);
  for (const { id } of empty) assign(world.cluster.ec2.network, id, { ...nothing, count: 1 }, false);
  const isHidden = await world.clock.runUntil(
    () => empty.some(({ id }) => !Object.hasOwn(world.enis(machine), id)),
    3_600_000,
  );
  await world.advance(60_000);

  expect(empty.length).toBeGreaterThan(0);
  expect(isHidden).toBe(true);
  expect(controller.calls.filter(({ action }) => action === 'DetachNetworkInterface')).toEqual([]);
  expect(Object.keys(world.enis(machine))).toEqual(expect.arrayContaining(empty.map(({ id }) => id)));
  expect(world.broken()).toEqual([]);
});
