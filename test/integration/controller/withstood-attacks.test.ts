// Attacks on the invariants that know only the contract: each of them once succeeded.
import { expect, test } from '@jest/globals';
import { objectAt, textsAt } from '../../../src/simulator/workload/json.ts';
import { BusyWorld } from '../../support/busy-world.ts';
import { ids, instance, subnets, testCloud } from '../../support/test-cloud.ts';
import { type CloudCall, startController } from '../../support/world-controller.ts';
import { World } from '../../support/world.ts';
import { fastReleaseFlags as flags } from '../../support/fast-release-flags.ts';

type Protocol = 'crd-allocator' | 'multi-pool';

interface Setup {
  readonly protocol?: Protocol;
  readonly nodes?: number;
  readonly type?: string;
  /** Lag of listings, in ms; the consistency window is 30 s. */
  readonly lag?: number;
  readonly seed?: string;
  readonly pods?: number;
  readonly subnetIds?: readonly string[];
}

function setUp({ protocol = 'crd-allocator', nodes = 1, lag = 0, ...rest }: Setup): Promise<BusyWorld> {
  const { type = 'm5.xlarge', seed = 'late-1', pods = 12, subnetIds } = rest;
  return BusyWorld.start({
    seed,
    pods,
    setup: { flags },
    cloud: testCloud({
      instances: [instance({ type, count: nodes })],
      ...(lag > 0 && { consistency: { listingLagMs: { min: lag, max: lag } } }),
    }),
    configure: () => ({
      protocol,
      ipam: { preAllocate: 2 },
      ...(subnetIds !== undefined && { eni: { subnetIds } }),
    }),
  });
}

const takenBack = (call: CloudCall | undefined): readonly string[] =>
  textsAt(call?.input, 'PrivateIpAddresses');

/** Addresses that a node offers and no node has in the cloud. */
function offeredInVain(world: BusyWorld, addresses: readonly string[]): readonly string[] {
  const held = new Set(world.machines.flatMap((machine) => world.held(machine)));
  const offered = new Set(world.machines.flatMap((machine) => [...world.pool(machine).keys()]));
  return addresses.filter((address) => offered.has(address) && !held.has(address));
}

/** Checks every half a second for `ms`. */
async function watchFor(world: BusyWorld, ms: number, look: () => readonly unknown[]): Promise<unknown[]> {
  const seen: unknown[] = [];
  for (let left = ms; left > 0; left -= 500) {
    await world.advance(500);
    seen.push(...look());
  }
  return [...new Set(seen)];
}

test('addresses freed before a change of leader are not offered by the next one', async () => {
  const world = await setUp({ nodes: 2, lag: 5_000 });
  await world.deleteLivingPods(10);
  await world.until(
    'addresses are freed',
    () => world.callsOf('UnassignPrivateIpAddresses').length > 0,
    400_000,
  );
  await world.advance(1_000);
  const freed = world.callsOf('UnassignPrivateIpAddresses').flatMap(takenBack);

  // A rolling update: the Lease is handed over, and the new leader's first listing lags by 5 s.
  const before = world.controller;
  world.controller = startController(world, { flags, identity: 'headwater-1' });
  before.stop();
  world.addLivingPods(8, 'late');

  expect(await watchFor(world, 60_000, () => offeredInVain(world, freed))).toEqual([]);
  expect(world.broken()).toEqual([]);
});

test('addresses whose unassignment got no answer are not offered again without a read', async () => {
  const world = await setUp({});
  const lost = { kind: 'lost', effect: 'before', connection: 'drop', delayMs: 0 } as const;
  world.fault('UnassignPrivateIpAddresses', lost, 1);
  await world.deleteLivingPods(10);
  await world.until(
    'addresses are freed',
    () => world.callsOf('UnassignPrivateIpAddresses').length > 0,
    400_000,
  );
  await world.advance(36_000);
  const freed = takenBack(world.callsOf('UnassignPrivateIpAddresses')[0]);

  world.addLivingPods(8, 'late');

  expect(await watchFor(world, 60_000, () => offeredInVain(world, freed))).toEqual([]);
});

test('a fresh address in use is not hidden from a multi-pool agent that has yet to name it', async () => {
  const world = await setUp({
    protocol: 'multi-pool',
    type: 'm5.large',
    seed: 'adopt-1',
    pods: 4,
    subnetIds: [ids.pods],
  });
  const hanging = { kind: 'lost', effect: 'after', connection: 'hang', delayMs: 0 } as const;
  world.fault('AttachNetworkInterface', hanging, 1);
  world.addLivingPods(14, 'more');
  const made = (): boolean =>
    world.callsOf('CreateNetworkInterface').some(({ at, result }) => result === 'OK' && at > 150_000);
  await world.until('an interface is made', made);
  world.takeOver({ flags });

  await world.advance(150_000);

  expect(world.broken()).toEqual([]);
});

