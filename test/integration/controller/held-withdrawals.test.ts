import { describe, expect, test } from '@jest/globals';
import { unassign } from '../../../src/simulator/cloud/assignments.ts';
import { terminate } from '../../../src/simulator/cloud/instances.ts';
import { textAt, textsAt } from '../../../src/simulator/workload/json.ts';
import { instance, testCloud } from '../../support/test-cloud.ts';
import { withPrimariesOnly } from '../../support/torn-answers.ts';
import { World } from '../../support/world.ts';
import { startController, type WorldController } from '../../support/world-controller.ts';

const flags = {
  'resync-interval': '60s',
  'cluster-name': 'blue',
  'aws-release-excess-ips': 'true',
  'excess-ip-release-delay': '60s',
};

/** Nodes with two interfaces each and some addresses in use, in a cloud that can hide the second interfaces. */
async function fleet(count: number): Promise<{
  world: World;
  controller: WorldController;
  hide: (isHidden: boolean) => void;
  start: (identity: string, more?: Readonly<Record<string, string>>) => WorldController;
}> {
  const world = new World({
    cloud: testCloud({ instances: [instance({ count })] }),
    configure: () => ({ ipam: { preAllocate: 12 } }),
  });
  let isTorn = false;
  const start = (identity: string, more = {}): WorldController =>
    startController(world, {
      identity,
      flags: { ...flags, ...more },
      tamper: (_, output) => (isTorn ? withPrimariesOnly(output) : output),
    });
  const controller = start('headwater-0');
  for (const machine of world.machines) await world.announce(machine);
  await world.advance(60_000);
  for (const machine of world.machines) await world.use(machine, 12);
  await world.advance(120_000);
  return {
    world,
    controller,
    start,
    hide: (isHidden) => {
      isTorn = isHidden;
    },
  };
}

function pools(world: World): readonly unknown[] {
  return world.machines.map((machine) => [...world.pool(machine)]);
}

function token(controller: WorldController): string {
  return controller.controller.status().withdrawalsHeld?.token ?? '';
}

describe('interfaces that are missing on most nodes at once', () => {
  test('stay in every pool for as long as they are missing, and nothing is taken away meanwhile', async () => {
    const { world, controller, hide } = await fleet(6);
    const before = pools(world);

    hide(true);
    await world.advance(600_000);
    const held = { pools: pools(world), status: controller.controller.status().withdrawalsHeld };
    const unready = controller.controller.unreadiness();
    hide(false);
    await world.advance(180_000);

    expect(held.pools).toEqual(before);
    expect(held.status).toMatchObject({ state: 'held', nodes: 6 });
    expect(unready).toMatch(
      /^interfaces or addresses of 6 nodes of vpc-\w+ are missing in the configured region, where 6 use addresses/,
    );
    expect(pools(world)).toEqual(before);
    expect(controller.controller.unreadiness()).toBeUndefined();
    expect(controller.controller.status()).not.toHaveProperty('withdrawalsHeld');
    expect(world.broken()).toEqual([]);
  });

  test('stay under the successor of a leader that was killed while it held them', async () => {
    const { world, controller, hide, start } = await fleet(6);
    const before = pools(world);
    hide(true);
    await world.advance(180_000);
    controller.kill();

    const second = start('headwater-1');
    await world.advance(30_000);
    const inherited = second.controller.status().withdrawalsHeld?.state;
    await world.advance(600_000);
    const own = second.controller.status().withdrawalsHeld?.state;

    expect([inherited, own]).toEqual(['inherited', 'held']);
    expect(pools(world)).toEqual(before);
    hide(false);
    await world.advance(180_000);
    expect(second.controller.unreadiness()).toBeUndefined();
    expect(world.broken()).toEqual([]);
  });

  test('are withdrawn once a person approves exactly these', async () => {
    const { world, hide, start, controller } = await fleet(4);
    hide(true);
    await world.advance(180_000);
    const printed = token(controller);
    controller.stop();
    await world.advance(30_000);

    const second = start('headwater-1', { 'allow-withdrawals': printed });
    await world.advance(300_000);

    expect(printed).toMatch(/^[0-9a-f]{10}$/);
    expect(second.controller.status()).not.toHaveProperty('withdrawalsHeld');
    for (const machine of world.machines) expect(Object.keys(world.enis(machine))).toHaveLength(1);
    expect(world.bugs).toEqual([]);
  });

  test('are reported by one log line, one Event on the Lease, and at most 20 Events on nodes and CiliumNodes', async () => {
    const { world, controller, hide } = await fleet(14);

    hide(true);
    await world.advance(600_000);

    const reported = world.cluster.kubernetes
      .list('events')
      .filter((event) => textAt(event as never, 'reason') === 'WithdrawalsHeld')
      .map((event) => textAt(event as never, 'involvedObject', 'kind'));
    expect(reported.filter((kind) => kind === 'Lease')).toHaveLength(1);
    expect(reported.filter((kind) => kind !== 'Lease').length).toBeGreaterThan(0);
    expect(reported.filter((kind) => kind !== 'Lease').length).toBeLessThanOrEqual(20);
    expect(
      controller.warnings().filter((text) => text === 'withdrawals are held: nothing is taken away'),
    ).toHaveLength(1);
    expect(await controller.metric('headwater_withdrawals_held')).toBe(14);
  });
});

