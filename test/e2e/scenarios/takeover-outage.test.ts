// The API server is away for two minutes in the middle of a change from an operator to Headwater, with the Lease as it is shipped,
// and pods and nodes go on to come: of a cloud, and with blocks. Both clusters wait at the same time.
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { sleep } from '../../../src/runtime/clock.ts';
import { systemClock as clock } from '../../../src/runtime/system-clock.ts';
import { type MountedConfig, mountedConfig } from '../../support/config-directory.ts';
import type { StandInBlockOperator } from '../../support/stand-in-block-operator.ts';
import { eniCloud } from '../../support/stand-in-operator.ts';
import {
  type Blocks,
  BlockTakeover,
  names,
  network,
  Pair,
  startBlockOperator,
} from '../rig/block-takeover.ts';
import { serveEc2Model } from '../rig/ec2-model.ts';
import { lossOfLease, type Rival } from '../rig/rivals.ts';
import { nodes, Takeover } from '../rig/takeover.ts';
import { byHeadwater, misgivenBlocks } from '../rig/write-log.ts';

/** How long the API server is away, and how long pods and nodes come meanwhile, in ms. */
const [away, growth] = [120_000, 90_000];

describe('an API server that is away for two minutes while Headwater takes nodes from an operator', () => {
  const never = new AbortController().signal;
  let cloud: Takeover;
  let blocks: BlockTakeover;
  let config: MountedConfig;
  let operator: StandInBlockOperator;
  let pair: Pair;
  /** The process that led before. */
  let leader: Rival;
  let first: Blocks;
  let growing: readonly Promise<unknown>[];
  let burst: { readonly end: () => Promise<void> };

  /** Resolves in the middle of the step: Headwater has begun to write, and some pods of a burst have no addresses. */
  async function amidCloud(): Promise<void> {
    const model = await serveEc2Model(nodes);
    cloud = await Takeover.start({ ...model, operator: eniCloud(model.network) }, [
      '--aws-release-excess-ips',
    ]);
    cloud.startOperator();
    await (await cloud.midBurst('first', 40)).end();
    cloud.config.mount({ 'dry-run': 'true' });
    await cloud.rivals.complete();
    cloud.stopOperator();
    cloud.config.mount({ pause: 'releases' });
    await cloud.untilPaused(['paused']);
    burst = await cloud.midBurst('taken', 60);
    await cloud.cluster.until('Headwater has written', async () =>
      (await cloud.writes.read()).some(byHeadwater),
    );
    leader = (await cloud.rivals.leader()).rival;
  }

  async function amidBlocks(): Promise<void> {
    config = mountedConfig();
    blocks = await BlockTakeover.start({
      scope: 'cluster-pool',
      flags: [`--cluster-pool-ipv4-cidr=${network}`, `--config-dir=${config.path}`],
    });
    operator = startBlockOperator(blocks.cluster, 'cluster-pool');
    first = await (await blocks.midBurst('first')).end();
    config.mount({ 'dry-run': 'true' });
    pair = new Pair(blocks.cluster);
    await pair.complete();
    operator.stop();
    config.mount({});
    await pair.leader([]);
    await blocks.midBurst('taken');
  }

  function grow(): readonly Promise<unknown>[] {
    const { workload, signal } = cloud.cluster;
    const pods = workload.run({ kind: 'burst', name: 'meanwhile', at: 0, pods: 40, over: growth }, signal);
    const joined = names('meanwhile').map(async (name, index, all) => {
      await sleep(clock, (growth * index) / all.length, never);
      await blocks.cluster.join(name);
    });
    return [pods, ...joined];
  }

  beforeAll(async () => {
    await Promise.all([amidCloud(), amidBlocks()]);
    const apis = [cloud.cluster.api, blocks.cluster.api];
    growing = grow();
    await Promise.all(apis.map((api) => api.stopServer()));
    await sleep(clock, away, never);
    await Promise.all(apis.map((api) => api.startServer()));
  }, 600_000);

  afterAll(async () => {
    operator.stop();
    await Promise.all([cloud.stop(), blocks.stop()]);
    config.remove();
  });

  test('ends the leader, which says why, and every pod of a cloud keeps or gets its address under the next one', async () => {
    const { process, at } = { process: leader.controller.process, at: leader.controller.at('error') };
    expect(await process.child.ended).toBe('ended with exit code 1');
    await cloud.rivals.complete();
    await burst.end();
    await Promise.all(growing);
    await cloud.cluster.until('every pod has run', () => cloud.cluster.workload.waits.count === 140);
    await cloud.cluster.untilSupplied();
    await cloud.untilPaused(['paused']);

    expect(at.map(({ message }) => message)).toEqual([lossOfLease]);
    expect(await cloud.problems()).toEqual([]);
  });

  test('keeps no node from its block, and takes none away', async () => {
    await Promise.all(growing);
    await pair.complete();
    const after = await blocks.cluster.served(3 * first.size);
    const all = [...after.values()].flat();

    expect(new Set(all).size).toBe(all.length);
    expect(misgivenBlocks(await blocks.writes.read())).toEqual([]);
    expect([...first].filter(([name, own]) => after.get(name)?.join() !== own.join())).toEqual([]);
    await pair.leader([]);
  });
});
