import { describe, expect, test } from '@jest/globals';
import { namedPods, ShownPods } from '../../../../src/kubernetes/watch/shown-pods.ts';
import type { JsonObject } from '../../../../src/runtime/json.ts';
import { applyMergePatch } from '../../../../src/kubernetes/transport/merge-patch.ts';
import { VirtualClock } from '../../../support/virtual-clock.ts';
import { query } from '../reflector-rig.ts';
import { ScriptedTransport, type Server, status } from '../scripted-transport.ts';

const never = new AbortController().signal;

const podList = { kind: 'PodList', apiVersion: 'v1', metadata: { resourceVersion: '7' } };

function pod(patch: JsonObject = {}): JsonObject {
  const plain = {
    metadata: { namespace: 'default', name: 'web' },
    spec: { nodeName: 'node-1' },
    status: { phase: 'Running', podIP: '10.0.0.1', podIPs: [{ ip: '10.0.0.1' }] },
  };
  return applyMergePatch(plain, patch) as JsonObject;
}

function rig(server: Server) {
  const clock = new VirtualClock();
  const transport = new ScriptedTransport(clock, server);
  return { clock, transport, pods: new ShownPods(transport, clock) };
}

function answering(...items: readonly JsonObject[]): Server {
  return () => ({ status: 200, body: { ...podList, items } });
}

describe('the pods of a node', () => {
  test('are listed by its name, by a consistent read: a cache may be old', async () => {
    const { pods, transport } = rig(answering());

    await pods.on('node-1', never);

    const [request] = transport.requests;
    expect(request?.path.split('?')[0]).toBe('/api/v1/pods');
    expect(request && query(request, 'fieldSelector')).toBe('spec.nodeName=node-1');
    expect(request && query(request, 'resourceVersion')).toBeNull();
  });

  test.each<[string, JsonObject, readonly string[]]>([
    ['that runs', {}, ['10.0.0.1']],
    ['that is pending and has its address', { status: { phase: 'Pending' } }, ['10.0.0.1']],
    [
      'with addresses of both families',
      { status: { podIPs: [{ ip: '10.0.0.1' }, { ip: 'fd00::1' }] } },
      ['10.0.0.1', 'fd00::1'],
    ],
    ['with an address only in the list', { status: { podIP: null } }, ['10.0.0.1']],
    ['with an address only outside the list', { status: { podIPs: null } }, ['10.0.0.1']],
    ['without one', { status: { podIP: '', podIPs: [] } }, []],
    [
      'that is being deleted and runs on',
      { metadata: { deletionTimestamp: '2026-01-01T00:00:00Z' } },
      ['10.0.0.1'],
    ],
    ['that has succeeded', { status: { phase: 'Succeeded' } }, []],
    ['that has failed', { status: { phase: 'Failed' } }, []],
    ['on the network of the host', { spec: { hostNetwork: true } }, []],
  ])('show what they have: one %s', async (_, patch, addresses) => {
    const { pods } = rig(answering(pod(patch)));

    const reading = await pods.on('node-1', never);

    expect(reading).toEqual({
      kind: 'read',
      shown: addresses.map((address) => ({ address, pod: 'default/web' })),
    });
  });

  test('are none where its list is null, as a server without any may write it', async () => {
    const { pods } = rig(() => ({ status: 200, body: { ...podList, items: null } }));

    expect(await pods.on('node-1', never)).toEqual({ kind: 'read', shown: [] });
  });

  test('that may not be read are asked for once a minute, for all nodes together', async () => {
    const { pods, transport, clock } = rig(() => status(403, 'pods is forbidden'));

    const first = await pods.on('node-1', never);
    const second = await pods.on('node-2', never);
    const asked = transport.requests.length;
    await clock.advance(60_000);
    await pods.on('node-2', never);

    expect(first).toEqual({
      kind: 'unreadable',
      problem: expect.stringContaining('list on pods'),
      isDenied: true,
    });
    expect(second).toEqual(first);
    expect([asked, transport.requests.length]).toEqual([1, 2]);
  });

  test.each<[string, Server]>([
    ['the API server fails', () => status(500, 'no')],
    ...[
      {},
      { kind: 'Status', apiVersion: 'v1', status: 'Success' },
      { ...podList },
      { ...podList, items: 'many' },
      { ...podList, items: ['web'] },
      { ...podList, items: [pod(), null] },
      { ...podList, kind: 'NodeList', items: [] },
      { ...podList, apiVersion: 'v2', items: [] },
      { items: [] },
      { ...podList, metadata: { continue: 'x' }, items: [] },
    ].map((body): [string, Server] => [`it answers ${JSON.stringify(body)}`, () => ({ status: 200, body })]),
  ])('are unreadable for now when %s', async (_, server) => {
    const { pods, transport } = rig(server);

    const readings = [await pods.on('node-1', never), await pods.on('node-1', never)];

    expect(readings).toEqual(
      [1, 2].map(() => expect.objectContaining({ kind: 'unreadable', isDenied: false })),
    );
    expect(transport.requests).toHaveLength(2);
  });
});

