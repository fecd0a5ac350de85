// Whether a dry run says to go live where nodes hold blocks already, of Headwater with other options or of another program.
import { describe, expect, test } from '@jest/globals';
import { BlockWorld } from '../../simulation/blocks/block-world.ts';

const usual = { ipam: 'cluster-pool', 'cluster-pool-ipv4-cidr': '10.0.0.0/22' };
const verdictOf = (world: BlockWorld) => world.leader?.controller.status().dryRun;

/** A world whose nodes have their blocks, of a process that has stopped. */
async function servedWorld(
  names: readonly string[],
  flags: Readonly<Record<string, string>> = usual,
  command: 'nodeipam' | 'run' = 'run',
): Promise<BlockWorld> {
  const world = new BlockWorld({ seed: 'one', command, flags });
  world.startReplica();
  for (const name of names) world.join(name);
  await world.until('all are served', () => world.isServed());
  world.leader?.stop();
  await world.clock.advance(60_000);
  return world;
}

async function dryRun(world: BlockWorld, flags: Readonly<Record<string, string>> = {}): Promise<unknown> {
  const { log } = world.startReplica({ 'dry-run': 'true', ...flags });
  await world.clock.advance(150_000);
  return log.lines.filter(({ message }) => message === 'sum of the dry run').at(-1)?.details;
}

describe('a dry run where nodes hold blocks', () => {
  test('says no-go if they are outside the networks', async () => {
    const world = await servedWorld(['a', 'b', 'c']);
    const logged = await dryRun(world, { 'cluster-pool-ipv4-cidr': '172.16.0.0/16' });

    expect(verdictOf(world)).toMatchObject({
      verdict: 'no-go',
      sentence: 'no-go: PodCIDROutsidePools on 3 nodes',
      nodes: { total: 3, read: 3 },
      notServed: { PodCIDROutsidePools: 3 },
    });
    const { decidedOtherwise: _, ...sum } = verdictOf(world) ?? {};
    expect(logged).toEqual(sum);
  });

  test('says no-go if Nodes hold some outside the cluster CIDR', async () => {
    const world = await servedWorld(['a', 'b'], { 'cluster-cidr': '10.0.0.0/16' }, 'nodeipam');
    await dryRun(world, { 'cluster-cidr': '172.16.0.0/16' });

    expect(verdictOf(world)).toMatchObject({ sentence: 'no-go: PodCIDROutsidePools on 2 nodes' });
  });

  test.each([
    [['10.0.0.0/24'], 'no-go: PodCIDRConflict on 1 node'],
    [['garbage'], 'no-go: PodCIDRUnreadable on 1 node'],
  ])('says no-go for %j', async (podCIDRs, sentence) => {
    const world = await servedWorld(['a', 'b']);
    for (const [name, blocks] of [
      ['a', ['10.0.0.0/24']],
      ['b', podCIDRs],
    ] as const)
      await world.ask('PATCH', `${world.path}/${name}`, { spec: { ipam: { podCIDRs: blocks } } });
    await dryRun(world);

    expect(verdictOf(world)).toMatchObject({ verdict: 'no-go', sentence });
  });

  test('says go, after a look, if only one of two blocks is used', async () => {
    const world = await servedWorld(['a', 'b']);
    await world.ask('PATCH', `${world.path}/b`, {
      spec: { ipam: { podCIDRs: ['10.0.1.0/24', '10.0.2.0/24'] } },
    });
    await world.ask('PATCH', `${world.path}/a`, { spec: { ipam: { podCIDRs: ['10.0.0.0/24'] } } });
    await dryRun(world);

    expect(verdictOf(world)).toMatchObject({
      verdict: 'go',
      sentence: 'go: 2 nodes would be served, after a look at PodCIDRUnused on 1 node',
      notServed: {},
    });
  });

  test.each([
    ['26', 'go: 3 nodes would be served, after a look at 3 nodes whose blocks in 10.0.0.0/22 are no /26'],
    ['23', 'no-go: no block of /23 is free in 10.0.0.0/22 beside blocks of another size'],
  ])('tells that they are of another size than /%s', async (maskSize, sentence) => {
    const world = await servedWorld(['a', 'b', 'c']);
    await dryRun(world, { 'cluster-pool-ipv4-mask-size': maskSize });

    expect(verdictOf(world)).toMatchObject({ sentence });
  });

  test.each([
    [['a'], 'go: 1 node would be served, 1 node left alone', 1],
    [['a', 'b'], 'no-go: no node would be served, 2 nodes left alone', 0],
  ])('counts none of %j that are left alone', async (names, sentence, total) => {
    const world = new BlockWorld({ seed: 'one', command: 'run', flags: usual });
    for (const name of ['a', 'b']) world.join(name);
    await world.clock.advance(2000);
    for (const name of names)
      await world.ask('PATCH', `${world.path}/${name}`, {
        metadata: { annotations: { 'ipam.cilium.io/ignore': 'true' } },
      });
    await dryRun(world);

    expect(verdictOf(world)).toMatchObject({ sentence, nodes: { total, read: total } });
  });

  test('says no-go while a role does not permit what going live needs', async () => {
    const world = new BlockWorld({ seed: 'one', command: 'run', flags: usual });
    world.join('a');
    world.model.authorize = ({ verb, resource }) => verb !== 'patch' || resource !== 'ciliumnodes';
    await dryRun(world);

    expect(verdictOf(world)).toMatchObject({
      sentence: expect.stringMatching(
        /^no-go: 2 permissions in Kubernetes missing \(patch ciliumnodes, patch ciliumnodes\/status\)$/,
      ),
    });

    world.model.authorize = undefined;
    await world.clock.advance(60_000);
    expect(verdictOf(world)).toMatchObject({ sentence: 'go: 1 node would be served' });
  });

  test('counts the CiliumNodes of machines that are gone', async () => {
    const world = await servedWorld(['a', 'b', 'c', 'd'], { ...usual, 'nodes-gc-interval': '0s' });
    for (const name of ['a', 'b']) await world.leave(name, true);
    await dryRun(world, { 'nodes-gc-interval': '1m' });

    expect(verdictOf(world)).toMatchObject({ would: { giveBlocks: 0, deleteCiliumNodes: 2 } });
  });
});
