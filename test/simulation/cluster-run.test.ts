import { describe, expect, test } from '@jest/globals';
import type { Fault } from '../../src/simulator/cloud/faults.ts';
import { detachedInterfaces, standings } from '../../src/simulator/cluster/invariants.ts';
import { startClusterRun, type ClusterRun } from './cluster-run.ts';

const forever = new AbortController().signal;

/** Half an hour of virtual time: a fleet starts, takes load, is upgraded in place and meets a few faults. */
async function halfAnHour(seed: string, flags: Readonly<Record<string, string>> = {}): Promise<ClusterRun> {
  const run = await startClusterRun({ seed, topology: 'small', flags });
  const { clock, cluster } = run;
  const { faults } = cluster.ec2.gateway;
  void cluster.workload.run(
    { kind: 'steady', name: 'web', arrivalsPerMinute: 6, meanLifetime: 300_000 },
    forever,
  );
  void cluster.workload.run(
    { kind: 'burst', name: 'batch', at: 240_000, pods: 12, over: 5000, lifetime: 200_000 },
    forever,
  );
  void cluster.workload.run(
    { kind: 'rolling-upgrade', name: 'upgrade', at: 600_000, every: 60_000 },
    forever,
  );
  await clock.advance(300_000);
  const meet = (action: string, count: number, fault: Fault): number =>
    faults.add({ action, rate: 1, count, match: {}, fault });
  meet('AssignPrivateIpAddresses', 2, { kind: 'lost', effect: 'before', connection: 'drop', delayMs: 0 });
  meet('AttachNetworkInterface', 1, {
    kind: 'error',
    code: 'InternalError',
    status: 500,
    message: 'internal',
  });
  meet('AssignPrivateIpAddresses', 3, { kind: 'throttle' });
  await clock.advance(1_500_000);
  return run;
}

describe('a cluster in virtual time', () => {
  test('one seed gives one history of a cluster, byte for byte, in which nothing is lost', async () => {
    const first = await halfAnHour('seven');
    const violations = first.violations();
    const detached = detachedInterfaces(first.cluster);
    const met = standings(first.cluster).filter(({ met }) => !met);
    const outcome = await first.end();
    const second = await halfAnHour('seven');
    await second.end();

    expect(violations).toEqual([]);
    expect(detached).toEqual([]);
    expect(met).toEqual([]);
    expect(outcome).toBe('stopped');
    expect(first.journal.length).toBeGreaterThan(500);
    expect(second.journal.join('\n')).toBe(first.journal.join('\n'));
  });

  test('a cluster whose prefixes come and go loses nothing', async () => {
    const run = await halfAnHour('prefixes', {
      'aws-enable-prefix-delegation': 'true',
      'aws-release-excess-ips': 'true',
    });
    const { cluster } = run;
    const prefixes = [...cluster.ec2.network.interfaces.values()].flatMap((item) => item.prefixes);
    const found = {
      violations: run.violations(),
      detached: detachedInterfaces(cluster),
      unmet: standings(cluster).filter(({ met }) => !met),
    };
    await run.end();

    expect(found).toEqual({ violations: [], detached: [], unmet: [] });
    expect(prefixes.length).toBeGreaterThan(0);
    expect(run.journal.some((line) => / ec2 Unassign.*Ipv4Prefixes/.test(line))).toBe(true);
  });

  test('another seed gives another history of a cluster', async () => {
    const [one, other] = [
      await startClusterRun({ seed: 'one', topology: 'small' }),
      await startClusterRun({ seed: 'other', topology: 'small' }),
    ];
    for (const run of [one, other]) {
      await run.clock.advance(60_000);
      await run.end();
    }

    expect(one.journal.join('\n')).not.toBe(other.journal.join('\n'));
  });
});
