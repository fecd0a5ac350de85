import { describe, expect, test } from '@jest/globals';
import type { Agent } from '../../../../src/simulator/workload/agent.ts';
import { Random } from '../../../../src/runtime/random.ts';
import { type JsonObject, objectAt, textAt } from '../../../../src/simulator/workload/json.ts';
import { Kubelet } from '../../../../src/simulator/workload/kubelet.ts';
import { KubernetesClient } from '../../../../src/simulator/workload/kubernetes-client.ts';
import { newPod, podCollectionPath } from '../../../../src/simulator/workload/pod.ts';
import { addresses, Cluster, eni, nodeFacts } from './cluster.ts';

interface Rig {
  readonly cluster: Cluster;
  readonly agent: Agent;
  readonly kubelet: Kubelet;
}

/** A node with a serving agent, this many addresses, and a running kubelet. */
async function rig(count: number): Promise<Rig> {
  const cluster = new Cluster();
  await cluster.createNode();
  const agent = cluster.agent('crd-allocator');
  agent.start();
  await cluster.clock.advance(0);
  await cluster.offer([eni('eni-1', addresses(count))]);
  await cluster.clock.advance(5_000);

  const kubelet = new Kubelet({
    facts: nodeFacts,
    client: new KubernetesClient(cluster.handler, 'kubelet'),
    clock: cluster.clock,
    stopwatch: cluster.clock,
    random: new Random('kubelet'),
    watchLag: 0,
    record: () => undefined,
    onBug: (error) => cluster.bugs.push(error),
    agent: () => agent,
  });
  kubelet.start();
  await cluster.clock.advance(0);
  return { cluster, agent, kubelet };
}

async function createPod(
  cluster: Cluster,
  name: string,
  more: { hostNetwork?: boolean; nodeName?: string } = {},
) {
  const pod = newPod({ name, nodeName: 'node-1', hostNetwork: false, grace: 5, ...more });
  await cluster.call('POST', podCollectionPath, pod);
  await cluster.clock.advance(0);
}

function podStatus(cluster: Cluster, name: string): Promise<JsonObject> {
  return cluster.call('GET', `${podCollectionPath}/${name}`).then((pod) => objectAt(pod, 'status'));
}

async function exists(cluster: Cluster, name: string): Promise<boolean> {
  const { items } = (await cluster.call('GET', podCollectionPath)) as { items: readonly JsonObject[] };
  return items.some((pod) => textAt(pod, 'metadata', 'name') === name);
}

