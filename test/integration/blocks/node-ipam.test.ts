import { describe, expect, test } from '@jest/globals';
import { textAt, textsAt } from '../../../src/simulator/workload/json.ts';
import { BlockWorld } from '../../simulation/blocks/block-world.ts';

function worldOf(flags: Readonly<Record<string, string>> = {}): BlockWorld {
  return new BlockWorld({
    seed: 'one',
    command: 'nodeipam',
    flags: { 'cluster-cidr': '10.0.0.0/22', ...flags },
  });
}

async function blocksOf(world: BlockWorld): Promise<Record<string, readonly string[]>> {
  const objects = await world.objects();
  return Object.fromEntries(
    objects.map((object) => [textAt(object, 'metadata', 'name'), textsAt(object, 'spec', 'podCIDRs')]),
  );
}

async function addNode(world: BlockWorld, name: string, podCIDRs: readonly string[]): Promise<void> {
  const spec = podCIDRs.length === 0 ? {} : { podCIDR: podCIDRs[0] ?? '', podCIDRs };
  await world.ask('POST', world.path, { apiVersion: 'v1', kind: 'Node', metadata: { name }, spec });
}

describe('nodeipam', () => {
  test('gives each Node a CIDR of each family, in the order of cluster-cidr and outside the Services', async () => {
    const world = worldOf({
      'cluster-cidr': '10.0.0.0/22,fd00::/56',
      'service-cluster-ip-range': '10.0.0.0/25',
    });
    world.startReplica();
    for (const name of ['a', 'b']) {
      world.join(name);
      await world.until('it is served', () => world.isServed());
    }

    expect(await blocksOf(world)).toEqual({
      a: ['10.0.1.0/24', 'fd00::/64'],
      b: ['10.0.2.0/24', 'fd00:0:0:1::/64'],
    });
    const node = await world.ask('GET', `${world.path}/a`);
    expect(textAt(node, 'spec', 'podCIDR')).toBe('10.0.1.0/24');
    expect(world.writes).toHaveLength(2);
    expect(world.bugs).toEqual([]);
  });

  test('gives a Node whose label asks for it a bigger block, once the label can be followed', async () => {
    const world = worldOf();
    world.startReplica();
    const metadata = { name: 'a', labels: { 'headwater/ipv4-mask-size': '33' } };
    await world.ask('POST', world.path, { apiVersion: 'v1', kind: 'Node', metadata });
    await world.clock.advance(10_000);

    expect(world.leader?.controller.node('a')).toMatchObject({ reason: 'MaskSizeInvalid' });

    const labels = { 'headwater/ipv4-mask-size': '23' };
    await world.ask('PATCH', `${world.path}/a`, { metadata: { labels } });
    await world.clock.advance(10_000);

    expect(await blocksOf(world)).toEqual({ a: ['10.0.0.0/23'] });
  });

  test('serves the others if a Node has a CIDR that it should not have', async () => {
    const world = worldOf();
    await addNode(world, 'foreign', ['192.168.0.0/24']);
    await addNode(world, 'old', ['10.0.0.0/24']);
    await world.clock.advance(2000);
    await addNode(world, 'young', ['10.0.0.0/25']);
    world.startReplica();
    world.join('good');
    await world.until('the good one is served', () => world.isServed());

    expect((await blocksOf(world))['good']).toEqual(['10.0.1.0/24']);
    const { leader } = world;
    expect(leader?.controller.status().reasons).toEqual({
      PodCIDROutsidePools: 1,
      PodCIDRConflict: 1,
    });
    expect(leader?.controller.node('young')).toMatchObject({
      standing: 'served',
      reason: 'PodCIDRConflict',
    });
  });

  test('reports a Node that waits as kube-controller-manager does', async () => {
    const world = worldOf({ 'cluster-cidr': '10.0.0.0/24' });
    world.startReplica();
    await addNode(world, 'held', ['10.0.0.0/24']);
    await addNode(world, 'waits', []);
    await world.clock.advance(10_000);

    const { items } = (await world.ask('GET', '/api/v1/events')) as { items: never[] };
    expect(items.map((event) => [textAt(event, 'reason'), textAt(event, 'involvedObject', 'name')])).toEqual([
      ['CIDRNotAvailable', 'waits'],
    ]);
  });

  test('gives the CIDRs of both families in the order of cluster-cidr, IPv6 first too', async () => {
    const world = worldOf({ 'cluster-cidr': 'fd00::/56,10.0.0.0/22' });
    world.startReplica();
    world.join('a');
    await world.until('it is served', () => world.isServed());

    expect(await blocksOf(world)).toEqual({ a: ['fd00::/64', '10.0.0.0/24'] });
    expect(textAt(await world.ask('GET', `${world.path}/a`), 'spec', 'podCIDR')).toBe('fd00::/64');
  });

  test('holds every CIDR of a Node whole, larger ones than a block too', async () => {
    const world = worldOf({ 'cluster-cidr': '10.0.0.0/15', 'node-cidr-mask-size': '26' });
    await addNode(world, 'old', ['10.0.0.0/16']);
    world.startReplica();
    world.join('a');
    await world.until('it is served', () => world.isServed());

    expect((await blocksOf(world))['a']).toEqual(['10.1.0.0/26']);
    expect(world.leader?.controller.node('old')).toMatchObject({ reason: 'PodCIDROutsidePools' });

    await world.ask('DELETE', `${world.path}/old`);
    await world.clock.advance(1000);
    expect(world.leader?.controller.status().pools).toMatchObject([{ held: 1 }]);
  });

  test('gives out nothing of a network that lies within the CIDR of a Node', async () => {
    const world = worldOf({ 'cluster-cidr': '10.0.0.0/22' });
    await addNode(world, 'old', ['10.0.0.0/8']);
    world.startReplica();
    await addNode(world, 'a', []);
    await world.clock.advance(10_000);

    expect((await blocksOf(world))['a']).toEqual([]);
    expect(world.leader?.controller.node('a')).toMatchObject({
      reason: 'PodCIDRsExhausted',
      why: expect.stringMatching(/^no IPv4 block is free, and old holds a large part: delete the objects/),
    });
  });

  test('adds no family to a Node that has a CIDR, and reports it', async () => {
    const world = worldOf({ 'cluster-cidr': '10.0.0.0/22,fd00::/56' });
    await addNode(world, 'a', ['10.0.3.0/24']);
    world.startReplica();
    await world.clock.advance(30_000);

    expect(world.writes).toEqual([]);
    expect(world.leader?.controller.node('a')).toMatchObject({
      standing: 'served',
      reason: 'PodCIDRIncomplete',
      why: expect.stringContaining('it has no IPv6 pod CIDR, and the API server accepts none later'),
    });
  });

  test('keeps the CIDR of a Node that is being deleted', async () => {
    const world = worldOf({ 'cluster-cidr': '10.0.0.0/24' });
    await world.ask('POST', world.path, {
      apiVersion: 'v1',
      kind: 'Node',
      metadata: { name: 'leaving', finalizers: ['example.com/waits'] },
      spec: { podCIDR: '10.0.0.0/24', podCIDRs: ['10.0.0.0/24'] },
    });
    world.startReplica();
    await world.until('it leads', () => world.leader !== undefined);
    await world.ask('DELETE', `${world.path}/leaving`);
    world.join('a');
    await world.clock.advance(30_000);
    expect(world.isServed()).toBe(false);

    await world.ask('PATCH', `${world.path}/leaving`, { metadata: { finalizers: null } });
    await world.until('the other is served', () => world.isServed());
  });
});
