// Twenty nodes change from a stand-in for cilium-operator to Headwater and back, in each step in the middle of a burst of pods
// and with a leader killed: the steps of docs/migrate.md, by changes of one mounted ConfigMap. Then what should not happen: an
// operator that comes back, a value that is none, agents that change their protocol, an API server that is away for longer than
// the Lease.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { getText } from '../../../rig/http.ts';
import { objectAt, valueAt } from '../../../src/simulator/workload/json.ts';
import { ciliumNodesPath } from '../../../src/simulator/workload/own-node.ts';
import { mountedConfig } from '../../support/config-directory.ts';
import { type OperatorCloud, StandInOperator } from '../../support/stand-in-operator.ts';
import { ModelCluster, type ServedModel } from './model-cluster.ts';
import { type Rival, Rivals } from './rivals.ts';
import { takeoverPlan } from './takeover-plan.ts';
import { changedByHeadwater, type LoggedWrite, WriteLog } from './write-log.ts';

export interface TakeoverMode {
  readonly mode: string;
  /** The section of the status, and a member of an interface there that neither side writes. */
  readonly section: string;
  readonly serve: (nodes: number) => Promise<ServedModel & { readonly operator: OperatorCloud }>;
  /** Options with which idle addresses go back. */
  readonly releases: readonly string[];
  /** Whether agents of the other protocol exist. */
  readonly bothProtocols: boolean;
  /** Whether it is waited for that a value which is none is refused, and that nothing is in excess: both take half a minute. */
  readonly isThorough: boolean;
}

const nodes = 20;
/** The longest time that two writers may write at once, in ms. */
const bothWrite = 15_000;
/** Between two runs of the stand-in, in ms. */
const period = 300;
const limit = 300_000;

/** What neither side writes: it has to stay as it is. */
const foreign = {
  'pod-cidrs': { '192.0.2.0/24': { status: 'in-use' } },
  'ipv6-used': { '2001:db8::7': { owner: 'another/pod' } },
  'release-ipv6s': { '2001:db8::8': 'do-not-release' },
} as const;