test.each<[string, Server, boolean, RegExp]>([
  ['a denial', () => status(403, 'no'), true, /Grant Headwater the verb list on pods.*release-pod-check/],
  ['refused credentials', () => status(401, 'no'), false, /Headwater asks again/],
  ['a broken server', () => status(500, 'no'), false, /Headwater asks again/],
  ['no list', () => ({ status: 200, body: {} }), false, /no list of (pods|objects)\. Headwater asks again/],
])('the problem of %s names its own remedy', async (_, server, isDenied, remedy) => {
  const readings = [
    await rig(server).pods.on('a', never),
    await rig(server).pods.everywhere(() => true, never),
  ];

  const problem = expect.stringMatching(remedy) as unknown;
  expect(readings).toEqual([1, 2].map(() => ({ kind: 'unreadable', problem, isDenied })));
  expect(JSON.stringify(readings).includes('Grant')).toBe(isDenied);
});

describe('the pods of all nodes', () => {
  test('are listed page by page, and only what is wanted is kept', async () => {
    const { pods, transport } = rig(({ path }) => {
      const isSecond = path.includes('continue=more');
      const name = isSecond ? 'second' : 'first';
      const podIP = isSecond ? '10.0.0.2' : '10.0.0.1';
      const items = [
        pod({ metadata: { name }, status: { podIP, podIPs: [{ ip: podIP }, { ip: 'fd00::1' }] } }),
      ];
      const metadata = { resourceVersion: '7', ...(!isSecond && { continue: 'more' }) };
      return { status: 200, body: { ...podList, metadata, items } };
    });

    const reading = await pods.everywhere(({ address }) => address.startsWith('10.'), never);

    expect(reading).toEqual({
      kind: 'read',
      shown: [
        { node: 'node-1', pod: 'default/first', address: '10.0.0.1' },
        { node: 'node-1', pod: 'default/second', address: '10.0.0.2' },
      ],
    });
    expect(transport.requests.map((request) => query(request, 'resourceVersion'))).toEqual([null, null]);
  });

  test.each<[string, Server, boolean]>([
    ['may not be listed', () => status(403, 'no'), true],
    ['cannot be listed', () => status(500, 'no'), false],
    [
      'are no list of pods',
      () => ({ status: 200, body: { ...podList, kind: 'NodeList', items: [] } }),
      false,
    ],
  ])('are unreadable when they %s', async (_, server, isDenied) => {
    const { pods } = rig(server);

    expect(await pods.everywhere(() => true, never)).toMatchObject({ kind: 'unreadable', isDenied });
  });
});

test('a text names the first pods', () => {
  const shown = [1, 2, 3, 4, 5, 6].map((number) => ({
    pod: `default/${number}`,
    address: `10.0.0.${number}`,
  }));

  expect(namedPods(shown.slice(0, 2))).toBe('pod default/1 has 10.0.0.1, pod default/2 has 10.0.0.2');
  expect(namedPods(shown)).toMatch(/^pod default\/1 .* pod default\/5 has 10\.0\.0\.5, others$/);
});
