import { afterAll, describe, expect, test } from '@jest/globals';
import { withPools } from '../../../src/simulator/workload/pool-demand.ts';
import { ciliumNodesPath } from '../../../src/simulator/workload/own-node.ts';
import { usualServiceAccount } from '../rig/e2e-cluster.ts';
import { Gate } from '../rig/gate.ts';
import { sharedCluster } from '../rig/shared-cluster.ts';

describe('a watch that is cut', () => {
  const shared = sharedCluster({ nodes: 3, withoutAgents: true });
  let gate: Gate | undefined;

  afterAll(async () => {
    await gate?.end();
  });

  test('continues with a new list when the API server has forgotten the changes since', async () => {
    const cluster = shared();
    gate = await Gate.to(cluster.api.url);
    const kubeconfig = await cluster.api.kubeconfigFor(usualServiceAccount, gate.url);
    // The Lease must outlast the cut: this test is about the watch.
    const flags = ['--leader-election-lease-duration=2m', '--leader-election-renew-deadline=100s'];
    const [changed, gone] = [cluster.machine(0), cluster.machine(1)];
    // Before the start: an empty list is repeated soon, and that list would not count as a relist.
    for (const each of [changed, gone]) await cluster.announce(each, (node) => withPools(node, 4, []));
    const controller = await cluster.startReadyController({ kubeconfig, flags });
    for (const { name } of [changed, gone]) {
      await cluster.until('it has addresses', async () => (await cluster.pool(name)).length >= 4);
    }
    const relists = 'headwater_watch_relists_total{resource="ciliumnodes"}';
    expect((await controller.metric(relists, cluster.signal)) ?? 0).toBe(0);

    gate.shut();
    const requested = [{ pool: 'default', needed: { 'ipv4-addrs': 9 } }];
    await cluster.api.call('PATCH', `${ciliumNodesPath}/${changed.name}`, {
      spec: { ipam: { pools: { requested } } },
    });
    await cluster.api.call('DELETE', `${ciliumNodesPath}/${gone.name}`);
    await cluster.announce(cluster.machine(2), (node) => withPools(node, 4, []));
    await cluster.api.restart();
    await cluster.api.compactEtcd();
    gate.open();

    await cluster.until('what changed is served', async () => (await cluster.pool(changed.name)).length >= 9);
    await cluster.until(
      'what is new is served',
      async () => (await cluster.pool(cluster.machine(2).name)).length >= 4,
    );
    expect(await controller.metric(relists, cluster.signal)).toBe(1);
    expect(await controller.metric('headwater_leader', cluster.signal)).toBe(1);
    expect(controller.at('error')).toEqual([]);
  });
});
