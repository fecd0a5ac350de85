// The sum of a dry run beside the program that gives nodes their blocks meanwhile.
import { describe, expect, test } from '@jest/globals';
import type { LiveReading } from '../../../src/config/live-options.ts';
import type { JsonObject } from '../../../src/simulator/workload/json.ts';
import { BlockWorld, type BlockWorldOptions } from '../../simulation/blocks/block-world.ts';
import { explained, toldOf } from '../../support/explained.ts';
import { StandInBlockOperator } from '../../support/stand-in-block-operator.ts';
import { ipv4, PoolWorld, requested } from './pool-world.ts';

const sumOf = ({ leader }: BlockWorld) => leader?.controller.status().dryRun;
const dry = { 'dry-run': 'true' };

/** A dry run that leads and watches. */
async function begin(world: BlockWorld): Promise<ReturnType<BlockWorld['startReplica']>> {
  const replica = world.startReplica(dry);
  await world.until('it leads', () => world.leader !== undefined);
  await world.clock.advance(1000);
  return replica;
}

/** The other program, which gives the blocks `10.0.N.0/maskSize`. */
function operate(world: BlockWorld, mode: 'cluster-pool' | 'multi-pool', maskSize: number): void {
  const { clock, model } = world;
  const blockOf = (index: number): string => `10.0.${index + 2}.0/${maskSize}`;
  const options = { clock, handler: model.handle, mode, blockOf, usable: 2 ** (32 - maskSize) - 2 };
  void new StandInBlockOperator(options).run(2000);
}

