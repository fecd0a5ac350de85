// Nodes with blocks change from another allocator to Headwater and back, amid bursts of new nodes and with a leader killed in each
// step: from a stand-in for cilium-operator, from the real node-ipam-controller, and from cluster-pool to multi-pool. Then what
// should not happen: both at once.
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { systemClock as clock } from '../../../src/runtime/system-clock.ts';
import { isObject, type JsonObject, listAt, textAt, textsAt } from '../../../src/simulator/workload/json.ts';
import { mountedConfig } from '../../support/config-directory.ts';
import type { StandInBlockOperator } from '../../support/stand-in-block-operator.ts';
import type { BlockCluster, BlockClusterOptions } from '../rig/block-cluster.ts';
import {
  type Blocks,
  BlockTakeover,
  names,
  network,
  nodes,
  type Other,
  Pair,
  startBlockOperator,
  usable,
} from '../rig/block-takeover.ts';
import { bothWrite } from '../rig/takeover.ts';
import { takeoverPlan } from '../rig/takeover-plan.ts';
import {
  byHeadwater,
  changedByHeadwater,
  type LoggedWrite,
  misgivenBlocks,
  type OwnFields,
} from '../rig/write-log.ts';

const election = takeoverPlan({}).flags.filter((flag) => flag.startsWith('--leader-election'));
const byStandIn = ({ program }: LoggedWrite): boolean => program === 'cilium-operator-generic';
const ownInStatus = ['operator-status'];

/** Fields that neither side writes of a CiliumNode or of a Node: they have to stay as they are. */
const foreign = {
  cilium: { ipam: { 'pod-cidrs': { '192.0.2.0/24': { status: 'in-use' } } } },
  node: { conditions: [{ type: 'Ready', status: 'True', reason: 'KubeletReady' }] },
} as const;

interface Change {
  readonly scope: BlockClusterOptions['scope'];
  readonly flags: readonly string[];
  readonly startOther: (cluster: BlockCluster) => Promise<Other>;
  readonly byOther: (write: LoggedWrite) => boolean;
  readonly own: OwnFields;
  readonly status: JsonObject;
}

const peerFlags = [`--cluster-cidr=${network}`];

const changes: readonly (readonly [string, Change])[] = [
  [
    'a stand-in for cilium-operator in the mode cluster-pool',
    {
      scope: 'cluster-pool',
      flags: [`--cluster-pool-ipv4-cidr=${network}`],
      startOther: (cluster) => Promise.resolve(startBlockOperator(cluster, 'cluster-pool')),
      byOther: byStandIn,
      own: { ipam: ['podCIDRs'], statusIpam: ownInStatus },
      status: foreign.cilium,
    },
  ],
  [
    'the node-ipam-controller of Kubernetes',
    {
      scope: 'nodeipam',
      flags: peerFlags,
      startOther: (cluster) => cluster.startPeer(peerFlags),
      byOther: ({ program }) => program.startsWith('node-ipam-controller'),
      own: { spec: ['podCIDR', 'podCIDRs'] },
      status: foreign.node,
    },
  ],
];

const isBuilt = process.env['HEADWATER_NODE_IPAM_CONTROLLER'] !== undefined;

/** Blocks that two nodes have. */
function shared(blocks: Blocks): readonly string[] {
  const all = [...blocks.values()].flat();
  return all.filter((block, index) => all.indexOf(block) < index);
}

/** Nodes of `before` that have other blocks now. */
function changedSince(before: Blocks, now: Blocks): readonly string[] {
  return [...before].filter(([name, own]) => now.get(name)?.join() !== own.join()).map(([name]) => name);
}