test('all excess is released in the end', async () => {
  const world = await setUp({ type: 'm5.large', seed: 'adopt-1', pods: 4, subnetIds: [ids.pods] });
  const hanging = { kind: 'lost', effect: 'after', connection: 'hang', delayMs: 0 } as const;
  world.fault('AttachNetworkInterface', hanging, 1);
  world.addLivingPods(14, 'more');
  const made = (): boolean =>
    world.callsOf('CreateNetworkInterface').some(({ at, result }) => result === 'OK' && at > 150_000);
  await world.until('an interface is made', made);
  world.takeOver({ flags });
  await world.advance(150_000);

  await world.deleteLivingPods(14, 'more');
  await world.advance(20 * 60_000);

  expect(world.held(world.machine())).toHaveLength(world.used().length + 2);
});

test('a refused write that was to hide addresses is decided again from the object that caused the refusal', async () => {
  const world = new World();
  startController(world, { flags });
  const machine = world.machine();
  await world.announce(machine, { spec: { ipam: { 'pre-allocate': 2 } } });
  const say = (count: number, cidrs: readonly string[]): Promise<unknown> => {
    const requested = [{ pool: 'default', needed: { 'ipv4-addrs': count } }];
    return world.patch(machine, {
      spec: { ipam: { pools: { requested, allocated: [{ pool: 'default', cidrs }] } } },
    });
  };
  await world.request(machine, 8);
  await world.until('all is there', () => world.held(machine).length === 8);
  await world.advance(5_000);
  const all = [...world.pool(machine).keys()].map((address) => `${address}/32`);
  const [dropped = ''] = all;
  await say(8, all);
  await world.advance(30_000);
  await say(7, all.slice(1));
  await world.advance(3_000);

  // The agent revokes its answer; the controller learns of that late, from the refusal of its own write.
  const path = /ciliumnodes\?(?!.*timeoutSeconds=1000000)/;
  world.kubernetesFault({ path, effect: { kind: 'delayEvents', ms: 20_000 } });
  await say(8, all);
  const since = world.history.of(machine.name).length;
  await world.advance(30_000);

  const address = dropped.replace('/32', '');
  const against = world.history
    .of(machine.name)
    .slice(since)
    .filter(({ object }) => {
      const isNamed = JSON.stringify(objectAt(object, 'spec', 'ipam', 'pools')).includes(`"${dropped}"`);
      const enis = Object.values(objectAt(object, 'status', 'eni', 'enis'));
      return isNamed && !enis.some((eni) => textsAt(eni, 'addresses').includes(address));
    });
  expect(against.map(({ resourceVersion }) => resourceVersion)).toEqual([]);
});

test('an address freed before a change of leader is not used on two nodes', async () => {
  const world = await BusyWorld.start({
    seed: 'double-3',
    pods: 24,
    setup: { flags },
    cloud: testCloud({
      reuse: 1,
      subnets: [subnets.nodes, { ...subnets.pods, block: '10.0.16.0/26' }],
      routeTables: [{ name: 'private', subnets: ['nodes', 'pods'] }],
      instances: [instance({ count: 2, type: 'm5.xlarge' })],
      consistency: { listingLagMs: { min: 10_000, max: 10_000 } },
    }),
    configure: () => ({ ipam: { preAllocate: 2 }, eni: { subnetIds: [ids.pods] } }),
  });
  const { workload } = world.cluster;
  const [first, second] = world.views;
  const pods = [...(first?.addressesInUse.values() ?? [])].filter((owner) => owner.startsWith('default/'));
  for (const pod of pods.slice(0, 10)) await workload.deletePod(pod);
  await world.until(
    'addresses are freed',
    () => world.callsOf('UnassignPrivateIpAddresses').length > 0,
    400_000,
  );
  await world.advance(2_000);

  const before = world.controller;
  world.controller = startController(world, { flags, identity: 'headwater-1' });
  before.stop();
  await world.advance(16_000);
  for (let index = 0; index < 8; index++) {
    void workload.createPod({ name: `a-${index}`, nodeName: first?.nodeName ?? '' });
    void workload.createPod({ name: `b-${index}`, nodeName: second?.nodeName ?? '' });
    await world.advance(400);
  }

  expect(await watchFor(world, 60_000, () => world.broken())).toEqual([]);
});
