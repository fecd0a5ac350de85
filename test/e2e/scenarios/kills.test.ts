// Leaders that end while pods come and go: killed at random moments, told to end, and in the middle of a creation.
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { sleep } from '../../../src/scheduling/clock.ts';
import { Random } from '../../../src/scheduling/random.ts';
import { CloudCalls } from '../rig/cloud-calls.ts';
import type { E2eCluster } from '../rig/e2e-cluster.ts';
import { e2eTopology } from '../rig/e2e-topology.ts';
import { type Holding, Rivals } from '../rig/rivals.ts';
import { sharedCluster } from '../rig/shared-cluster.ts';
import { TakeoverFigures } from '../rig/takeover-figures.ts';
import { takeoverPlan } from '../rig/takeover-plan.ts';

const { kills, flags, lease, nodes } = takeoverPlan(process.env);
const podsAtATime = nodes * 4;
const random = new Random('kills');

/** A takeover, and being supplied after it; and until collection has run twice. */
const patience = { supplied: 120_000 + 2 * lease, collected: 300_000 };

describe('two controllers under load', () => {
  const shared = sharedCluster({
    nodes,
    topology: e2eTopology({ nodes, users: ['first', 'second', 'third'] }),
    flags: [...flags, '--eni-gc-interval=1m'],
  });
  const figures = new TakeoverFigures();
  let rivals: Rivals;
  let calls: CloudCalls;
  let generation = 0;

  /** Resolves once new pods are there and those before them are gone. */
  async function replacePods(cluster: E2eCluster): Promise<void> {
    generation++;
    const name = `load-${generation}`;
    const of = `load-${generation - 1}`;
    const pods = podsAtATime;
    const burst = { kind: 'burst', name, at: 0, pods, over: 3000, placement: 'random' } as const;
    const comeAndGo = [cluster.workload.run(burst, cluster.signal)];
    if (generation > 1) {
      const departure = { kind: 'departure', name: `end-of-${of}`, at: 0, of, pods, over: 2000 } as const;
      comeAndGo.push(cluster.workload.run(departure, cluster.signal));
    }
    await Promise.all(comeAndGo);
  }

  /** Resolves once the leader, which takes nothing away at first, does. */
  async function untilItTakesAway(cluster: E2eCluster, { rival, at }: Holding): Promise<void> {
    const { user } = rival.controller;
    await cluster.until('the leader takes addresses back', () => calls.takenAway(user, at).length > 0);
  }

  /** Resolves once all is as it must be after a takeover, with two controllers again. */
  async function recover(cluster: E2eCluster, load: Promise<void>): Promise<void> {
    await rivals.fill();
    await load;
    await cluster.untilSupplied(patience.supplied);
    await cluster.judge.look();
    expect(cluster.judge.broken).toEqual([]);
  }

  function noteFirstChange({ rival, at }: Holding): void {
    const [first] = calls.changes(rival.controller.user, at);
    figures.note('from the lease held to the first change in the cloud', first && first.at - at);
  }

  beforeAll(async () => {
    const cluster = shared();
    calls = new CloudCalls(cluster.ec2.gateway, cluster.clock);
    rivals = new Rivals(cluster);
    await rivals.fill();
    await replacePods(cluster);
    await cluster.untilSupplied();
  });

  afterAll(() => {
    const title = `takeovers with a lease of ${lease / 1000} s, ${nodes} nodes:`;
    const lost = `lost the lease unasked: ${rivals.lost}`;
    process.stdout.write(`${[title, ...figures.lines(), lost].join('\n  ')}\n`);
  });

  test.each(Array.from({ length: kills }, (_, index) => index + 1))(
    'kill %i of the leader costs no pod its address',
    async (round) => {
      const cluster = shared();
      const { clock, signal } = cluster;
      await rivals.fill();
      const before = await rivals.leader();
      // Every other time it is old enough to be killed while it gives addresses back.
      if (round % 2 === 0) await untilItTakesAway(cluster, before);
      const load = replacePods(cluster);
      await sleep(clock, 200 + random.integer(1800), signal);
      const { rival: leader } = await rivals.leader();

      const killedAt = clock.monotonic();
      await leader.controller.process.child.kill();
      const next = await rivals.leader(leader);
      figures.note('from SIGKILL to the lease held', next.at - killedAt);

      await recover(cluster, load);
      noteFirstChange(next);
    },
    600_000,
  );

  test('a leader that is told to end sees through what it began, and hands over', async () => {
    const cluster = shared();
    const { clock } = cluster;
    for (let round = 0; round < 3; round++) {
      const load = replacePods(cluster);
      await sleep(clock, 200 + random.integer(1800), cluster.signal);
      const { rival: leader } = await rivals.leader();
      const toldAt = clock.monotonic();

      const stopped = leader.controller.process.child.stop();
      const releasedAt = await rivals.released(leader);
      const next = await rivals.leader(leader);
      await stopped;

      figures.note('from SIGTERM to the lease given back', releasedAt - toldAt);
      figures.note('from the lease given back to the lease held', next.at - releasedAt);
      expect(await leader.controller.process.child.ended).toBe('ended with exit code 0');
      await recover(cluster, load);
      noteFirstChange(next);
    }
  }, 600_000);

  test('an interface that a killed leader did not come to attach is used or deleted', async () => {
    const cluster = shared();
    const { rival: leader } = await rivals.leader();
    const load = cluster.workload.run(
      { kind: 'burst', name: 'many', at: 0, pods: nodes * 25, over: 1000 },
      cluster.signal,
    );
    await cluster.until('an interface is attached to nothing', () => cluster.loose().length > 0);

    await leader.controller.process.child.kill();
    const left = cluster.loose().length;
    await cluster.workload.run(
      { kind: 'departure', name: 'end-of-many', at: 1000, of: 'many', pods: nodes * 25, over: 100 },
      cluster.signal,
    );
    await rivals.leader(leader);
    await recover(cluster, load);
    await cluster.until('nothing is left over', () => cluster.loose().length === 0, {
      limit: patience.collected,
    });

    expect(left).toBeGreaterThan(0);
  }, 600_000);

  test('in the end nothing is held that nobody is to have', async () => {
    const cluster = shared();

    const hasExcess = (): boolean => cluster.standings().some(({ excess }) => excess > 0);
    await cluster.until('no node has more than it is to have', () => !hasExcess(), {
      limit: patience.collected,
    });

    expect(cluster.loose()).toEqual([]);
    expect(cluster.isSupplied()).toBe(true);
  }, 600_000);
});