describe.each(changes.filter(([, { scope }]) => isBuilt || scope !== 'nodeipam'))(
  'nodes with blocks of %s',
  (_, { scope, flags, startOther, byOther, own, status }) => {
    const config = mountedConfig();
    let takeover: BlockTakeover;
    let cluster: BlockCluster;
    let pair: Pair;
    let other: Other;

    beforeAll(async () => {
      takeover = await BlockTakeover.start({
        scope,
        flags: [...flags, ...election, `--config-dir=${config.path}`],
      });
      cluster = takeover.cluster;
      pair = new Pair(cluster);
    });

    afterAll(async () => {
      await other.stop();
      await takeover.stop();
      config.remove();
    });

    test('keep them to Headwater and back, amid bursts, with a leader killed in each step', async () => {
      other = await startOther(cluster);
      const first = await (await takeover.midBurst('first')).end();
      for (const name of first.keys())
        await cluster.api.call('PATCH', `${cluster.path}/${name}/status`, { status });

      config.mount({ 'dry-run': 'true' });
      await pair.complete();
      await pair.leader(['dryRun']);
      const besideBurst = await takeover.midBurst('beside');
      await pair.killLeader();
      const beside = await besideBurst.end();

      const taken = cluster.each(names('taken'), (name) => cluster.join(name));
      await other.stop();
      // A value that is none changes nothing.
      config.mount({ 'dry-run': 'perhaps', pause: 'releases' });
      await pair.leader(['dryRun', 'paused']);
      expect((await takeover.writes.read()).filter(byHeadwater)).toEqual([]);
      config.mount({});
      await cluster.until('Headwater has written', async () =>
        (await takeover.writes.read()).some(byHeadwater),
      );
      await pair.killLeader();
      await taken;
      await cluster.served(3 * nodes);
      const liveBurst = await takeover.midBurst('live');
      await pair.killLeader();
      const live = await liveBurst.end();

      const awayBurst = await takeover.midBurst('away');
      await cluster.api.restart();
      const away = await awayBurst.end();

      config.mount({ 'dry-run': 'true' });
      await pair.killLeader();
      await pair.leader(['dryRun']);
      other = await startOther(cluster);
      const after = await (await takeover.midBurst('back')).end();

      expect(shared(after)).toEqual([]);
      for (const before of [first, beside, live, away]) expect(changedSince(before, after)).toEqual([]);
      const said = cluster.controllers.flatMap(({ lines }) => lines);
      expect(said.filter((line) => line.includes('another allocator'))).toEqual([]);
    });

    /** Nodes join, until the leader has seen the other one. */
    function joinUntilSeen(prefix: string): Promise<void> {
      return takeover.untilSeen(pair, other, async (index) => ({
        object: await cluster.create(`${prefix}-${index}`),
        count: 1,
      }));
    }

    test('stay apart when the other one comes back beside Headwater, which stops within 15 s, under a new leader too', async () => {
      const { writes } = takeover;
      await other.stop();
      config.mount({});
      await pair.leader([]);
      const before = await cluster.blocks();
      const since = clock.wall();
      other = await startOther(cluster);
      await joinUntilSeen('both');
      const [leader, killedAt] = [await pair.leader(), clock.wall()];
      await pair.killLeader();
      await joinUntilSeen('again');
      const seenAt = clock.wall();
      const after = await (await takeover.midBurst('rest')).end();

      expect(await writes.bothWrote(byOther, since, killedAt)).toBeLessThan(bothWrite);
      expect(await writes.bothWrote(byOther, killedAt)).toBeLessThan(bothWrite);
      expect(await writes.timesOf(byHeadwater, seenAt)).toEqual([]);
      expect(leader.lines.filter((line) => line.includes('another allocator gives'))).toHaveLength(1);
      expect(shared(after)).toEqual([]);
      expect(changedSince(before, after)).toEqual([]);
    });

    test('have their blocks and every byte that is not Headwater’s as before, after each write', async () => {
      const all = await takeover.writes.read();

      expect(all.filter(byHeadwater).length).toBeGreaterThan(nodes);
      expect(changedByHeadwater(all, own)).toEqual([]);
      expect(misgivenBlocks(all)).toEqual([]);
    });
  },
);