describe('a dry run of cluster-pool', () => {
  const flags = { ipam: 'cluster-pool', 'cluster-pool-ipv4-cidr': '10.0.0.0/16' };
  const worldOf = (
    more: Readonly<Record<string, string>> = {},
    options: Partial<BlockWorldOptions> = {},
  ): BlockWorld => new BlockWorld({ seed: 'one', command: 'run', flags: { ...flags, ...more }, ...options });
  const give = (world: BlockWorld, name: string, ...podCIDRs: string[]): Promise<JsonObject> =>
    world.ask('PATCH', `${world.path}/${name}`, { spec: { ipam: { podCIDRs } } });

  test('agrees with an operator that gives other blocks of the same kind', async () => {
    const world = worldOf();
    const { log } = await begin(world);
    for (const name of ['a', 'b', 'c']) world.join(name);
    await world.clock.advance(1000);
    operate(world, 'cluster-pool', 24);
    await world.clock.advance(120_000);

    expect(sumOf(world)).toMatchObject({
      verdict: 'go',
      sentence: 'go: 3 nodes would be served',
      would: { giveBlocks: 0 },
      same: 3,
      otherwise: 0,
      decidedOtherwise: [],
    });
    const sums = log.lines.filter(({ message }) => message === 'sum of the dry run');
    expect(sums.at(-1)?.details).toMatchObject({ same: 3, otherwise: 0 });
    expect(world.writes).toEqual([]);
    expect(world.bugs).toEqual([]);
  });

  test('names the node where an operator decides otherwise, and how', async () => {
    const world = worldOf({ 'cluster-pool-ipv6-cidr': 'fd00::/104' });
    const { log } = await begin(world);
    world.join('a');
    await world.clock.advance(1000);
    operate(world, 'cluster-pool', 25);
    await world.clock.advance(120_000);

    const decided = {
      would: 'give 1 IPv4 /24 of pool default and 1 IPv6 /112 of pool default',
      did: 'give 1 IPv4 /25 of pool default',
    };
    expect(sumOf(world)).toMatchObject({
      sentence: expect.stringContaining('1 node where another program decided otherwise'),
      same: 0,
      otherwise: 1,
      decidedOtherwise: [{ node: 'a', ...decided }],
    });
    expect(world.leader?.controller.node('a')).toMatchObject({
      dryRun: { would: { giveBlocks: 1 }, decidedOtherwise: decided },
    });
    const lines = world.leader === undefined ? [] : explained(world.leader.controller, 'a');
    expect(toldOf(lines, 'dry run')).toEqual([
      'would now: give blocks 1',
      `another program decided otherwise: would: ${decided.would}; done: ${decided.did}`,
    ]);
    const told = log.lines.filter(({ message }) => message.startsWith('another program decided otherwise'));
    expect(told.map(({ details }) => details)).toEqual([{ node: 'a', ...decided }]);
  });

  test('tells that an operator gives a block that another node has', async () => {
    const world = worldOf();
    await begin(world);
    for (const name of ['a', 'b']) world.join(name);
    await world.clock.advance(1000);
    for (const name of ['b', 'a']) {
      await give(world, name, '10.0.7.0/24');
      await world.clock.advance(1000);
    }

    const would = 'give 1 IPv4 /24 of pool default';
    expect(sumOf(world)).toMatchObject({
      same: 1,
      decidedOtherwise: [{ node: 'a', would, did: `${would} that b has` }],
    });
  });

  test.each([
    ['PodCIDRsExhausted', {}],
    ['left alone', { 'ipam.cilium.io/ignore': 'true' }],
  ])('tells why it would give nothing: %s', async (why, annotations) => {
    const world = worldOf({ 'cluster-pool-ipv4-cidr': '10.0.0.0/24' });
    await begin(world);
    for (const name of ['a', 'b']) {
      world.join(name);
      await world.clock.advance(1000);
    }
    await world.ask('PATCH', `${world.path}/b`, { metadata: { annotations } });
    await world.clock.advance(1000);
    await give(world, 'b', '10.0.9.0/24');
    await world.clock.advance(1000);

    expect(sumOf(world)).toMatchObject({
      decidedOtherwise: [{ node: 'b', would: `nothing (${why})`, did: 'give 1 IPv4 /24 of no pool' }],
    });
  });

  test('goes by its last plan: another node got the last block', async () => {
    const world = worldOf({ 'cluster-pool-ipv4-cidr': '10.0.0.0/24' });
    await begin(world);
    for (const name of ['a', 'b']) world.join(name);
    await world.clock.advance(1000);
    await give(world, 'b', '10.0.0.0/24');
    await world.clock.advance(1000);
    await give(world, 'a', '10.0.1.0/24');
    await world.clock.advance(1000);

    expect(sumOf(world)?.decidedOtherwise).toContainEqual({
      node: 'a',
      would: 'nothing (PodCIDRsExhausted)',
      did: 'give 1 IPv4 /24 of no pool',
    });
  });

  test('says nothing of nodes of another release', async () => {
    const world = worldOf({ 'node-selector': 'network=blocks' });
    world.join('ours', false, { network: 'blocks' });
    const { log } = await begin(world);
    world.join('theirs', false, { network: 'other' });
    await world.clock.advance(1000);
    await give(world, 'theirs', '10.9.0.0/24');
    await world.clock.advance(120_000);

    expect(sumOf(world)).toMatchObject({ same: 0, otherwise: 0 });
    expect(log.lines.filter(({ message }) => message.includes('decided otherwise'))).toEqual([]);
  });

  test('says nothing once it ended, and begins anew', async () => {
    let dryRun = true;
    const readLiveOptions = (): LiveReading => ({ values: { dryRun }, problems: [] });
    const world = worldOf({}, { readLiveOptions });
    world.join('a');
    const { log } = await begin(world);
    await give(world, 'a', '10.0.7.0/24');
    await world.clock.advance(1000);
    expect(sumOf(world)).toMatchObject({ same: 1 });

    dryRun = false;
    await world.clock.advance(120_000);
    await give(world, 'a', '10.9.0.0/24');
    await world.clock.advance(1000);
    expect(log.lines.filter(({ message }) => message.includes('decided otherwise'))).toEqual([]);

    dryRun = true;
    await world.clock.advance(60_000);
    expect(sumOf(world)).toMatchObject({ same: 0, otherwise: 0 });
  });

  test('forgets at once what it found before it was live, however short that was', async () => {
    let dryRun = true;
    const readLiveOptions = (): LiveReading => ({ values: { dryRun }, problems: [] });
    const world = worldOf({}, { readLiveOptions });
    world.join('a');
    await begin(world);
    await give(world, 'a', '10.0.7.0/24');
    await world.clock.advance(1000);
    expect(sumOf(world)).toMatchObject({ same: 1 });

    for (const isDry of [false, true]) {
      dryRun = isDry;
      await world.clock.advance(15_000);
    }
    expect(sumOf(world)).toMatchObject({ same: 0, otherwise: 0 });
  });

  test('knows nothing of a node that comes under the name of one that is gone', async () => {
    const world = worldOf();
    await begin(world);
    for (const [name, block] of [
      ['a', '10.0.7.0/24'],
      ['b', '10.0.8.0/25'],
      ['c', '10.0.9.0/24'],
    ] as const) {
      world.join(name);
      await world.clock.advance(1000);
      await give(world, name, block);
      await world.clock.advance(1000);
    }
    expect(sumOf(world)).toMatchObject({ same: 2, otherwise: 1 });

    for (const name of ['a', 'b', 'c']) await world.leave(name);
    for (const name of ['a', 'b']) world.join(name);
    await world.clock.advance(10_000);
    expect(sumOf(world)).toMatchObject({ nodes: { total: 2 }, same: 0, otherwise: 0 });
    expect(world.leader?.controller.node('b')).not.toHaveProperty('dryRun.decidedOtherwise');
  });

  test('names a node of which an operator releases a block', async () => {
    const world = worldOf({ 'cluster-pool-ipv4-cidr': '', 'cluster-pool-ipv6-cidr': 'fd00::/104' });
    await begin(world);
    world.join('a');
    await world.clock.advance(1000);
    await give(world, 'a', 'fd00::7:0/112');
    await world.clock.advance(1000);
    expect(sumOf(world)).toMatchObject({ same: 1, otherwise: 0 });

    await give(world, 'a');
    await world.clock.advance(1000);
    expect(sumOf(world)).toMatchObject({
      same: 0,
      decidedOtherwise: [{ node: 'a', would: 'nothing', did: 'release 1 IPv6 /112 of pool default' }],
    });

    await give(world, 'a', 'fd00::8:0/112');
    await world.clock.advance(1000);
    expect(sumOf(world)).toMatchObject({ same: 1, otherwise: 0 });
  });

  test('takes rubbish for what it is', async () => {
    const world = worldOf();
    await begin(world);
    world.join('a');
    await world.clock.advance(1000);
    await world.ask('PATCH', `${world.path}/a`, {
      spec: { ipam: { podCIDRs: ['10.0.7.0/24', '', 'x', '10.0.0.0/99'] } },
    });
    await world.clock.advance(120_000);

    expect(sumOf(world)).toMatchObject({
      same: 0,
      decidedOtherwise: [
        {
          node: 'a',
          would: 'give 1 IPv4 /24 of pool default',
          did: 'give 1 IPv4 /24 of pool default and 3 unreadable',
        },
      ],
    });
    expect(world.bugs).toEqual([]);
  });

  test('counts a node no longer that moves to another release', async () => {
    const world = worldOf({ 'node-selector': 'network=blocks' });
    for (const name of ['a', 'b']) world.join(name, false, { network: 'blocks' });
    await begin(world);
    for (const [index, name] of ['a', 'b'].entries()) await give(world, name, `10.0.${index + 7}.0/24`);
    await world.clock.advance(1000);
    expect(sumOf(world)).toMatchObject({ same: 2 });

    for (const path of ['/api/v1/nodes', world.path])
      await world.ask('PATCH', `${path}/a`, { metadata: { labels: { network: 'other' } } });
    await world.clock.advance(1000);
    expect(sumOf(world)).toMatchObject({ same: 1 });
  });

  test('says nothing of nodes that nobody serves, or that had their blocks before', async () => {
    const world = worldOf();
    world.join('before');
    await world.clock.advance(1000);
    await give(world, 'before', '10.9.0.0/25');
    await begin(world);
    world.join('unserved');
    await world.clock.advance(600_000);

    expect(sumOf(world)).toMatchObject({ would: { giveBlocks: 1 }, same: 0, otherwise: 0 });
  });
});

