import { describe, expect, test } from '@jest/globals';
import type { JsonObject } from '../../../../src/runtime/json.ts';
import { applyMergePatch } from '../../../../src/kubernetes/transport/merge-patch.ts';
import { PendingPods } from '../../../../src/kubernetes/watch/pending-pods.ts';
import { Random } from '../../../../src/runtime/random.ts';
import { VirtualClock } from '../../../support/virtual-clock.ts';
import { event, isWatch, listOf, query, serve } from '../reflector-rig.ts';
import { LineFeed, ScriptedTransport, type Server, status } from '../scripted-transport.ts';
import { rethrow } from '../../../support/rethrow.ts';

interface Rig {
  readonly clock: VirtualClock;
  readonly pods: PendingPods;
  readonly transport: ScriptedTransport;
  readonly changed: string[];
  readonly missingPermissions: string[];
}

function rig(server: Server): Rig {
  const clock = new VirtualClock();
  const transport = new ScriptedTransport(clock, server);
  const changed: string[] = [];
  const missingPermissions: string[] = [];
  const pods = new PendingPods(
    { transport, clock, random: new Random('pods'), onBug: rethrow },
    {
      onChange: (node) => changed.push(`${node}=${pods.pendingOn(node)}`),
      onDenied: (problem) => missingPermissions.push(problem),
    },
  );
  void pods.reflector.run(new AbortController().signal);
  return { clock, pods, transport, changed, missingPermissions };
}

function pod(name: string, version: number, patch: JsonObject = {}): JsonObject {
  const plain = {
    metadata: { namespace: 'default', name, resourceVersion: String(version) },
    spec: { nodeName: 'node-1', containers: [{ name: 'main' }] },
    status: { phase: 'Pending' },
  };
  return applyMergePatch(plain, patch) as JsonObject;
}

describe('PendingPods', () => {
  test('requests scheduled pods that are pending, in all namespaces', async () => {
    const { clock, transport } = rig(serve([listOf(10)], [new LineFeed()]));

    await clock.advance(0);

    for (const request of transport.requests) {
      expect(request.path.split('?')[0]).toBe('/api/v1/pods');
      expect(query(request, 'fieldSelector')).toBe('status.phase=Pending,spec.nodeName!=');
    }
    expect(transport.requests.map(isWatch)).toEqual([false, true]);
  });

  test.each<[string, JsonObject, number]>([
    ['that waits', {}, 1],
    ['on the host network', { spec: { hostNetwork: true } }, 0],
    ['that explicitly is not on the host network', { spec: { hostNetwork: false } }, 1],
    ['with an address', { status: { podIP: '10.0.0.1', podIPs: [{ ip: '10.0.0.1' }] } }, 0],
    ['with addresses only in the list', { status: { podIPs: [{ ip: 'fd00::1' }] } }, 0],
    ['with an empty address', { status: { podIP: '', podIPs: [] } }, 1],
    ['on its way out', { metadata: { deletionTimestamp: '2026-01-01T00:00:00Z' } }, 0],
    ['that is not scheduled', { spec: { nodeName: null } }, 0],
  ])('counts a pod %s or not', async (_what, patch, count) => {
    const { clock, pods } = rig(serve([listOf(10, pod('a', 1, patch))], [new LineFeed()]));

    await clock.advance(0);

    expect(pods.pendingOn('node-1')).toBe(count);
  });

  test('counts by node, and reports which node changed', async () => {
    const feed = new LineFeed();
    const { clock, pods, changed } = rig(serve([listOf(10, pod('a', 1), pod('b', 2))], [feed]));
    await clock.advance(0);

    feed.push(
      event('ADDED', pod('c', 11, { spec: { nodeName: 'node-2' } })),
      event('MODIFIED', pod('a', 12, { metadata: { labels: { any: 'thing' } } })),
      event('MODIFIED', pod('a', 13, { status: { podIP: '10.0.0.1' } })),
      event('DELETED', pod('b', 14)),
      event('DELETED', pod('a', 15, { status: { podIP: '10.0.0.1' } })),
    );
    await clock.advance(0);

    expect(changed).toEqual(['node-1=1', 'node-1=2', 'node-2=1', 'node-1=1', 'node-1=0']);
    expect([pods.pendingOn('node-1'), pods.pendingOn('node-2'), pods.pendingOn('node-3')]).toEqual([0, 1, 0]);
  });

  test('counts no pod that an agent names as the owner of an address, before its status shows one', async () => {
    const feed = new LineFeed();
    const { clock, pods, changed } = rig(
      serve([listOf(10, pod('a', 1), pod('b', 2), pod('c', 3, { spec: { nodeName: 'node-2' } }))], [feed]),
    );
    await clock.advance(0);
    const owners = (...names: string[]): string[] => names.map((name) => `default/${name}`);

    pods.agentServes('node-1', owners('a', 'c', 'other'));
    const served = [pods.pendingOn('node-1'), pods.pendingOn('node-2')];
    pods.agentServes('node-1', owners('a'));
    feed.push(event('MODIFIED', pod('a', 11, { status: { podIP: '10.0.0.1' } })));
    await clock.advance(0);
    const shown = pods.pendingOn('node-1');
    pods.agentServes('node-1', owners('b'));
    pods.agentServes('node-1', []);

    expect([served, shown, pods.pendingOn('node-1')]).toEqual([[1, 1], 1, 1]);
    expect(changed.slice(3)).toEqual(['node-1=1', 'node-1=0', 'node-1=1']);
  });

  test('reports a denial from the start once, and counts nothing until it is allowed', async () => {
    const no = status(403, 'pods is forbidden');
    const { clock, pods, changed, missingPermissions } = rig(
      serve([no, no, no, listOf(10, pod('a', 1), pod('b', 2))], [new LineFeed()]),
    );

    await clock.advance(60_000);
    const whileDenied = pods.pendingOn('node-1');
    await clock.advance(60_000);

    expect(missingPermissions).toEqual(['pods is forbidden']);
    expect([whileDenied, pods.pendingOn('node-1')]).toEqual([0, 2]);
    expect(changed).toEqual(['node-1=2']);
  });

  test('counts 0 during a denial, and again what is known afterwards', async () => {
    const first = new LineFeed();
    const { clock, pods, changed, missingPermissions } = rig(
      serve([listOf(10, pod('a', 1))], [first, status(403, 'no'), status(403, 'no'), new LineFeed()]),
    );
    await clock.advance(20_000);

    first.end();
    await clock.advance(40_000);
    const whileDenied = pods.pendingOn('node-1');
    await clock.advance(60_000);

    expect([whileDenied, pods.pendingOn('node-1')]).toEqual([0, 1]);
    expect(changed).toEqual(['node-1=1', 'node-1=0', 'node-1=1']);
    expect(missingPermissions).toEqual(['no']);
  });
});
