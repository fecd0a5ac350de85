import { describe, expect, test } from '@jest/globals';
import { Random } from '../../../../src/runtime/random.ts';
import { isObject, listAt, textAt } from '../../../../src/simulator/workload/json.ts';
import { KubernetesClient } from '../../../../src/simulator/workload/kubernetes-client.ts';
import { podCollectionPath } from '../../../../src/simulator/workload/pod.ts';
import { PodRegistry } from '../../../../src/simulator/workload/pod-registry.ts';
import { Cluster } from './cluster.ts';

const never = new AbortController().signal;

function rig(podsPerNode = 10): { readonly cluster: Cluster; readonly registry: PodRegistry } {
  const cluster = new Cluster();
  const registry = new PodRegistry({
    client: new KubernetesClient(cluster.handler, 'test'),
    clock: cluster.clock,
    random: new Random('pods'),
    podsPerNode,
    grace: 0,
  });
  registry.addNode('node-1');
  registry.addNode('node-2');
  return { cluster, registry };
}

/** `pod@node` of all pods in the API that are not being deleted. */
async function pods(cluster: Cluster): Promise<readonly string[]> {
  const list = await cluster.call('GET', podCollectionPath);
  return listAt(list, 'items')
    .filter(isObject)
    .map((pod) => `${textAt(pod, 'metadata', 'name')}@${textAt(pod, 'spec', 'nodeName')}`);
}

describe('PodRegistry', () => {
  test('binds pods to the wished node, or to the one with the fewest pods', async () => {
    const { cluster, registry } = rig();

    await registry.create({ name: 'a', nodeName: 'node-2' }, never);
    await registry.create({ name: 'b' }, never);
    await registry.create({ name: 'c', placement: 'pack', nodeName: 'node-1' }, never);
    await registry.create({ name: 'd', placement: 'pack' }, never);

    expect(await pods(cluster)).toEqual(['a@node-2', 'b@node-1', 'c@node-1', 'd@node-1']);
  });

  test('has room after a pod is deleted, and none when the fleet is full', async () => {
    const { cluster, registry } = rig(1);
    await registry.create({ name: 'a', nodeName: 'node-1' }, never);
    await registry.create({ name: 'b', nodeName: 'node-2' }, never);

    const full = await registry.create({ name: 'c' }, never);
    await registry.delete('default/a', never);
    const room = await registry.create({ name: 'd' }, never);

    expect([full.kind, room.kind]).toEqual(['unplaced', 'created']);
    expect(await pods(cluster)).toEqual(['b@node-2', 'd@node-1']);
  });

  test('names the pods of a node that goes and no longer counts them', async () => {
    const { registry } = rig(2);
    await registry.create({ name: 'a', nodeName: 'node-1' }, never);
    await registry.create({ name: 'b', nodeName: 'node-2' }, never);

    const lost = registry.removeNode('node-1');

    expect(lost).toEqual(['default/a']);
    expect(await registry.create({ name: 'c' }, never)).toMatchObject({ nodeName: 'node-2' });
    expect(await registry.create({ name: 'd' }, never)).toEqual({ kind: 'unplaced' });
  });

  test('deletes in the end a pod that is deleted while it is being created', async () => {
    const { cluster, registry } = rig();
    cluster.model.faults.inject({ method: 'POST', effect: { kind: 'delay', ms: 5_000 } });

    const both = Promise.all([registry.create({ name: 'a' }, never), registry.delete('default/a', never)]);
    await cluster.clock.advance(10_000);
    await both;

    expect(await pods(cluster)).toEqual([]);
  });

  test.each(['dropBefore', 'dropAfter'] as const)('repeats a lost request (%s)', async (kind) => {
    const { cluster, registry } = rig();
    cluster.model.faults.inject({ times: 2, effect: { kind } });

    const creating = registry.create({ name: 'a', nodeName: 'node-1' }, never);
    await cluster.clock.advance(5_000);
    await creating;

    expect(await pods(cluster)).toEqual(['a@node-1']);
  });
});
