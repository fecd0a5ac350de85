// Nodes with blocks change from another allocator to Headwater and back, amid bursts of new nodes and with a leader killed in each
// step: from a stand-in for cilium-operator, from the real node-ipam-controller, and from cluster-pool to multi-pool.
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { ControllerChild } from '../../../rig/controller-child.ts';
import { systemClock as clock } from '../../../src/runtime/system-clock.ts';
import { isObject, listAt, objectAt, textAt, textsAt } from '../../../src/simulator/workload/json.ts';
import { mountedConfig } from '../../support/config-directory.ts';
import { StandInBlockOperator } from '../../support/stand-in-block-operator.ts';
import { BlockCluster, type BlockClusterOptions } from '../rig/block-cluster.ts';
import { takeoverPlan } from '../rig/takeover-plan.ts';

const nodes = 20;
const election = takeoverPlan({}).flags.filter((flag) => flag.startsWith('--leader-election'));
const blockOf = (index: number): string => `10.0.${index}.0/24`;

function names(prefix: string, count = nodes): readonly string[] {
  return Array.from({ length: count }, (_, index) => `${prefix}-${index}`);
}

/** Two controllers, of which one leads. */
class Pair {
  readonly #cluster: BlockCluster;
  readonly #flags: readonly string[];
  #running: readonly ControllerChild[] = [];

  constructor(cluster: BlockCluster, flags: readonly string[]) {
    this.#cluster = cluster;
    this.#flags = flags;
  }

  async complete(): Promise<void> {
    while (this.#running.length < 2)
      this.#running = [...this.#running, await this.#cluster.startController(this.#flags)];
    await this.leader();
  }

  /** The one that leads, once its answer has this too. */
  async leader(also = ''): Promise<ControllerChild> {
    let found: ControllerChild | undefined;
    await this.#cluster.until(`one leads ${also}`, async () => {
      const answers = await Promise.all(this.#running.map((each) => each.get('/status').catch(() => '')));
      found = this.#running.find(
        (_, index) =>
          answers[index]?.includes('"state": "leading"') === true && answers[index].includes(also),
      );
      return found !== undefined;
    });
    if (found === undefined) throw new Error('none leads');
    return found;
  }

  /** Kills the leader; resolves once the other one leads, and a new one stands by. */
  async killLeader(): Promise<void> {
    const leader = await this.leader();
    await leader.kill();
    this.#running = this.#running.filter((each) => each !== leader);
    await this.complete();
  }

  async stop(): Promise<void> {
    await Promise.all(this.#running.map(({ child }) => child.stop()));
    this.#running = [];
  }
}

interface Other {
  readonly stop: () => Promise<void> | void;
}

interface Change {
  readonly scope: BlockClusterOptions['scope'];
  readonly flags: readonly string[];
  readonly startOther: (cluster: BlockCluster) => Promise<Other>;
}

const peerFlags = ['--cluster-cidr=10.0.0.0/16'];

const changes: readonly (readonly [string, Change])[] = [
  [
    'a stand-in for cilium-operator in the mode cluster-pool',
    {
      scope: 'cluster-pool',
      flags: ['--cluster-pool-ipv4-cidr=10.0.0.0/16'],
      startOther: (cluster) => {
        const { handler } = cluster.api;
        const operator = new StandInBlockOperator({
          clock,
          handler,
          mode: 'cluster-pool',
          blockOf,
          usable: 254,
        });
        void operator.run(50);
        return Promise.resolve(operator);
      },
    },
  ],
  [
    'the node-ipam-controller of Kubernetes',
    { scope: 'nodeipam', flags: peerFlags, startOther: (cluster) => cluster.startPeer(peerFlags) },
  ],
];

const isBuilt = process.env['HEADWATER_NODE_IPAM_CONTROLLER'] !== undefined;