describe('Kubelet', () => {
  test('runs a pod with an address of the agent', async () => {
    const { cluster, agent } = await rig(1);

    await createPod(cluster, 'a');

    expect(await podStatus(cluster, 'a')).toMatchObject({
      phase: 'Running',
      podIP: '10.0.1.1',
      podIPs: [{ ip: '10.0.1.1' }],
      hostIP: '10.0.0.10',
    });
    expect(agent.addressesInUse()).toEqual(new Map([['10.0.1.1', 'default/a']]));
  });

  test('gives a pod of the host network the address of the node and takes none from the agent', async () => {
    const { cluster, agent, kubelet } = await rig(1);

    await createPod(cluster, 'a', { hostNetwork: true });

    expect(await podStatus(cluster, 'a')).toMatchObject({ phase: 'Running', podIP: '10.0.0.10' });
    expect(agent.addressesInUse().size).toBe(0);
    expect(kubelet.waits.count).toBe(0);
  });

  test('ignores pods of other nodes', async () => {
    const { cluster, agent } = await rig(1);

    await createPod(cluster, 'a', { nodeName: 'node-2' });

    expect(await podStatus(cluster, 'a')).toMatchObject({ phase: 'Pending' });
    expect(agent.addressesInUse().size).toBe(0);
  });

  test('retries a pod without an address every 10 to 15 s until there is one', async () => {
    const { cluster, kubelet } = await rig(1);
    await createPod(cluster, 'a');
    const start = cluster.clock.monotonic();
    await createPod(cluster, 'b');
    await cluster.clock.advance(60_000);
    const waiting = kubelet.waiting;
    const status = await podStatus(cluster, 'b');

    await cluster.offer([eni('eni-1', addresses(2))]);
    await cluster.clock.advance(15_000);

    expect(waiting).toEqual(new Map([['default/b', start]]));
    expect(textAt(status, 'phase')).toBe('Pending');
    expect(await podStatus(cluster, 'b')).toMatchObject({ phase: 'Running', podIP: '10.0.1.2' });
    expect(kubelet.waiting.size).toBe(0);
    expect(kubelet.waits.count).toBe(2);
    expect(kubelet.waits.max).toBeGreaterThan(60_000);
    expect(kubelet.waits.max).toBeLessThanOrEqual(75_000);
  });

  test('frees the address of a deleted pod after its grace period, and the pod is gone', async () => {
    const { cluster, agent } = await rig(1);
    await createPod(cluster, 'a');

    await cluster.call('DELETE', `${podCollectionPath}/a`);
    await cluster.clock.advance(4_999);
    const before = [agent.addressesInUse().size, await exists(cluster, 'a')];
    await cluster.clock.advance(1);

    expect(before).toEqual([1, true]);
    expect([agent.addressesInUse().size, await exists(cluster, 'a')]).toEqual([0, false]);
  });

  test('removes a waiting pod at once when it is deleted', async () => {
    const { cluster, kubelet } = await rig(1);
    await createPod(cluster, 'a');
    await createPod(cluster, 'b');

    await cluster.call('DELETE', `${podCollectionPath}/b`);
    await cluster.clock.advance(0);

    expect(await exists(cluster, 'b')).toBe(false);
    expect(kubelet.waiting.size).toBe(0);
  });

  test('frees the address of a pod deleted without grace at once, and its name can be used again', async () => {
    const { cluster, agent } = await rig(1);
    await createPod(cluster, 'a');

    await cluster.call('DELETE', `${podCollectionPath}/a`, { gracePeriodSeconds: 0 });
    await createPod(cluster, 'a');

    expect(agent.addressesInUse()).toEqual(new Map([['10.0.1.1', 'default/a']]));
    expect(await podStatus(cluster, 'a')).toMatchObject({ phase: 'Running' });
  });

  test('ends a pod on time, whatever changes on it meanwhile', async () => {
    const { cluster } = await rig(1);
    await createPod(cluster, 'a');
    await cluster.call('DELETE', `${podCollectionPath}/a`);
    await cluster.clock.advance(4_000);

    await cluster.call('PATCH', `${podCollectionPath}/a`, { metadata: { labels: { touched: 'yes' } } });
    await cluster.clock.advance(999);
    const before = await exists(cluster, 'a');
    await cluster.clock.advance(1);

    expect([before, await exists(cluster, 'a')]).toEqual([true, false]);
  });

  test.each<[string, boolean]>([
    ['frees its address when it was deleted while the kubelet could not watch', false],
    ['is set up again when it was replaced under its name while the kubelet could not watch', true],
  ])('a pod %s', async (_, comesAgain) => {
    const { cluster, agent, kubelet } = await rig(1);
    await createPod(cluster, 'a');
    const failure = { code: 503, reason: 'ServiceUnavailable', message: 'try later' };
    const heal = cluster.model.faults.inject({
      path: /watch/,
      times: Infinity,
      effect: { kind: 'refuse', failure },
    });
    cluster.model.faults.closeWatches(/pods/);
    await cluster.clock.advance(2_000);

    await cluster.call('DELETE', `${podCollectionPath}/a`, { gracePeriodSeconds: 0 });
    if (comesAgain) await createPod(cluster, 'a');
    const blind = agent.addressesInUse().size;
    cluster.model.faults.expireHistory();
    heal();
    await cluster.clock.advance(5_000);

    expect(blind).toBe(1);
    expect(agent.addressesInUse().size).toBe(comesAgain ? 1 : 0);
    expect(kubelet.waits.count).toBe(comesAgain ? 2 : 1);
    if (comesAgain) expect(await podStatus(cluster, 'a')).toMatchObject({ phase: 'Running' });
  });

  test('sends a lost report again', async () => {
    const { cluster } = await rig(1);
    cluster.model.faults.inject({ method: 'PATCH', effect: { kind: 'dropBefore' } });

    await createPod(cluster, 'a');
    const before = await podStatus(cluster, 'a');
    await cluster.clock.advance(15_000);

    expect(before).toMatchObject({ phase: 'Pending' });
    expect(await podStatus(cluster, 'a')).toMatchObject({ phase: 'Running', podIP: '10.0.1.1' });
  });

  test('starts and ends nothing more after it stops', async () => {
    const { cluster, kubelet } = await rig(1);
    await createPod(cluster, 'a');
    await cluster.call('DELETE', `${podCollectionPath}/a`);
    await cluster.clock.advance(1_000);

    await kubelet.stop();
    await createPod(cluster, 'b');
    await cluster.clock.advance(60_000);

    expect([await exists(cluster, 'a'), textAt(await podStatus(cluster, 'b'), 'phase')]).toEqual([
      true,
      'Pending',
    ]);
    expect(cluster.bugs).toEqual([]);
  });
});
