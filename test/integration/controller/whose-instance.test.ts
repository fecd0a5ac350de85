// Which node has an instance: claims of CiliumNodes against Nodes, in any order.
import { describe, expect, test } from '@jest/globals';
import { type JsonObject, objectAt, textsAt } from '../../../src/simulator/workload/json.ts';
import type { NodeFacts } from '../../../src/simulator/workload/node-facts.ts';
import { assign } from '../../../src/simulator/cloud/assignments.ts';
import { attach } from '../../../src/simulator/cloud/attachments.ts';
import { nothing } from '../../../src/simulator/cloud/claims.ts';
import { belongingTo, leave } from '../../support/orphaned-interfaces.ts';
import { AttackedWorld } from '../../support/attacked-world.ts';

const protocols = ['crd-allocator', 'multi-pool'] as const;

/** Everything that an agent can report to have something taken from its instance. */
function givingUp(attacked: AttackedWorld, protocol: (typeof protocols)[number]) {
  const { world } = attacked;
  const node = world.ciliumNode(attacked.victim());
  const pool = objectAt(node, 'spec', 'ipam', 'pool');
  const releases = Object.fromEntries(Object.keys(pool).map((address) => [address, 'ready-for-release']));
  const allocated = [{ pool: 'default', cidrs: ['10.0.0.250/32'] }];
  return {
    spec: {
      ipam: {
        'pre-allocate': 1,
        pool,
        ...(protocol === 'multi-pool' && {
          pools: { requested: [{ pool: 'default', needed: { 'ipv4-addrs': 1 } }], allocated },
        }),
      },
    },
    status: {
      eni: objectAt(node, 'status', 'eni'),
      ipam: { used: {}, 'release-ips': protocol === 'multi-pool' ? {} : releases },
    },
  };
}

/** The second interface of an instance, with all addresses of the subnet. */
function showing({ world }: AttackedWorld, machine: NodeFacts): [spec: JsonObject, status: JsonObject] {
  const { id = '', primaryAddress: ip = '', subnetId = '' } = world.interfaces(machine)[1] ?? {};
  const addresses = Array.from({ length: 250 }, (_, index) => `10.0.0.${index + 4}`);
  const subnet = { id: subnetId, cidr: '10.0.0.0/24' };
  const vpc = { id: machine.vpcId, 'primary-cidr': '10.0.0.0/16' };
  const shown = { id, ip, mac: '02:00:00:00:00:01', number: 1, subnet, vpc, addresses };
  const pool = Object.fromEntries(addresses.map((address) => [address, { resource: id }]));
  return [{ ipam: { pool } }, { eni: { enis: { [id]: shown } } }];
}

function nullsFor(names: readonly string[]): JsonObject {
  return Object.fromEntries(names.map((name) => [name, null]));
}

describe.each(protocols)('a second CiliumNode that names an instance (%s)', (protocol) => {
  test.each(['before', 'after'])(
    'takes nothing from the node of the instance when it comes %s a change of leader',
    async (when) => {
      const attacked = await AttackedWorld.start({ protocol });
      const { world } = attacked;
      const victim = attacked.victim();
      const before = world.held(victim);
      const { spec, status } = givingUp(attacked, protocol);
      const strike = () => attacked.write('a-fake', victim, spec, status);

      if (when === 'before') {
        await strike();
        await world.advance(10_000);
        await attacked.changeLeader();
      } else await attacked.restart(strike);
      await attacked.grow();
      await world.advance(300_000);

      expect(attacked.harm()).toEqual([]);
      expect(world.held(victim)).toEqual(expect.arrayContaining([...before]));
      expect(attacked.removals.flatMap(({ input }) => textsAt(input, 'PrivateIpAddresses'))).toEqual([]);
      expect(world.controller.controller.status().inDeficit).toEqual([
        expect.objectContaining({ name: 'a-fake', reason: 'InstanceOfAnother' }),
      ]);
    },
  );
});

