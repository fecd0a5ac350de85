// Twenty nodes change from a stand-in for cilium-operator to Headwater and back, in each step in the middle of a burst of pods
// and with a leader killed: the steps of docs/migrate.md, by changes of one mounted ConfigMap. Then what should not happen: an
// operator that comes back, a value that is none, agents that change their protocol, an API server that is away for longer than
// the Lease.
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { objectAt, valueAt } from '../../../src/simulator/workload/json.ts';
import { ciliumNodesPath } from '../../../src/simulator/workload/own-node.ts';
import { bothWrite, byOperator, nodes, Takeover, type TakeoverModel } from './takeover.ts';
import { takeoverPlan } from './takeover-plan.ts';
import { byHeadwater, changedByHeadwater, membersOfOthers } from './write-log.ts';

export interface TakeoverMode {
  readonly mode: string;
  /** The section of the status, and a member of an interface there that only the operator writes. */
  readonly section: string;
  readonly member: readonly string[];
  readonly serve: (nodes: number) => Promise<TakeoverModel>;
  /** Options with which idle addresses go back. */
  readonly releases: readonly string[];
  /** Whether agents of the other protocol exist. */
  readonly bothProtocols: boolean;
  /** Whether it is waited for that a value which is none is refused, and that nothing is in excess: both take half a minute. */
  readonly isThorough: boolean;
}

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
  member,
  serve,
  releases,
  bothProtocols,
  isThorough,
}: TakeoverMode): void {
  describe(`${nodes} nodes of a stand-in for cilium-operator in the mode ${mode}`, () => {
    let takeover: Takeover;

    beforeAll(async () => {
      takeover = await Takeover.start(await serve(nodes), [
        ...takeoverPlan({}).flags,
        ...releases,
        '--excess-ip-release-delay=3s',
        '--release-quarantine=7500ms',
      ]);
    });

    afterAll(() => takeover.stop());

    test(
      'are served by it beside a dry run, which writes nothing while its leader is killed',
      async () => {
        takeover.startOperator();
        const first = await takeover.midBurst('first', 40);
        await first.end();
        takeover.config.mount({ 'dry-run': 'true' });
        await takeover.rivals.complete();

        const beside = await takeover.midBurst('beside', 30);
        await takeover.killLeader();
        await takeover.untilPaused(['dryRun']);
        await beside.end();

        expect((await takeover.writes.read()).filter(byHeadwater)).toEqual([]);
        expect(await takeover.problems()).toEqual([]);
      },
      limit,
    );

    test(
      'are taken from it in the middle of a burst, and the leader that takes them is killed',
      async () => {
        const { cluster, config, writes } = takeover;
        const burst = await takeover.midBurst('taken', 60);
        takeover.stopOperator();
        for (const { nodeName } of cluster.workload.views)
          await cluster.api.call('PATCH', `${ciliumNodesPath}/${nodeName}/status`, {
            status: { ipam: foreign },
          });
        if (isThorough) {
          // A value that is none changes nothing.
          config.mount({ 'dry-run': 'perhaps', pause: 'releases' });
          await takeover.untilPaused(['dryRun', 'paused']);
        }
        config.mount({ pause: 'releases' });
        await cluster.until('Headwater has written', async () => (await writes.read()).some(byHeadwater));
        await takeover.killLeader();
        await takeover.untilPaused(['paused']);
        await burst.end();

        const theirs = await writes.timesOf(byOperator, 0);
        const [ours] = await writes.timesOf(byHeadwater, 0);
        expect(ours).toBeGreaterThan(theirs.at(-1) ?? Number.NaN);
        expect(await takeover.problems()).toEqual([]);
      },
      limit,
    );

    test(
      'are served live, with releases, a killed leader, agents that change and an API server that is away',
      async () => {
        const { cluster, config, model, rivals } = takeover;
        const { workload, api, signal } = cluster;
        const held = (): number =>
          [...model.network.interfaces.values()].reduce((sum, { addresses }) => sum + addresses.length, 0);
        const most = held();
        config.mount({});
        await takeover.untilPaused([]);
        void workload.run(
          { kind: 'departure', name: 'gone', of: 'taken', pods: 60, at: 0, over: 500 },
          signal,
        );
        await cluster.until('idle addresses go back', () => held() < most);
        await takeover.killLeader();

        const changing = workload.views
          .filter(({ protocol }) => protocol === 'crd-allocator')
          .slice(0, nodes / 4);
        const changed = bothProtocols
          ? changing.map(({ nodeName }) => workload.changeAgent(nodeName, 'multi-pool'))
          : [];
        const burst = await takeover.midBurst('live', 40);
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
        expect(await takeover.problems()).toEqual([]);
      },
      limit,
    );

    test(
      'see Headwater stop within 15 s when the operator comes back, and under a new leader too',
      async () => {
        const { cluster, writes } = takeover;
        const since = cluster.clock.wall();
        const burst = await takeover.midBurst('both', 40);
        takeover.startOperator();
        await takeover.untilPaused(['conflictingWriter']);
        await burst.end();
        const killedAt = cluster.clock.wall();
        await takeover.killLeader();
        const again = await takeover.midBurst('again', 40);
        await takeover.untilPaused(['conflictingWriter']);
        await again.end();

        expect(await writes.bothWrote(byOperator, since, killedAt)).toBeLessThan(bothWrite);
        expect(await writes.bothWrote(byOperator, killedAt)).toBeLessThan(bothWrite);
        expect(await takeover.problems()).toEqual([]);
      },
      limit,
    );

    test(
      'go back to the operator in the middle of a burst, and the leader is killed',
      async () => {
        const { cluster, config, writes } = takeover;
        takeover.stopOperator();
        await takeover.killLeader();
        await takeover.untilPaused([]);
        const burst = await takeover.midBurst('back', 60);
        config.mount({ 'dry-run': 'true' });
        await takeover.killLeader();
        await takeover.untilPaused(['dryRun']);
        const since = cluster.clock.wall();
        takeover.startOperator();
        await burst.end();
        const after = await takeover.midBurst('after', 40);
        await after.end();

        const [operatorBegan = Number.NaN] = await writes.timesOf(byOperator, since);
        expect(operatorBegan).not.toBeNaN();
        expect(await writes.timesOf(byHeadwater, operatorBegan)).toEqual([]);
        expect(await takeover.problems()).toEqual([]);
      },
      limit,
    );

    test('have every byte that is not Headwater’s as before, after each of its writes', async () => {
      const { cluster, writes } = takeover;
      const all = await writes.read();
      const own = all.filter(byHeadwater);

      expect(new Set(own.map(({ node }) => node)).size).toBe(nodes);
      const ours = {
        ipam: ['pool', 'pre-allocate'],
        status: [section],
        statusIpam: ['release-ips', 'operator-status', 'assigned-static-ip'],
      };
      expect(changedByHeadwater(all, ours)).toEqual([]);
      const members = membersOfOthers(all, { section, path: member });
      expect(members.changed).toEqual([]);
      expect(members.kept).toBeGreaterThan(nodes);
      for (const node of await cluster.ciliumNodes()) {
        const ipam = objectAt(node, 'status', 'ipam');
        const shown = Object.fromEntries(Object.keys(foreign).map((name) => [name, valueAt(ipam, name)]));
        expect(JSON.stringify(shown)).toBe(JSON.stringify(foreign));
      }
      expect(cluster.workload.waits.count).toBeGreaterThan(0);
    });
  });
}
