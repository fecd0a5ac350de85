import { beforeAll, describe, expect, test } from '@jest/globals';
import { CloudCalls } from '../rig/cloud-calls.ts';
import { e2eTopology } from '../rig/e2e-topology.ts';
import { Rivals } from '../rig/rivals.ts';
import { sharedCluster } from '../rig/shared-cluster.ts';
import { planVariables, takeoverPlan } from '../rig/takeover-plan.ts';

const nodes = 20;
/** It is to lose the Lease by being frozen, and not by a machine that is busy. */
const { flags } = takeoverPlan({ [planVariables.lease]: '6s' });

describe('a leader that stands still for longer than its lease', () => {
  const shared = sharedCluster({
    nodes,
    topology: e2eTopology({ nodes, users: ['first', 'second', 'third'] }),
    // So slowly that it is not done with taking back when it is frozen.
    flags: [...flags, '--cloud-quota-overrides=UnassignPrivateIpAddresses=1:2'],
  });
  let rivals: Rivals;
  let calls: CloudCalls;

  beforeAll(async () => {
    const cluster = shared();
    calls = new CloudCalls(cluster.ec2.gateway, cluster.clock);
    rivals = new Rivals(cluster);
    await rivals.fill();
    await cluster.untilSupplied();
  });

  test('takes nothing away any more when it goes on, and ends', async () => {
    const cluster = shared();
    const { clock } = cluster;
    const inExcess = (): number => cluster.standings().filter(({ excess }) => excess > 0).length;
    const pods = nodes * 6;
    await cluster.workload.run({ kind: 'burst', name: 'load', at: 0, pods, over: 2000 }, cluster.signal);
    await cluster.untilSupplied();
    await rivals.fill();
    const { rival: frozen } = await rivals.leader();
    const { child } = frozen.controller.process;
    await cluster.workload.run(
      { kind: 'departure', name: 'end-of-load', at: 0, of: 'load', pods, over: 500 },
      cluster.signal,
    );
    await cluster.until(
      'it takes addresses back',
      () => calls.takenAway(frozen.controller.user, 0).length >= 2,
    );

    child.pause();
    const excessWhenFrozen = inExcess();
    const next = await rivals.leader(frozen);
    const continuedAt = clock.monotonic();
    child.goOn();
    const how = await child.ended;

    expect(calls.takenAway(frozen.controller.user, continuedAt)).toEqual([]);
    expect(how).toBe('ended with exit code 1');
    expect(frozen.controller.at('error').map(({ message }) => message)).toEqual([
      'leadership is lost: ending, to be started anew',
    ]);
    // It had more to do, and who leads now does it.
    expect(excessWhenFrozen).toBeGreaterThan(0);
    await cluster.until('no node has more than it is to have', () => inExcess() === 0, { limit: 120_000 });
    expect(calls.takenAway(next.rival.controller.user, next.at).length).toBeGreaterThan(0);
    expect(cluster.isSupplied()).toBe(true);
  }, 300_000);
});