test('a CiliumNode that names an instance before its node joins is served until then, and nothing is taken away for it', async () => {
  const attacked = await AttackedWorld.start();
  const { world, stranger } = attacked;
  await attacked.write('a-fake', stranger, {});
  await world.advance(60_000);
  const meanwhile = {
    size: world.pool({ name: 'a-fake' }).size,
    status: world.controller.controller.status(),
  };

  void world.cluster.workload.addNode(stranger);
  await world.advance(60_000);

  expect(meanwhile.size).toBe(5);
  expect(meanwhile.status.unverified).toEqual({ count: 1, nodes: ['a-fake'] });
  expect(world.pool(stranger).size).toBe(6);
  expect(world.operatorError(stranger)).toBe('');
  expect(world.controller.controller.status().inDeficit).toEqual([
    expect.objectContaining({ name: 'a-fake', reason: 'InstanceOfAnother' }),
  ]);
  expect(world.controller.controller.status().unverified).toBeUndefined();
  expect(attacked.removals).toEqual([]);
  expect(attacked.harm()).toEqual([]);
});

test.each([
  ['gets addresses, and nothing is taken from it', {}, 5],
  ['is not served when a Node is required', { 'require-node': 'true' }, 0],
])('an instance that is no node of this cluster %s', async (_, flags, offered) => {
  const attacked = await AttackedWorld.start({ flags });
  const { world, stranger } = attacked;
  const before = world.held(stranger);

  await attacked.write('a-fake', stranger, { ipam: { 'pre-allocate': 1 } });
  await world.advance(30_000);
  const pool = [...world.pool({ name: 'a-fake' }).keys()];
  const releases = Object.fromEntries(pool.map((address) => [address, 'ready-for-release']));
  await world.patchStatus({ name: 'a-fake' }, { ipam: { 'release-ips': releases } });
  await world.advance(300_000);
  await attacked.changeLeader();
  await world.advance(300_000);

  expect(world.held(stranger)).toEqual(before);
  expect(world.pool({ name: 'a-fake' }).size).toBe(offered);
  expect(attacked.removals).toEqual([]);
  expect(attacked.harm()).toEqual([]);
});

test('an instance that is no node loses nothing, even when an agent removes everything from its CiliumNode', async () => {
  const attacked = await AttackedWorld.start();
  const { world, stranger } = attacked;
  const description = `Cilium-CNI (${stranger.instanceId})`;
  const interfaceId = leave(world, { tags: belongingTo('hasty'), description, addresses: 0 });
  await world.advance(5000);
  attach(world.cluster.ec2.network, {
    interfaceId,
    instanceId: stranger.instanceId,
    deviceIndex: 2,
    cardIndex: 0,
  });
  const before = [world.held(stranger), world.interfaces(stranger).map(({ id }) => id)];
  await attacked.write('a-fake', stranger, { ipam: { 'pre-allocate': 1 } });

  for (let round = 0; round < 20; round++) {
    await world.advance(15_000);
    const pool = [...world.pool({ name: 'a-fake' }).keys()];
    const releases = Object.fromEntries(world.held(stranger).map((each) => [each, 'ready-for-release']));
    await world.patch({ name: 'a-fake' }, { spec: { ipam: { pool: nullsFor(pool) } } });
    const enis = nullsFor(Object.keys(world.enis({ name: 'a-fake' })));
    await world.patchStatus({ name: 'a-fake' }, { eni: { enis }, ipam: { 'release-ips': releases } });
  }

  expect(attacked.removals).toEqual([]);
  expect([world.held(stranger), world.interfaces(stranger).map(({ id }) => id)]).toEqual(before);
  expect(attacked.harm()).toEqual([]);
});

test('a CiliumNode whose Node names another instance is not served for the instance that it names', async () => {
  const attacked = await AttackedWorld.start();
  const { world, stranger } = attacked;
  const victim = attacked.victim(2);

  await world.patch(victim, { spec: { 'instance-id': stranger.instanceId } });
  await world.advance(60_000);

  expect(world.controller.controller.status().inDeficit).toEqual([
    expect.objectContaining({ name: victim.name, reason: 'InstanceMismatch' }),
  ]);
  expect(world.held(stranger)).toHaveLength(5);
});

test('instances that CiliumNodes without a Node make up are no evidence about the cloud', async () => {
  const attacked = await AttackedWorld.start();
  const { world } = attacked;
  for (let index = 0; index < 5; index++)
    void world.cluster.workload.deletePod(`default/${attacked.victim().name}-pod-${index}`);
  await attacked.restart(async () => {
    for (let index = 0; index < 4; index++) {
      const like = { ...attacked.victim(), instanceId: `i-0000000000000beb${index}` };
      await attacked.write(`a-fake-${index}`, like, {});
    }
  });
  const before = attacked.removals.length;

  await world.advance(400_000);

  expect(world.controller.controller.status().withdrawalsHeld).toBeUndefined();
  expect(attacked.removals.length).toBeGreaterThan(before);
  expect(attacked.harm()).toEqual([]);
});