export function describeTakeover({
  mode,
  section,
  serve,
  releases,
  bothProtocols,
  isThorough,
}: TakeoverMode): void {
  describe(`${nodes} nodes of a stand-in for cilium-operator in the mode ${mode}`, () => {
    const config = mountedConfig();
    const directory = mkdtempSync(join(tmpdir(), 'takeover-'));
    const writes = new WriteLog(directory);
    let model: Awaited<ReturnType<typeof serve>>;
    let cluster: ModelCluster;
    let rivals: Rivals;
    let operator: StandInOperator;

    beforeAll(async () => {
      model = await serve(nodes);
      const { flags } = takeoverPlan({});
      cluster = await ModelCluster.start(model, {
        flags: [
          `--config-dir=${config.path}`,
          ...flags,
          ...releases,
          '--excess-ip-release-delay=3s',
          '--release-quarantine=7500ms',
        ],
        apiFlags: writes.flags,
      });
    });

    afterAll(async () => {
      operator.stop();
      await cluster.stop();
      config.remove();
      rmSync(directory, { recursive: true });
    });

    function startOperator(): StandInOperator {
      const { clock, api } = cluster;
      const surroundings = {
        clock,
        cluster: { kubernetes: { handle: api.handler }, ec2: { network: model.network } },
      };
      const started = new StandInOperator(surroundings, {
        cloud: model.operator,
        supplies: true,
        program: 'cilium-operator',
      });
      void started.run(period);
      return started;
    }

    /** Starts a burst; resolves in its middle: some of its pods have addresses. */
    async function midBurst(name: string, pods: number): Promise<{ readonly end: () => Promise<void> }> {
      const { workload, signal } = cluster;
      const { count } = workload.waits;
      const created = workload.run({ kind: 'burst', name, at: 0, pods, over: 3000 }, signal);
      await cluster.until('some pods of the burst have addresses', () => workload.waits.count > count);
      const end = async (): Promise<void> => {
        await created;
        await cluster.until('every pod has run', () => workload.waits.count === count + pods);
        await cluster.untilSupplied();
      };
      return { end };
    }

    /** Kills the leader; resolves to the next one. */
    async function killLeader(): Promise<Rival> {
      const { rival } = await rivals.leader();
      await rival.controller.process.child.kill();
      return (await rivals.leader(rival)).rival;
    }

    /** Resolves once the leader shows this as why it pauses what; empty if it pauses nothing. */
    async function untilPaused(reasons: readonly string[]): Promise<void> {
      await cluster.until(`the leader is paused by ${reasons.join() || 'nothing'}`, async () => {
        const { rival } = await rivals.leader();
        const url = rival.controller.process.urlOf('/status');
        const answer = await getText(url, cluster.signal).catch(() => '{}');
        const { state, paused = [] } = JSON.parse(answer) as {
          readonly state?: string;
          readonly paused?: readonly { readonly reason: string }[];
        };
        return state === 'leading' && paused.map(({ reason }) => reason).join() === reasons.join();
      });
    }

    async function expectSound(): Promise<void> {
      await cluster.invariants.check();
      expect(cluster.invariants.violations).toEqual([]);
      expect(rivals.surprises).toEqual([]);
    }

    const byHeadwater = ({ user }: LoggedWrite): boolean => user.endsWith(':headwater');
    const byOperator = ({ program }: LoggedWrite): boolean => program === 'cilium-operator';

    /** The wall-clock times of its writes since then, in order. */
    async function timesOf(
      isIts: (write: LoggedWrite) => boolean,
      since: number,
    ): Promise<readonly [number, ...number[]]> {
      const [first = Number.NaN, ...more] = (await writes.read())
        .filter((write) => write.at >= since && isIts(write))
        .map(({ at }) => at)
        .toSorted((a, b) => a - b);
      return [first, ...more];
    }

    test(
      'are served by it beside a dry run, which writes nothing while its leader is killed',
      async () => {
        operator = startOperator();
        const first = await midBurst('first', 40);
        await first.end();
        config.mount({ 'dry-run': 'true' });
        rivals = new Rivals(cluster);
        await rivals.complete();

        const beside = await midBurst('beside', 30);
        await killLeader();
        await untilPaused(['dryRun']);
        await beside.end();

        expect((await writes.read()).filter(byHeadwater)).toEqual([]);
        await expectSound();
      },
      limit,
    );

    test(
      'are taken from it in the middle of a burst, and the leader that takes them is killed',
      async () => {
        const burst = await midBurst('taken', 60);
        operator.stop();
        for (const { nodeName } of cluster.workload.views)
          await cluster.api.call('PATCH', `${ciliumNodesPath}/${nodeName}/status`, {
            status: { ipam: foreign },
          });
        if (isThorough) {
          // A value that is none changes nothing.
          config.mount({ 'dry-run': 'perhaps', pause: 'releases' });
          await untilPaused(['dryRun', 'paused']);
        }
        config.mount({ pause: 'releases' });
        await cluster.until('Headwater has written', async () => (await writes.read()).some(byHeadwater));
        await killLeader();
        await untilPaused(['paused']);
        await burst.end();

        const [, ...theirs] = await timesOf(byOperator, 0);
        const [ours] = await timesOf(byHeadwater, 0);
        expect(ours).toBeGreaterThan(theirs.at(-1) ?? Number.NaN);
        await expectSound();
      },
      limit,
    );

    test(
      'are served live, with releases, a killed leader, agents that change and an API server that is away',
      async () => {
        const { workload, api, signal } = cluster;
        const held = (): number =>
          [...model.network.interfaces.values()].reduce((sum, { addresses }) => sum + addresses.length, 0);
        const most = held();
        config.mount({});
        await untilPaused([]);
        void workload.run(
          { kind: 'departure', name: 'gone', of: 'taken', pods: 60, at: 0, over: 500 },
          signal,
        );
        await cluster.until('idle addresses go back', () => held() < most);
        await killLeader();

        const changing = workload.views
          .filter(({ protocol }) => protocol === 'crd-allocator')
          .slice(0, nodes / 4);
        const changed = bothProtocols
          ? changing.map(({ nodeName }) => workload.changeAgent(nodeName, 'multi-pool'))
          : [];
        const burst = await midBurst('live', 40);
        const { rival } = await rivals.leader();
        await api.stopServer();
        // Longer than the Lease: the leader gives up.
        expect(await rival.controller.process.child.ended).toBe('ended with exit code 1');
        await api.startServer();
        await Promise.all(changed);
        await rivals.complete();
        await burst.end();
        await cluster.until(
          'nothing is in excess',
          () => !isThorough || cluster.standings().every(({ excess }) => excess === 0),
        );
        await expectSound();
      },
      limit,
    );

    test(
      'see Headwater stop within 15 s when the operator comes back, and under a new leader too',
      async () => {
        const since = cluster.clock.wall();
        const burst = await midBurst('both', 40);
        operator = startOperator();
        await untilPaused(['conflictingWriter']);
        await burst.end();
        const killedAt = cluster.clock.wall();
        await killLeader();
        const again = await midBurst('again', 40);
        await untilPaused(['conflictingWriter']);
        await again.end();

        const [operatorBegan] = await timesOf(byOperator, since);
        const ours = await timesOf(byHeadwater, since);
        const beforeKill = ours.filter((at) => at < killedAt);
        expect((beforeKill.at(-1) ?? 0) - operatorBegan).toBeLessThan(bothWrite);
        const afterKill = ours.filter((at) => at >= killedAt);
        expect((afterKill.at(-1) ?? 0) - (afterKill[0] ?? 0)).toBeLessThan(bothWrite);
        await expectSound();
      },
      limit,
    );

    test(
      'go back to the operator in the middle of a burst, and the leader is killed',
      async () => {
        operator.stop();
        await killLeader();
        await untilPaused([]);
        const burst = await midBurst('back', 60);
        config.mount({ 'dry-run': 'true' });
        await killLeader();
        await untilPaused(['dryRun']);
        const since = cluster.clock.wall();
        operator = startOperator();
        await burst.end();
        const after = await midBurst('after', 40);
        await after.end();

        const [operatorBegan] = await timesOf(byOperator, since);
        expect(operatorBegan).not.toBeNaN();
        expect((await timesOf(byHeadwater, operatorBegan))[0]).toBeNaN();
        await expectSound();
      },
      limit,
    );

    test('have every byte that is not Headwater’s as before, after each of its writes', async () => {
      const all = await writes.read();
      const own = all.filter(byHeadwater);

      expect(new Set(own.map(({ node }) => node)).size).toBe(nodes);
      expect(changedByHeadwater(all, byHeadwater, section)).toEqual([]);
      for (const node of await cluster.ciliumNodes()) {
        const ipam = objectAt(node, 'status', 'ipam');
        const shown = Object.fromEntries(Object.keys(foreign).map((name) => [name, valueAt(ipam, name)]));
        expect(JSON.stringify(shown)).toBe(JSON.stringify(foreign));
      }
      expect(cluster.workload.waits.count).toBeGreaterThan(0);
    });
  });
}