test('an interface that is missing on one of many nodes is withdrawn, and those of a terminated instance do not count', async () => {
  const { world, controller } = await fleet(6);
  const [one, ...others] = world.machines;
  const [, second] = world.interfaces(one ?? world.machine());
  const detach = { AttachmentId: second?.attachment?.id ?? '', Force: true };

  void world.cluster.ec2.gateway.call('DetachNetworkInterface', detach, { arn: 'arn' });
  terminate(
    world.cluster.ec2.network,
    others.slice(0, 4).map(({ instanceId }) => instanceId),
  );
  await world.advance(240_000);

  expect(world.enis(one ?? world.machine())).not.toHaveProperty(second?.id ?? '');
  for (const machine of others.slice(0, 4)) expect(world.pool(machine).size).toBe(0);
  expect(controller.controller.unreadiness()).toBeUndefined();
  expect(world.bugs).toEqual([]);
});

test.each([
  { what: 'what agents agreed to release under the previous leader', isShown: false, held: undefined },
  { what: 'what a CiliumNode still shows despite that', isShown: true, held: 6 },
])('$what is missing on all nodes: $held of them are held', async ({ isShown, held }) => {
  const { world, controller, start } = await fleet(6);
  controller.kill();
  await world.advance(60_000);
  const leaving = world.machines.map((machine) => {
    const [address = '', id = ''] = [...world.pool(machine)].at(-1) ?? [];
    return { machine, address, id };
  });
  for (const { machine, address, id } of leaving) {
    const addresses = textsAt(world.enis(machine), id, 'addresses').filter((each) => each !== address);
    const status = { ipam: { 'release-ips': { [address]: 'ready-for-release' } } };
    if (!isShown) await world.patch(machine, { spec: { ipam: { pool: { [address]: null } } } });
    await world.patchStatus(
      machine,
      isShown ? status : { ...status, eni: { enis: { [id]: { addresses } } } },
    );
  }

  world.fault('UnassignPrivateIpAddresses', { kind: 'throttle' });
  const successor = start('headwater-1');
  await world.advance(14_000);
  // The calls of the previous leader take effect before the successor leads.
  for (const { id, address } of leaving)
    unassign(world.cluster.ec2.network, id, { addresses: [address], prefixes: [] });
  await world.advance(180_000);

  expect(successor.controller.status().withdrawalsHeld?.nodes).toBe(held);
  expect(leaving.filter(({ machine, address }) => world.pool(machine).has(address)).length).toBe(held ?? 0);
});