test('addresses that CiliumNodes without a Node make up do not count as missing, and belong to no node', async () => {
  const attacked = await AttackedWorld.start({ strangers: 5 });
  const { world } = attacked;
  for (let index = 0; index < 5; index++)
    void world.cluster.workload.deletePod(`default/${attacked.victim().name}-pod-${index}`);
  await attacked.restart(async () => {
    for (const [index, stranger] of world.machines.slice(3).entries())
      await attacked.write(`a-fake-${index}`, stranger, ...showing(attacked, stranger));
  });
  const before = attacked.removals.length;

  await world.advance(600_000);
  const meanwhile = {
    status: world.controller.controller.status(),
    taken: attacked.removals.length,
  };
  await attacked.grow(8);

  expect(meanwhile.status.withdrawalsHeld).toBeUndefined();
  expect(meanwhile.taken).toBeGreaterThan(before);
  expect(attacked.harm()).toEqual([]);
});

describe('a controller without the right to read Nodes', () => {
  test('releases nothing, serves demand, and reports unverified nodes', async () => {
    const attacked = await AttackedWorld.start();
    const { world } = attacked;
    world.refuse(403, 'GET', /^\/api\/v1\/nodes/);
    const before = attacked.removals.length;
    await attacked.changeLeader();

    for (let index = 0; index < 5; index++)
      void world.cluster.workload.deletePod(`default/${attacked.victim().name}-pod-${index}`);
    await attacked.grow(2);
    await world.advance(300_000);

    expect(attacked.removals).toHaveLength(before);
    expect(attacked.harm()).toEqual([]);
    const { unverified } = world.controller.controller.status();
    expect(unverified).toMatchObject({ count: 3, problem: expect.stringContaining('403') });
    expect(world.controller.warnings()).toEqual(
      expect.arrayContaining([expect.stringMatching(/^cannot read Nodes/)]),
    );
  });

  test('releases excess again once it may read them', async () => {
    const attacked = await AttackedWorld.start();
    const { world } = attacked;
    const end = world.refuse(403, 'GET', /^\/api\/v1\/nodes/);
    await attacked.changeLeader();
    for (let index = 0; index < 5; index++)
      void world.cluster.workload.deletePod(`default/${attacked.victim().name}-pod-${index}`);
    await world.advance(300_000);
    const before = attacked.removals.length;

    end();
    await world.advance(400_000);

    expect(attacked.removals.length).toBeGreaterThan(before);
    expect(attacked.harm()).toEqual([]);
  });
});

test.each([
  ['is empty', true],
  ['is refused', false],
])(
  'an address that moved while no controller led is not on two nodes when the list of Nodes %s',
  async (_, isEmpty) => {
    const attacked = await AttackedWorld.start();
    const { world } = attacked;
    const [from, to] = [attacked.victim(1), attacked.victim(0)];
    const { kubernetes, ec2 } = world.cluster;
    const path = /\/api\/v1\/nodes(\?.*)?$/;
    const used = new Set(world.used(1));
    const address = world.held(from).find((each) => !used.has(each)) ?? '';

    await attacked.restart(() => {
      const [first] = world.interfaces(to);
      assign(ec2.network, first?.id ?? '', { ...nothing, addresses: [address] }, true);
      if (isEmpty) world.kubernetesFault({ method: 'GET', path, effect: { kind: 'emptyList' } });
      else world.refuse(403, 'GET', path);
      kubernetes.faults.expireHistory();
      kubernetes.faults.cutWatches(path);
      // The watch shows only this one.
      world.clock.schedule(25_000, () => {
        void world.call('DELETE', `/api/v1/nodes/${to.name}`).then(() => world.register(to));
      });
      return Promise.resolve();
    });
    await world.advance(120_000);

    expect(address).not.toBe('');
    expect(world.pool(to).has(address)).toBe(true);
    expect(world.pool(from).has(address)).toBe(false);
    expect(world.broken()).toEqual([]);
  },
);
