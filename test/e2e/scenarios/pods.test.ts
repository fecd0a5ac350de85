import { beforeAll, describe, expect, test } from '@jest/globals';
import type { Protocol } from '../../../src/simulator/workload/node-facts.ts';
import type { E2eCluster } from '../rig/e2e-cluster.ts';
import { sharedCluster } from '../rig/shared-cluster.ts';

/** Nodes of that protocol with more addresses than their watermarks ask for. */
function inExcess(cluster: E2eCluster, protocol: Protocol): readonly string[] {
  const { protocols } = cluster.workload;
  return cluster
    .standings()
    .filter(({ node, excess }) => excess > 0 && protocols.get(node) === protocol)
    .map(({ node }) => node);
}

function calls(cluster: E2eCluster, action: string): number {
  return cluster.ec2.gateway.counters.all()[action]?.calls ?? 0;
}

async function burst(cluster: E2eCluster, name: string, pods: number): Promise<void> {
  await cluster.workload.run({ kind: 'burst', name, at: 0, pods, over: 2000 }, cluster.signal);
}

async function departure(cluster: E2eCluster, of: string, pods: number): Promise<void> {
  const name = `end-of-${of}`;
  await cluster.workload.run({ kind: 'departure', name, at: 0, of, pods, over: 1000 }, cluster.signal);
}

describe('pods that are created and deleted', () => {
  const shared = sharedCluster({ nodes: 8 });

  beforeAll(async () => {
    await shared().startReadyController();
    await shared().untilSupplied();
  });

  test('get their addresses, many at once', async () => {
    const cluster = shared();

    await burst(cluster, 'web', 80);
    await cluster.untilSupplied();

    expect(cluster.workload.waits.count).toBe(80);
  });

  test.each<[string, Protocol]>([
    ['with the consent of an agent up to 1.19, address by address', 'crd-allocator'],
    ['once an agent from 1.20 on has dropped them', 'multi-pool'],
  ])('make their nodes release unused addresses: %s', async (_, protocol) => {
    const cluster = shared();
    const before = calls(cluster, 'UnassignPrivateIpAddresses');
    await burst(cluster, `short-${protocol}`, 80);
    await cluster.untilSupplied();

    await departure(cluster, `short-${protocol}`, 80);
    await cluster.until(
      'they have more than their watermarks ask for',
      () => inExcess(cluster, protocol).length > 0,
    );
    await cluster.until('they have no more', () => inExcess(cluster, protocol).length === 0);

    expect(calls(cluster, 'UnassignPrivateIpAddresses')).toBeGreaterThan(before);
    expect(cluster.isSupplied()).toBe(true);
  });

  test('keep their addresses while agents are upgraded in place', async () => {
    const cluster = shared();
    const inUse = new Map(
      cluster.workload.views
        .flatMap(({ addressesInUse }) => [...addressesInUse])
        .map(([a, user]) => [user, a]),
    );
    const old = [...cluster.workload.protocols].filter(([, protocol]) => protocol === 'crd-allocator');

    await Promise.all(old.map(([name]) => cluster.workload.changeAgent(name, 'multi-pool')));
    await burst(cluster, 'late', 40);
    await cluster.untilSupplied();

    expect(old.length).toBeGreaterThan(0);
    expect(new Set(cluster.workload.protocols.values())).toEqual(new Set(['multi-pool']));
    const now = new Map(
      cluster.workload.views
        .flatMap(({ addressesInUse }) => [...addressesInUse])
        .map(([a, user]) => [user, a]),
    );
    const ofPods = [...inUse].filter(([user]) => user.startsWith('default/web-'));
    expect(ofPods.length).toBe(80);
    for (const [user, address] of ofPods) expect(now.get(user)).toBe(address);
  });
});
