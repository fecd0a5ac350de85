// Clusters without a cloud controller manager: the address of a Node, as the cloud shows it, ties the Node to its
// instance.
import { describe, expect, test } from '@jest/globals';
import { assign } from '../../../src/simulator/cloud/assignments.ts';
import type { NodeFacts } from '../../../src/simulator/workload/node-facts.ts';
import { AttackedWorld } from '../../support/attacked-world.ts';
import { fastReleaseFlags } from '../../support/fast-release-flags.ts';
import { instance, testCloud } from '../../support/test-cloud.ts';
import { withoutInstance } from '../../support/torn-answers.ts';
import { World } from '../../support/world.ts';
import { startController } from '../../support/world-controller.ts';

const withoutProviderId = true;

function freeMost({ world, victims }: AttackedWorld): void {
  for (const { name } of victims)
    for (let index = 0; index < 5; index++)
      void world.cluster.workload.deletePod(`default/${name}-pod-${index}`);
}

function heldBy({ world, victims }: AttackedWorld): readonly number[] {
  return victims.map((machine) => world.held(machine).length);
}

describe.each(['crd-allocator', 'multi-pool'] as const)(
  'Nodes without provider IDs and an agent of %s',
  (protocol) => {
    test('are verified by their addresses, and what they no longer need is released, also by the next leader', async () => {
      const attacked = await AttackedWorld.start({ protocol, withoutProviderIds: true });
      const { world } = attacked;
      const before = heldBy(attacked);

      freeMost(attacked);
      await world.advance(400_000);
      const after = heldBy(attacked);
      await attacked.changeLeader();
      await world.advance(60_000);

      expect(after.map((count, index) => (before[index] ?? 0) - count)).toEqual([5, 5, 5]);
      expect(world.controller.controller.status().unverified).toBeUndefined();
      expect(world.controller.controller.status().inDeficit).toEqual([]);
      expect(attacked.harm()).toEqual([]);
    });

    test('of which two have one address lose nothing, until one of the two is gone', async () => {
      const attacked = await AttackedWorld.start({ protocol, withoutProviderIds: true });
      const { world } = attacked;
      const victim = attacked.victim();
      const [before = 0] = heldBy(attacked);
      await world.register({ ...victim, name: 'a-second' });

      freeMost(attacked);
      await world.advance(400_000);
      const [during] = heldBy(attacked);
      const { unverified } = world.controller.controller.status();
      await world.call('DELETE', '/api/v1/nodes/a-second');
      await world.advance(200_000);

      expect(during).toBe(before);
      expect(unverified).toEqual({ count: 1, nodes: [victim.name] });
      expect(heldBy(attacked)).toEqual([before - 5, before - 5, before - 5]);
      expect(world.controller.controller.status().unverified).toBeUndefined();
      expect(attacked.harm()).toEqual([]);
    });
  },
);

test('a CiliumNode that names an instance before its Node joins makes way for it, without a provider ID too', async () => {
  const attacked = await AttackedWorld.start({ withoutProviderIds: true });
  const { world, stranger } = attacked;
  await attacked.write('a-fake', stranger, {});
  await world.advance(60_000);
  const meanwhile = world.controller.controller.status().unverified;

  void world.cluster.workload.addNode(stranger);
  await world.advance(60_000);

  expect(meanwhile).toEqual({ count: 1, nodes: ['a-fake'] });
  expect(world.pool(stranger).size).toBe(6);
  expect(world.operatorError(stranger)).toBe('');
  expect(world.controller.controller.status().inDeficit).toEqual([
    expect.objectContaining({ name: 'a-fake', reason: 'InstanceOfAnother' }),
  ]);
  expect(world.controller.controller.status().unverified).toBeUndefined();
  expect(attacked.removals).toEqual([]);
  expect(attacked.harm()).toEqual([]);
});

