import { beforeAll, describe, expect, test } from '@jest/globals';
import { type CloudCall, CloudCalls } from '../rig/cloud-calls.ts';
import { e2eTopology } from '../rig/e2e-topology.ts';
import { lossOfLease, Rivals } from '../rig/rivals.ts';
import { sharedCluster } from '../rig/shared-cluster.ts';
import { planVariables, takeoverPlan } from '../rig/takeover-plan.ts';

const nodes = 20;

/**
 * The leader must lose the Lease because it is frozen, not because the machine is busy. It takes things away so slowly that
 * it is not finished when it is frozen.
 */
const flags = [
  ...takeoverPlan({ [planVariables.lease]: '6s' }).flags,
  '--cloud-quota-overrides=UnassignPrivateIpAddresses=1:2,DeleteNetworkInterface=2:1',
];

describe('a leader that is frozen for longer than its lease', () => {
  const shared = sharedCluster({
    nodes,
    topology: e2eTopology({ nodes, users: ['first', 'second', 'third'] }),
    flags,
  });
  let rivals: Rivals;
  let calls: CloudCalls;

  beforeAll(async () => {
    const cluster = shared();
    calls = new CloudCalls(cluster.ec2.gateway, cluster.clock);
    rivals = new Rivals(cluster);
    await rivals.complete();
    await cluster.untilSupplied();
  });

  test('takes nothing away after it resumes, and exits', async () => {
    const cluster = shared();
    const { clock, signal, workload } = cluster;
    const { faults } = cluster.ec2.gateway;
    const inExcess = (): number => cluster.standings().filter(({ excess }) => excess > 0).length;
    const pods = nodes * 6;
    await workload.run({ kind: 'burst', name: 'load', at: 0, pods, over: 2000 }, signal);
    await cluster.untilSupplied();
    const { rival: frozen } = await rivals.leader();
    const { child } = frozen.controller.process;
    const { user } = frozen.controller;
    const deletions = (): number =>
      calls.takenAway(0, user).filter(({ action }) => action === 'DeleteNetworkInterface').length;
    let isFrozen = false;
    /** Midway: a deletion is in flight, and other calls wait for the rate limits. */
    const freeze = (call: CloudCall): void => {
      const isMidway = call.user === user && call.action === 'DeleteNetworkInterface' && deletions() > 1;
      if (isFrozen || !isMidway || cluster.orphaned().length < 2 || inExcess() === 0) return;
      child.pause();
      isFrozen = true;
    };

    await workload.run(
      { kind: 'departure', name: 'end-of-load', at: 0, of: 'load', pods, over: 500 },
      signal,
    );
    await cluster.until('it releases addresses', () => calls.takenAway(0, user).length > 0);
    const refusal = { code: 'InvalidParameterCombination', status: 400, message: 'not now' };
    const refused = faults.add({
      action: 'AttachNetworkInterface',
      rate: 1,
      match: {},
      fault: { kind: 'error', ...refusal },
    });
    const crowds = Array.from({ length: nodes / 2 }, (_, index) =>
      workload.run(
        {
          kind: 'burst',
          name: `crowd-${index}`,
          at: 0,
          pods: 20,
          over: 500,
          nodeName: cluster.machine(index).name,
        },
        signal,
      ),
    );
    await Promise.all(crowds);
    // A leader that shuts down finishes a started step; one that lost the Lease must not.
    calls.onChange = freeze;
    await cluster.until('it is frozen while it deletes what it could not attach', () => isFrozen);

    const next = await rivals.leader(frozen);
    faults.remove(refused);
    const continuedAt = clock.monotonic();
    child.goOn();
    const how = await child.ended;

    expect(calls.takenAway(continuedAt, user)).toEqual([]);
    expect(how).toBe('ended with exit code 1');
    expect(frozen.controller.at('error').map(({ message }) => message)).toEqual([lossOfLease]);
    // It had more to do, which the next leader does.
    await cluster.until('no node has more than its watermarks ask for', () => inExcess() === 0, {
      limit: 120_000,
    });
    expect(calls.takenAway(next.at, next.rival.controller.user).length).toBeGreaterThan(0);
    await cluster.untilSupplied();
    expect(rivals.surprises).toEqual([]);
  }, 300_000);
});
