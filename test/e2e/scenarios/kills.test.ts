// Leaders end while pods come and go: some are killed at random moments, and some shut down.
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { sleep } from '../../../src/runtime/clock.ts';
import { Random } from '../../../src/runtime/random.ts';
import { CloudCalls } from '../rig/cloud-calls.ts';
import type { E2eCluster } from '../rig/e2e-cluster.ts';
import { type Holding, Rivals } from '../rig/rivals.ts';
import { sharedCluster } from '../rig/shared-cluster.ts';
import { TakeoverFigures } from '../rig/takeover-figures.ts';
import { takeoverFleet } from '../rig/takeover-fleet.ts';
import { takeoverPlan } from '../rig/takeover-plan.ts';

const plan = takeoverPlan(process.env);
const { kills, lease, nodes } = plan;
const fleet = takeoverFleet(plan);
const random = new Random('kills');

/** The quiet period of a new leader, in ms. */
const leaderQuietPeriod = 20_000;
/** Time for a takeover and for supplying the nodes after it. */
const patience = fleet.supplied + 2 * lease;
const limit = 2 * (patience + fleet.collected);

/** The end of a change of pods. */
interface Load {
  readonly end: Promise<void>;
}

describe('two controllers under load', () => {
  const shared = sharedCluster(fleet.cluster);
  const figures = new TakeoverFigures();
  let rivals: Rivals;
  let calls: CloudCalls;
  let generation = 0;

  /** Adds new pods and removes the earlier ones. */
  function replacePods(cluster: E2eCluster): Load {
    generation++;
    const { pods } = fleet;
    const name = `load-${generation}`;
    const of = `load-${generation - 1}`;
    const burst = { kind: 'burst', name, at: 0, pods, over: 3000, placement: 'random' } as const;
    const comeAndGo = [cluster.workload.run(burst, cluster.signal)];
    if (generation > 1) {
      const departure = { kind: 'departure', name: `end-of-${of}`, at: 0, of, pods, over: 2000 } as const;
      comeAndGo.push(cluster.workload.run(departure, cluster.signal));
    }
    return { end: Promise.all(comeAndGo).then(() => undefined) };
  }

  /** Adds more pods than some nodes have addresses for on their present interfaces, and removes them again. */
  function crowdNodes(cluster: E2eCluster, round: number): Load {
    const pods = 36;
    const crowds = Array.from({ length: 4 }, async (_, index) => {
      const { name: nodeName } = cluster.machine((Math.floor(round / 10) * 4 + index) % nodes);
      const name = `crowd-${round}-${index}`;
      await cluster.workload.run({ kind: 'burst', name, at: 0, pods, over: 500, nodeName }, cluster.signal);
      const departure = {
        kind: 'departure',
        name: `end-of-${name}`,
        at: 3000,
        of: name,
        pods,
        over: 100,
      } as const;
      await cluster.workload.run(departure, cluster.signal);
    });
    return { end: Promise.all(crowds).then(() => undefined) };
  }

  const moments = {
    'new pods get addresses': async (cluster: E2eCluster): Promise<Load> => {
      const load = replacePods(cluster);
      await sleep(cluster.clock, 200 + random.integer(1800), cluster.signal);
      return load;
    },
    'addresses are released': async (cluster: E2eCluster): Promise<Load> => {
      const since = cluster.clock.monotonic();
      const load = replacePods(cluster);
      await cluster.until('addresses are released', () => calls.takenAway(since).length > 0, {
        limit: patience,
      });
      await sleep(cluster.clock, random.integer(1000), cluster.signal);
      return load;
    },
    'an interface is detached': async (cluster: E2eCluster, round: number): Promise<Load> => {
      const load = crowdNodes(cluster, round);
      await cluster.until('an interface is detached', () => cluster.orphaned().length > 0);
      return load;
    },
  };

  function momentOf(round: number): keyof typeof moments {
    if (round % 10 === 5) return 'an interface is detached';
    return round % 2 === 0 ? 'addresses are released' : 'new pods get addresses';
  }

  /** Resolves once every lasting pod has its address, with two controllers again. */
  async function untilServed(cluster: E2eCluster, load: Load): Promise<void> {
    await rivals.complete();
    await load.end;
    await cluster.untilSupplied(patience);
  }

  /** Resolves once no node has more than its watermarks ask for, and no interface is orphaned. */
  async function untilCollected(cluster: E2eCluster): Promise<void> {
    const excess = (): number => cluster.standings().reduce((sum, standing) => sum + standing.excess, 0);
    const explain = (): string => {
      const detached = cluster.orphaned().map(({ id, tags }) => ({ id, tags }));
      return [JSON.stringify({ excess: excess(), detached }), ...cluster.invariants.violations].join('\n');
    };
    await cluster.until(
      'nothing is orphaned or in excess',
      () => cluster.orphaned().length === 0 && excess() === 0,
      {
        limit: fleet.collected,
        every: cluster.lookInterval,
        explain,
      },
    );
  }

  /** What must never happen, under any leader. */
  async function expectSound(cluster: E2eCluster, { rival, notBefore }: Holding): Promise<void> {
    await cluster.invariants.check();
    expect(cluster.invariants.violations).toEqual([]);
    expect(rivals.surprises).toEqual([]);
    const early = calls
      .takenAway(notBefore, rival.controller.user)
      .filter(({ at }) => at < notBefore + leaderQuietPeriod);
    expect(early).toEqual([]);
  }

  function noteFirstChange({ rival, tookAt }: Holding): void {
    const [first] = calls.changes(tookAt, rival.controller.user);
    figures.note('from the lease held to the first change in the cloud', first && first.at - tookAt);
  }

  beforeAll(async () => {
    const cluster = shared();
    calls = new CloudCalls(cluster.ec2.gateway, cluster.clock);
    rivals = new Rivals(cluster);
    await untilServed(cluster, replacePods(cluster));
  }, limit);

  afterAll(() => {
    const title = `takeovers with a lease of ${lease / 1000} s, ${nodes} nodes:`;
    const lost = `lost the lease unasked: ${rivals.lost}`;
    process.stdout.write(`${[title, ...figures.lines(), lost].join('\n  ')}\n`);
  });

  test.each(Array.from({ length: kills }, (_, index) => [index + 1, momentOf(index + 1)] as const))(
    'pass kill %i of the leader, while %s: no pod loses its address and nothing leaks',
    async (round, moment) => {
      const cluster = shared();
      const load = await moments[moment](cluster, round);
      const { rival: leader } = await rivals.leader();

      const killedAt = cluster.clock.monotonic();
      await leader.controller.process.child.kill();
      const next = await rivals.leader(leader);
      figures.note('from SIGKILL to the lease held', next.tookAt - killedAt);

      await untilServed(cluster, load);
      await expectSound(cluster, next);
      await untilCollected(cluster);
      await expectSound(cluster, next);
      if (moment === 'new pods get addresses') noteFirstChange(next);
    },
    limit,
  );

  test(
    'hand over when the leader shuts down, and it finishes the operations in flight',
    async () => {
      const cluster = shared();
      const { clock, signal } = cluster;
      for (let round = 0; round < 3; round++) {
        const load = replacePods(cluster);
        await sleep(clock, 200 + random.integer(1800), signal);
        const { rival: leader } = await rivals.leader();
        const { child } = leader.controller.process;
        const signalledAt = clock.monotonic();

        const stopped = child.stop();
        const releasedAt = await rivals.released(leader);
        const next = await rivals.leader(leader);
        await stopped;

        if (releasedAt !== undefined) {
          figures.note('from SIGTERM to the lease released', releasedAt - signalledAt);
          figures.note('from the lease released to the lease held', next.tookAt - releasedAt);
        }
        expect(await child.ended).toBe('ended with exit code 0');
        await untilServed(cluster, load);
        await expectSound(cluster, next);
        noteFirstChange(next);
      }
      await untilCollected(cluster);
    },
    limit,
  );
});
