import { beforeAll, describe, expect, test } from '@jest/globals';
import { sleep } from '../../../src/runtime/clock.ts';
import type { E2eCluster } from '../rig/e2e-cluster.ts';
import type { E2eController } from '../rig/e2e-controller.ts';
import { sharedCluster } from '../rig/shared-cluster.ts';

/** Starts a burst of pods; resolves once some of them have their addresses and others are still pending. */
async function midBurst(
  cluster: E2eCluster,
  name: string,
  pods: number,
): Promise<{ readonly end: Promise<void> }> {
  const { count } = cluster.workload.waits;
  const end = cluster.workload.run({ kind: 'burst', name, at: 0, pods, over: 6000 }, cluster.signal);
  await cluster.until('some pods have addresses', () => cluster.workload.waits.count >= count + pods / 4);
  return { end };
}

/** Resolves once the API server does not answer a write within a second. */
async function untilStuck(cluster: E2eCluster): Promise<void> {
  const review = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { generateName: 'stuck-' } };
  await cluster.until('writes are stuck', async () => {
    const answered = cluster.api.call('POST', '/api/v1/namespaces/default/configmaps', review).then(
      () => true,
      () => true,
    );
    const waited = sleep(cluster.clock, 1000, cluster.signal).then(() => false);
    return !(await Promise.race([answered, waited]));
  });
}

describe('an outage of the API server in the middle of a burst', () => {
  // The Lease must outlast the outage, so that no other controller takes over.
  const shared = sharedCluster({
    nodes: 8,
    flags: ['--leader-election-lease-duration=2m', '--leader-election-renew-deadline=100s'],
  });
  let controller: E2eController;

  beforeAll(async () => {
    controller = await shared().startReadyController();
    await shared().untilSupplied();
  });

  test('keeps no pod from its address when it is a restart', async () => {
    const cluster = shared();
    const { count } = cluster.workload.waits;
    const { end } = await midBurst(cluster, 'restart', 60);

    await cluster.api.restart();
    await end;
    await cluster.until('every pod has run', () => cluster.workload.waits.count === count + 60);
    await cluster.untilSupplied();

    expect(await controller.metric('headwater_leader', cluster.signal)).toBe(1);
    expect(controller.at('error')).toEqual([]);
  });

  test('keeps no pod from its address when it is a short stall of etcd', async () => {
    const cluster = shared();
    const { count } = cluster.workload.waits;
    const { end } = await midBurst(cluster, 'pause', 60);

    cluster.api.pauseEtcd();
    await untilStuck(cluster);
    cluster.api.continueEtcd();
    await end;
    await cluster.until('every pod has run', () => cluster.workload.waits.count === count + 60);
    await cluster.untilSupplied();

    expect(await controller.metric('headwater_leader', cluster.signal)).toBe(1);
    expect(controller.at('error')).toEqual([]);
  });
});

describe('an outage that lasts longer than the Lease', () => {
  const shared = sharedCluster({
    nodes: 6,
    flags: [
      '--leader-election-lease-duration=5s',
      '--leader-election-renew-deadline=4s',
      '--leader-election-retry-period=1s',
      '--cloud-call-timeout=3s',
    ],
  });

  test('ends the leader, and another controller takes over, after a stall of etcd', async () => {
    const cluster = shared();
    const controller = await cluster.startReadyController();
    await cluster.untilSupplied();
    const { count } = cluster.workload.waits;
    const { end } = await midBurst(cluster, 'long-pause', 40);

    cluster.api.pauseEtcd();
    const how = await controller.process.child.ended;
    cluster.api.continueEtcd();
    const next = await cluster.startReadyController({ name: 'the next controller' });
    await end;
    await cluster.until('every pod has run', () => cluster.workload.waits.count === count + 40);
    await cluster.untilSupplied();

    expect(how).toBe('ended with exit code 1');
    expect(controller.at('error').map(({ message }) => message)).toEqual(['leader election lost, exiting']);
    expect(next.at('error')).toEqual([]);
  });
});