describe('CiliumNodes with blocks of a stand-in in the mode cluster-pool', () => {
  let takeover: BlockTakeover;
  let cluster: BlockCluster;
  let operator: StandInBlockOperator;

  beforeAll(async () => {
    takeover = await BlockTakeover.start({ scope: 'multi-pool', flags: election });
    cluster = takeover.cluster;
  });

  afterAll(async () => {
    operator.stop();
    await takeover.stop();
  });

  async function podCidrs(): Promise<ReadonlyMap<string, string>> {
    const objects = listAt(await cluster.api.call('GET', cluster.path), 'items').filter(isObject);
    return new Map(
      objects.map((each) => [
        textAt(each, 'metadata', 'name'),
        textsAt(each, 'spec', 'ipam', 'podCIDRs').join(),
      ]),
    );
  }

  /** As an agent of multi-pool asks. */
  async function request(name: string, count: number): Promise<JsonObject> {
    const requested = [{ pool: 'default', needed: { 'ipv4-addrs': count } }];
    return cluster.api.call('PATCH', `${cluster.path}/${name}`, { spec: { ipam: { pools: { requested } } } });
  }

  /** Resolves to the blocks once each node, or each of these, has so many. */
  async function untilEachHas(count: number, of?: readonly string[]): Promise<Blocks> {
    let blocks: Blocks = new Map();
    await cluster.until(
      `each has ${count} blocks`,
      async () => {
        blocks = await cluster.blocks();
        return [...blocks].every(([name, own]) => of?.includes(name) === false || own.length === count);
      },
      20,
    );
    return blocks;
  }

  test('move to multi-pool with the leader killed amid it, keep each block, and go on under an operator and back', async () => {
    operator = startBlockOperator(cluster, 'cluster-pool');
    await cluster.each(names('node'), (name) => cluster.create(name));
    let before: ReadonlyMap<string, string> = new Map();
    await cluster.until('all have a block', async () => {
      before = await podCidrs();
      return before.size === nodes && ![...before.values()].includes('');
    });
    for (const name of before.keys())
      await cluster.api.call('PATCH', `${cluster.path}/${name}/status`, { status: foreign.cilium });
    operator.stop();

    const pair = new Pair(cluster, [
      '--enable-cluster-pool-to-multi-pool-migration',
      '--multi-pool-migration-workers=1',
    ]);
    const moving = pair.complete();
    await cluster.until(
      'the pool can be made',
      async () => {
        await cluster.setPool('default', 24, [network]).catch(() => undefined);
        return [...(await cluster.blocks())].some(([, own]) => own.length > 0);
      },
      5,
    );
    // Half of the agents are upgraded meanwhile, and ask for what they have.
    const upgraded = names('node', nodes / 2);
    await cluster.each(upgraded, (name) => request(name, 200));
    await moving;
    await pair.killLeader();
    await cluster.until(
      'all have moved',
      async () => ![...(await podCidrs()).values()].some((text) => text !== ''),
    );
    const moved = await cluster.blocks();
    await cluster.each(upgraded, (name) => request(name, 300));
    const half = await untilEachHas(2, upgraded);
    await pair.stop();

    operator = startBlockOperator(cluster, 'multi-pool');
    await cluster.each(names('node'), (name) => request(name, 600));
    const ofOperator = await untilEachHas(3);
    operator.stop();
    await pair.complete();
    await cluster.each(names('node'), (name) => request(name, 900));
    await cluster.until('some have a fourth block of Headwater', async () =>
      [...(await cluster.blocks()).values()].some((own) => own.length === 4),
    );
    await pair.killLeader();
    const after = await untilEachHas(4);

    expect([...moved].map(([name, own]) => [name, own.join()])).toEqual(
      [...before].map(([name, own]) => [name, `default ${own}`]),
    );
    expect([...half.values()].map((own) => own.length)).toEqual(
      [...half.keys()].map((name) => (upgraded.includes(name) ? 2 : 1)),
    );
    expect(shared(after)).toEqual([]);
    for (const earlier of [moved, half, ofOperator])
      expect(
        [...earlier].filter(([name, own]) => !own.every((each) => after.get(name)?.includes(each))),
      ).toEqual([]);

    // The operator comes back, and agents ask for more.
    const since = clock.wall();
    operator = startBlockOperator(cluster, 'multi-pool');
    await takeover.untilSeen(pair, operator, async (index) => {
      const count = 5 + Math.floor(index / nodes);
      return { object: await request(`node-${index % nodes}`, count * usable), count };
    });
    const seenAt = clock.wall();
    await cluster.each(names('node'), (name) => request(name, 16 * usable));
    const both = await untilEachHas(16);

    expect(await takeover.writes.bothWrote(byStandIn, since)).toBeLessThan(bothWrite);
    expect(await takeover.writes.timesOf(byHeadwater, seenAt)).toEqual([]);
    expect(shared(both)).toEqual([]);
    const all = await takeover.writes.read();
    const own = { ipam: ['podCIDRs', 'pools'], statusIpam: ownInStatus };
    expect(changedByHeadwater(all, own)).toEqual([]);
    expect(misgivenBlocks(all)).toEqual([]);
  });
});
