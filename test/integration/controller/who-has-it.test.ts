// Which node has an address: claims of CiliumNodes against what the cloud shows.
import { describe, expect, test } from '@jest/globals';
import { AttackedWorld } from '../../support/attacked-world.ts';

const block = Array.from({ length: 250 }, (_, index) => `10.0.0.${index + 4}`);

function poolOf(addresses: readonly string[], resource = 'eni-00000000000000009') {
  return Object.fromEntries(addresses.map((address) => [address, { resource }]));
}

/** Made-up interfaces with which an agent claims all addresses of the subnet. */
function madeUp(vpc: string) {
  const id = 'eni-00000000000000009';
  const subnet = { id: 'subnet-0000000000000000a', cidr: '10.0.0.0/24' };
  const eni = { id, ip: '10.0.0.4', mac: '02:00:00:00:00:01', number: 1, subnet, addresses: block };
  return { eni: { enis: { [id]: { ...eni, vpc: { id: vpc, 'primary-cidr': '10.0.0.0/16' } } } } };
}

const unreadable = { ipam: { pool: poolOf(block) }, eni: { 'instance-type': 'no type' } };
const ignored = { 'ipam.cilium.io/ignore': 'true' };

describe.each(['crd-allocator', 'multi-pool'] as const)(
  'a pool that lists the whole subnet (%s)',
  (protocol) => {
    test.each(['before', 'after'])(
      'keeps no address from another node, %s a change of leader',
      async (when) => {
        const attacked = await AttackedWorld.start({ protocol });
        const { world, stranger } = attacked;
        const strike = async (): Promise<void> => {
          await attacked.write('not-read', stranger, unreadable, madeUp(stranger.vpcId));
          await attacked.write('not-served', attacked.victim(), { ipam: { pool: poolOf(block) } });
          await attacked.write('ignored', stranger, { ipam: { pool: poolOf(block) } });
          await world.patch({ name: 'ignored' }, { metadata: { annotations: ignored } });
        };

        if (when === 'before') {
          await strike();
          await world.advance(5000);
        } else await attacked.restart(strike);
        const { at } = { at: world.clock.monotonic() };
        await attacked.grow(8);
        void world.cluster.workload.addNode({ ...stranger });
        await world.advance(80_000);

        expect(attacked.harm()).toEqual([]);
        expect(world.pool(stranger).size).toBeGreaterThanOrEqual(6);
        expect(world.operatorError(stranger)).toBe('');
        expect(world.clock.monotonic()).toBe(at + 100_000);
      },
    );
  },
);

test('addresses of others that a served CiliumNode shows are withdrawn there, and stay available to others', async () => {
  const attacked = await AttackedWorld.start();
  const { world } = attacked;
  const [liar, victim] = [attacked.victim(2), attacked.victim(0)];
  const others = [...world.held(victim), ...block.slice(0, 20)].filter(
    (each) => !world.held(liar).includes(each),
  );

  await attacked.restart(async () => {
    await world.patch(liar, { spec: { ipam: { pool: poolOf(others) } } });
    await world.patchStatus(liar, madeUp(liar.vpcId));
  });
  void world.cluster.workload.createPod({ name: 'late', nodeName: victim.name });
  await world.advance(60_000);

  const harm = attacked.harm().filter((text) => text.startsWith(victim.name));
  expect(harm).toEqual([]);
  // What the cloud assigned to it meanwhile is its own.
  const claimed = others.filter((address) => !world.held(liar).includes(address));
  expect(claimed.length).toBeGreaterThan(20);
  expect(claimed.filter((address) => world.pool(liar).has(address))).toEqual([]);
});

test('an address is held back for a consistency window at most when the cloud cannot be read to see who has it', async () => {
  const attacked = await AttackedWorld.start();
  const { world, stranger } = attacked;
  const { faults } = world.cluster.ec2.gateway;
  faults.add({
    action: 'DescribeNetworkInterfaces',
    rate: 1,
    match: { 'Filter.1.Name': 'attachment.instance-id' },
    fault: { kind: 'error', code: 'InternalError', status: 500, message: 'away' },
  });
  await attacked.write('unasked', stranger, { ipam: { pool: poolOf(block) } });
  await world.advance(1000);

  await attacked.grow(8);
  await world.advance(15_000);

  expect(attacked.harm()).toEqual([]);
});

test.each([false, true])(
  'claims of a CiliumNode of the largest size delay others for a consistency window at most (leader changed: %s)',
  async (isRestart) => {
    const attacked = await AttackedWorld.start();
    const { world } = attacked;
    const liar = attacked.victim(2);
    const [own = ''] = Object.keys(world.enis(liar));
    const fill = async (): Promise<void> => {
      await world.patch(liar, { spec: { ipam: { pool: poolOf(block, own) } } });
      const failure = { code: 500, reason: '', message: 'etcdserver: request is too large' };
      const path = new RegExp(`/ciliumnodes/${liar.name}`);
      world.kubernetesFault({ method: 'PATCH', path, effect: { kind: 'refuse', failure } });
    };
    if (isRestart) await attacked.restart(fill);
    else {
      await fill();
      await attacked.changeLeader();
    }
    await world.advance(30_000);

    await attacked.grow(8);
    await world.advance(25_000);

    expect(attacked.harm(liar)).toEqual([]);
  },
);