describe('an instance of another network with the address of a Node', () => {
  const [main, second] = ['vpc-00000000000000001', 'vpc-00000000000000002'];

  test.each<[string, Readonly<Record<string, string>>, boolean]>([
    ['loses nothing', {}, false],
    ['loses nothing while only the network of the cluster is served', { 'vpc-id': main }, false],
    ['is taken for that Node where only its network is served', { 'vpc-id': second }, true],
  ])('%s', async (_, flags, loses) => {
    const cloud = testCloud({
      vpcs: [
        { name: 'main', id: main, blocks: ['10.0.0.0/16'] },
        { name: 'second', id: second, blocks: ['10.0.0.0/16'] },
      ],
      subnets: [
        { name: 'nodes', vpc: 'main', zone: 'us-east-1a', block: '10.0.0.0/24' },
        { name: 'others', vpc: 'second', zone: 'us-east-1a', block: '10.0.0.0/24' },
      ],
      routeTables: [],
      securityGroups: [],
      instances: [
        instance({ securityGroups: [] }),
        instance({ name: 'other', subnet: 'others', securityGroups: [], addresses: 9 }),
      ],
    });
    const world = new World({ cloud, configure: () => ({ withoutProviderId }) });
    const controller = startController(world, { flags: { ...fastReleaseFlags, ...flags } });
    await world.announce(world.machine(0));
    const liar = { ...world.machine(1), name: 'liar' };
    await world.announce(liar, { spec: { ipam: { 'pre-allocate': 1 } } });

    for (let round = 0; round < 10; round++) {
      await world.advance(15_000);
      const releases = Object.fromEntries(world.held(liar).map((each) => [each, 'ready-for-release']));
      await world.patchStatus(liar, { ipam: { 'release-ips': releases } });
    }

    expect(controller.removals.length > 0).toBe(loses);
    expect(world.held(liar).length < 9).toBe(loses);
  });
});

describe('an address that moved from an instance that the cloud hides while no controller ran', () => {
  async function withMovedAddress(): Promise<{
    readonly world: World;
    readonly former: NodeFacts;
    /** At each change of a CiliumNode, whether the former node and the next one show it. */
    readonly shownBy: (readonly boolean[])[];
    readonly lead: () => void;
  }> {
    const cloud = testCloud({ instances: [instance({ count: 2 })] });
    const world = new World({ cloud, configure: () => ({ withoutProviderId }) });
    const [former, next] = [world.machine(0), world.machine(1)];
    const controller = startController(world);
    for (const each of world.machines) await world.announce(each);
    await world.advance(60_000);
    const [address = ''] = world.pool(former).keys();
    const [to = ''] = world.pool(next).values();
    controller.stop();
    await world.advance(30_000);
    const moved = { addresses: [address], prefixes: [], count: 0, prefixCount: 0 };
    assign(world.cluster.ec2.network, to, moved, true);
    await world.advance(60_000);
    const shownBy: (readonly boolean[])[] = [];
    world.cluster.kubernetes.follow('ciliumnodes.cilium.io', () => {
      shownBy.push([former, next].map((each) => world.pool(each).has(address)));
    });
    const lead = (): void => {
      startController(world, {
        identity: 'headwater-1',
        tamper: (_, output) => withoutInstance(output, former.instanceId),
      });
    };
    return { world, former, shownBy, lead };
  }

  test('is shown by its new node once the former node has lost it', async () => {
    const { world, shownBy, lead } = await withMovedAddress();

    lead();
    await world.advance(300_000);

    expect(shownBy).not.toContainEqual([true, true]);
    expect(shownBy.at(-1)).toEqual([false, true]);
    expect(world.bugs).toEqual([]);
  });

  test('is not shown by its new node while the API server gives no answer to its removal from the former', async () => {
    const { world, former, shownBy, lead } = await withMovedAddress();
    const endRefusals = world.refuse(503, 'PATCH', new RegExp(`${former.name}(?:/status)?$`));

    lead();
    await world.advance(300_000);
    endRefusals();
    await world.advance(120_000);

    expect(shownBy).not.toContainEqual([true, true]);
    expect(shownBy.at(-1)).toEqual([false, true]);
    expect(world.bugs).toEqual([]);
  });
});