describe.each(changes.filter(([, { scope }]) => isBuilt || scope !== 'nodeipam'))(
  'nodes with blocks of %s',
  (_, { scope, flags, startOther }) => {
    const config = mountedConfig();
    let cluster: BlockCluster;
    let pair: Pair;
    let other: Other;

    beforeAll(async () => {
      cluster = await BlockCluster.start({
        scope,
        flags: [...flags, ...election, `--config-dir=${config.path}`],
      });
      pair = new Pair(cluster, []);
    });

    afterAll(async () => {
      await other.stop();
      await cluster.stop();
      config.remove();
    });

    /** Resolves once some of the nodes of a burst have blocks; to its end, once all have. */
    async function midBurst(prefix: string): Promise<() => Promise<ReadonlyMap<string, readonly string[]>>> {
      const before = (await cluster.blocks()).size;
      const created = cluster.each(names(prefix), (name) => cluster.create(name));
      const isServed = ([name, own]: readonly [string, readonly string[]]): boolean =>
        name.startsWith(`${prefix}-`) && own.length > 0;
      await cluster.until(
        'some of the burst have blocks',
        async () => [...(await cluster.blocks())].some(isServed),
        5,
      );
      return async () => {
        await created;
        return cluster.served(before + nodes);
      };
    }

    test('keep them to Headwater and back, amid bursts, with a leader killed in each step', async () => {
      other = await startOther(cluster);
      const first = await (await midBurst('first'))();

      config.mount({ 'dry-run': 'true' });
      await pair.complete();
      await pair.leader('dryRun');
      const endBeside = await midBurst('beside');
      await pair.killLeader();
      const beside = await endBeside();

      const taken = cluster.each(names('taken'), (name) => cluster.create(name));
      await other.stop();
      config.mount({});
      await taken;
      await cluster.served(3 * nodes);
      const endLive = await midBurst('live');
      await pair.killLeader();
      const live = await endLive();

      const endAway = await midBurst('away');
      await cluster.api.restart();
      const away = await endAway();

      config.mount({ 'dry-run': 'true' });
      await pair.killLeader();
      await pair.leader('dryRun');
      other = await startOther(cluster);
      const after = await (await midBurst('back'))();

      expect(new Set([...after.values()].flat()).size).toBe(6 * nodes);
      for (const before of [first, beside, live, away])
        expect([...before].filter(([name, own]) => after.get(name)?.join() !== own.join())).toEqual([]);
      const said = cluster.controllers.flatMap(({ lines }) => lines);
      expect(said.filter((line) => line.includes('another allocator'))).toEqual([]);
    });
  },
);

describe('CiliumNodes with blocks of a stand-in in the mode cluster-pool', () => {
  let cluster: BlockCluster;
  let operator: StandInBlockOperator;

  beforeAll(async () => {
    cluster = await BlockCluster.start({ scope: 'multi-pool', flags: election });
  });

  afterAll(async () => {
    operator.stop();
    await cluster.stop();
  });

  function startOperator(mode: 'cluster-pool' | 'multi-pool'): StandInBlockOperator {
    const started = new StandInBlockOperator({
      clock,
      handler: cluster.api.handler,
      mode,
      blockOf,
      usable: 254,
    });
    void started.run(50);
    return started;
  }

  async function podCidrs(): Promise<ReadonlyMap<string, string>> {
    const objects = listAt(await cluster.api.call('GET', cluster.path), 'items').filter(isObject);
    return new Map(
      objects.map((each) => [
        textAt(each, 'metadata', 'name'),
        textsAt(each, 'spec', 'ipam', 'podCIDRs').join(),
      ]),
    );
  }

  async function request(name: string, count: number): Promise<void> {
    const node = await cluster.api.call('GET', `${cluster.path}/${name}`);
    const pools = objectAt(node, 'spec', 'ipam', 'pools');
    const requested = [{ pool: 'default', needed: { 'ipv4-addrs': count } }];
    await cluster.api.call('PATCH', `${cluster.path}/${name}`, {
      spec: { ipam: { pools: { ...pools, requested } } },
    });
  }

  test('move to multi-pool with the leader killed amid it, keep each block, and go on under an operator and back', async () => {
    operator = startOperator('cluster-pool');
    await cluster.each(names('node'), (name) => cluster.create(name));
    let before: ReadonlyMap<string, string> = new Map();
    await cluster.until('all have a block', async () => {
      before = await podCidrs();
      return before.size === nodes && ![...before.values()].includes('');
    });
    operator.stop();

    const pair = new Pair(cluster, [
      '--enable-cluster-pool-to-multi-pool-migration',
      '--multi-pool-migration-workers=1',
    ]);
    const moving = pair.complete();
    await cluster.until(
      'the pool can be made',
      async () => {
        await cluster.setPool('default', 24, ['10.0.0.0/16']).catch(() => undefined);
        return [...(await cluster.blocks())].some(([, own]) => own.length > 0);
      },
      5,
    );
    await moving;
    await pair.killLeader();
    const moved = await cluster.served(nodes);
    const left = [...(await podCidrs()).values()].filter((text) => text !== '');
    await pair.stop();

    operator = startOperator('multi-pool');
    await cluster.each(names('node'), (name) => request(name, 300));
    const hasTwo = async (): Promise<boolean> =>
      [...(await cluster.blocks()).values()].every((own) => own.length === 2);
    await cluster.until('each node has a second block of the operator', hasTwo);
    operator.stop();
    await pair.complete();
    await cluster.each(names('node'), (name) => request(name, 600));
    await cluster.until('some have a third block of Headwater', async () =>
      [...(await cluster.blocks()).values()].some((own) => own.length === 3),
    );
    await pair.killLeader();
    let after: ReadonlyMap<string, readonly string[]> = new Map();
    await cluster.until('all have', async () => {
      after = await cluster.blocks();
      return [...after.values()].every((own) => own.length === 3);
    });

    expect(left).toEqual([]);
    expect([...moved].map(([name, own]) => [name, own.join()])).toEqual(
      [...before].map(([name, own]) => [name, `default ${own}`]),
    );
    expect(new Set([...after.values()].flat()).size).toBe(3 * nodes);
    expect([...moved].filter(([name, [own = '']]) => after.get(name)?.includes(own) !== true)).toEqual([]);
  });
});