describe('a dry run of nodeipam', () => {
  const flags = { 'cluster-cidr': '10.0.0.0/16', 'service-cluster-ip-range': '10.0.3.0/24' };

  test.each([
    ['10.0.9.0/24', { same: 1, otherwise: 0 }],
    ['10.0.9.0/25', { same: 0, otherwise: 1 }],
    ['10.0.3.0/24', { same: 0, otherwise: 1 }],
    ['172.16.0.0/24', { same: 0, otherwise: 1 }],
  ])('compares %s that kube-controller-manager gives with its own decision', async (podCIDR, sum) => {
    const world = new BlockWorld({ seed: 'one', command: 'nodeipam', flags });
    world.join('before');
    await begin(world);
    await world.ask('POST', world.path, { apiVersion: 'v1', kind: 'Node', metadata: { name: 'a' } });
    await world.ask('PATCH', `${world.path}/a`, { spec: { podCIDR, podCIDRs: [podCIDR] } });
    await world.clock.advance(1000);

    expect(sumOf(world)).toMatchObject(sum);
    expect(world.writes).toEqual([]);
  });
});

describe('a dry run of multi-pool', () => {
  async function worldOf(): Promise<PoolWorld> {
    const world = new PoolWorld();
    await world.pool('default', ipv4(28, '10.0.0.0/16'));
    await world.pool('blue', ipv4(28, '10.1.0.0/16'));
    await begin(world);
    return world;
  }

  test('agrees with an operator that gives as many blocks as an agent asks for, each time', async () => {
    const world = await worldOf();
    operate(world, 'multi-pool', 28);
    await world.node('a', { default: 8 });
    await world.clock.advance(5000);
    await world.request('a', { default: 40 });
    await world.clock.advance(5000);

    expect((await world.blocks('a'))['default']).toHaveLength(3);
    expect(sumOf(world)).toMatchObject({ same: 1, otherwise: 0 });
    expect(world.writes).toEqual([]);
  });

  test.each([
    [{ default: ['10.0.9.0/28'] }, 'give 1 IPv4 /28 of pool default'],
    [{ blue: ['10.1.9.0/28', '10.1.8.0/28'] }, 'give 2 IPv4 /28 of pool blue'],
  ])('names the node to which an operator gives %j', async (blocks, did) => {
    const world = await worldOf();
    await world.node('a', { default: 20 });
    await world.clock.advance(1000);
    await world.list('a', blocks);
    await world.clock.advance(1000);

    expect(sumOf(world)).toMatchObject({
      decidedOtherwise: [{ node: 'a', would: 'give 2 IPv4 /28 of pool default', did }],
    });
  });

  test('says nothing of a request that it sees together with the answer to it', async () => {
    const world = await worldOf();
    await world.node('a', { default: 8 });
    await world.clock.advance(1000);
    await world.ask('PATCH', `${world.path}/a`, {
      spec: {
        ipam: {
          pools: {
            requested: requested({ default: 20 }),
            allocated: [{ pool: 'default', cidrs: ['10.0.1.0/28', '10.0.2.0/28'] }],
          },
        },
      },
    });
    await world.clock.advance(1000);

    expect(sumOf(world)).toMatchObject({ same: 0, otherwise: 0 });
  });

  test('follows a node whose agent asks another pool', async () => {
    const world = await worldOf();
    await world.node('a', { default: 8 });
    await world.clock.advance(1000);
    await world.request('a', { blue: 8 });
    await world.list('a', { blue: ['10.1.9.0/28'] });
    await world.clock.advance(1000);

    expect(sumOf(world)).toMatchObject({ same: 1, otherwise: 0 });
  });

  test('says nothing of blocks that an agent returns, and lists again', async () => {
    const world = await worldOf();
    await world.node('a', { default: 20 });
    await world.clock.advance(1000);
    const [first, both] = [['10.0.1.0/28'], ['10.0.1.0/28', '10.0.2.0/28']];
    await world.list('a', { default: both });
    await world.clock.advance(100);
    await world.request('a', { default: 8 });
    for (const listed of [first, both]) {
      await world.list('a', { default: listed });
      await world.clock.advance(100);
    }

    expect(await world.blocks('a')).toEqual({ default: both });
    expect(sumOf(world)).toMatchObject({ same: 1, otherwise: 0 });
  });
});
