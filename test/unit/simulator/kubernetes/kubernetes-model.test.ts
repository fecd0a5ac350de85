import { describe, expect, test } from '@jest/globals';
import { Random } from '../../../../src/runtime/random.ts';
import { VirtualClock } from '../../../support/virtual-clock.ts';
import { KubernetesModel } from '../../../../src/simulator/kubernetes/kubernetes-model.ts';
import { ciliumNode, ciliumNodes, inShort, rig } from './model-rig.ts';

describe('the view of a checker', () => {
  test('shows objects as they are now, frozen', async () => {
    const { model, send } = rig();
    await send('POST', ciliumNodes, ciliumNode('b'));
    await send('POST', ciliumNodes, ciliumNode('a'));

    const found = model.get('ciliumnodes.cilium.io', 'a');

    expect(found).toMatchObject({ kind: 'CiliumNode', metadata: { name: 'a', generation: 1 } });
    expect(Object.isFrozen(found?.metadata)).toBe(true);
    expect(model.get('ciliumnodes.v2.cilium.io', 'none')).toBeUndefined();
    expect(model.list('ciliumnodes.cilium.io').map(({ metadata }) => metadata.name)).toEqual(['a', 'b']);
  });

  test('shows one namespace or all of them', async () => {
    const { model, send } = rig();
    for (const namespace of ['default', 'kube-system']) {
      await send('POST', `/api/v1/namespaces/${namespace}/configmaps`, { metadata: { name: 'c' } });
    }

    expect(model.list('configmaps')).toHaveLength(2);
    expect(model.list('configmaps', 'default')).toHaveLength(1);
    expect(model.get('configmaps', 'c', 'kube-system')?.metadata.namespace).toBe('kube-system');
  });

  test('shows only resources that are served', () => {
    expect(() => rig().model.list('bogus')).toThrow('the model serves no resource "bogus"');
  });
});

describe('time and randomness of the model', () => {
  test('take times from the clock, and uids and names from the seed', async () => {
    const answer = async (seed: string): Promise<Readonly<Record<string, unknown>>> => {
      const { clock, send } = rig({ random: new Random(seed) });
      await clock.advance(5000);
      const { body } = await send(
        'POST',
        ciliumNodes,
        ciliumNode('', { name: undefined, generateName: 'x-' }),
      );
      return body.metadata ?? {};
    };

    const [first, same, other] = [await answer('one'), await answer('one'), await answer('two')];

    expect(first['creationTimestamp']).toBe('2026-01-01T00:00:05Z');
    expect(first).toEqual(same);
    expect(first['uid']).not.toBe(other['uid']);
    expect(first['name']).not.toBe(other['name']);
  });

  test('schedule nothing while nobody watches', async () => {
    const { clock, send } = rig();
    await send('POST', ciliumNodes, ciliumNode('a'));

    expect(await clock.runUntil(() => false, 1000)).toBe(false);
    expect(clock.monotonic()).toBe(0);
  });
});

describe('names that the server generates', () => {
  test('are generated again when they are taken', async () => {
    const { send, model } = rig();
    const names = new Set<unknown>();

    for (let count = 0; count < 200; count++) {
      const { body } = await send(
        'POST',
        ciliumNodes,
        ciliumNode('', { name: undefined, generateName: 'n-' }),
      );
      names.add(body.metadata?.['name']);
    }

    expect(names.size).toBe(200);
    expect(model.list('ciliumnodes.cilium.io')).toHaveLength(200);
  });
});

describe('watches in virtual time', () => {
  test('show changes as they are committed', async () => {
    const { clock, send, watch } = rig();
    const seen = await watch(ciliumNodes);

    await send('POST', ciliumNodes, ciliumNode('a'));
    await send('PATCH', `${ciliumNodes}/a`, { spec: { 'instance-id': 'i' } });
    await send('DELETE', `${ciliumNodes}/a`);
    await clock.advance(0);

    expect(inShort(seen.events)).toEqual(['ADDED a', 'MODIFIED a', 'DELETED a']);
  });

  test('end at their time-out, when the client stops them, or when the server closes them', async () => {
    const { clock, model, watch } = rig();
    const timed = await watch(`${ciliumNodes}?timeoutSeconds=10`);
    const given = await watch(ciliumNodes);
    const closed = await watch(ciliumNodes);

    given.stop();
    await clock.advance(10_000);
    const open = model.openWatches;
    model.faults.closeWatches();

    expect(open).toBe(1);
    expect(await Promise.all([timed.ended, given.ended, closed.ended])).toEqual(['ended', 'ended', 'ended']);
    expect(model.openWatches).toBe(0);
  });

  test('end within an hour without a time-out', async () => {
    const { clock, watch } = rig();
    const seen = await watch(ciliumNodes);

    await clock.advance(3_600_000);

    expect(await seen.ended).toBe('ended');
    expect(clock.monotonic()).toBe(3_600_000);
  });

  test('send bookmarks each minute and shortly before they end', async () => {
    const { clock, model, send, watch } = rig();
    const from = model.revision;
    const seen = await watch(
      `${ciliumNodes}?resourceVersion=${from}&allowWatchBookmarks=true&timeoutSeconds=150&fieldSelector=metadata.name%3Dx`,
    );
    const quiet = await watch(`${ciliumNodes}?resourceVersion=${from}&timeoutSeconds=150`);

    await clock.advance(59_000);
    await send('POST', ciliumNodes, ciliumNode('other'));
    await clock.advance(200_000);

    expect(inShort(seen.events)).toEqual(['BOOKMARK', 'BOOKMARK', 'BOOKMARK']);
    expect(seen.events.at(-1)?.object.metadata?.['resourceVersion']).toBe(String(model.revision));
    expect(inShort(quiet.events)).toEqual(['ADDED other']);
  });

  test('start after a future version when they name one', async () => {
    const { clock, model, send, watch } = rig();
    const seen = await watch(`${ciliumNodes}?resourceVersion=${model.revision + 2}`);

    for (const name of ['a', 'b', 'c']) await send('POST', ciliumNodes, ciliumNode(name));
    await clock.advance(0);

    expect(inShort(seen.events)).toEqual(['ADDED c']);
  });

  test('send no bookmark while nothing has changed', async () => {
    const { clock, model, watch } = rig();
    const seen = await watch(`${ciliumNodes}?resourceVersion=${model.revision}&allowWatchBookmarks=true`);

    await clock.advance(300_000);

    expect(seen.events).toEqual([]);
  });

  test('are cut off when nobody reads them', async () => {
    const { model, send } = rig({ watchBacklog: 3 });
    for (const name of ['a', 'b', 'c', 'd', 'e']) await send('POST', ciliumNodes, ciliumNode(name));
    const request = { method: 'GET', url: `${ciliumNodes}?watch=1`, headers: {} };
    await model.handle(request, new AbortController().signal);
    const open: number[] = [];

    for (const id of ['1', '2', '3', '4']) {
      await send('PATCH', `${ciliumNodes}/a`, { spec: { 'instance-id': id } });
      open.push(model.openWatches);
    }

    expect(open).toEqual([1, 1, 1, 0]);
  });

  test('each show their own object when a thousand watch single objects', async () => {
    const { clock, send, watch } = rig();
    const names = Array.from({ length: 1000 }, (_, index) => `node-${index}`);
    const watches = await Promise.all(
      names.map((name) => watch(`${ciliumNodes}?fieldSelector=metadata.name%3D${name}`)),
    );

    for (const name of names) await send('POST', ciliumNodes, ciliumNode(name));
    await clock.advance(0);

    expect(watches.map(({ events }) => inShort(events))).toEqual(names.map((name) => [`ADDED ${name}`]));
  });
});

describe('the history of the model', () => {
  test('is bounded: a watch that starts too far back ends as expired', async () => {
    const { send, watch } = rig({ historyLimit: 5 });
    const { body } = await send('POST', ciliumNodes, ciliumNode('a'));
    for (let count = 0; count < 20; count++) {
      await send('PATCH', `${ciliumNodes}/a`, { spec: { 'instance-id': String(count) } });
    }

    const seen = await watch(`${ciliumNodes}?resourceVersion=${String(body.metadata?.['resourceVersion'])}`);

    expect(await seen.ended).toBe('ended');
    expect(seen.events).toMatchObject([{ type: 'ERROR', object: { reason: 'Expired', code: 410 } }]);
  });

  test('expires on request', async () => {
    const { model, send, watch } = rig();
    const before = model.revision;
    await send('POST', ciliumNodes, ciliumNode('a'));

    model.faults.expireHistory();
    const old = await watch(`${ciliumNodes}?resourceVersion=${before}`);
    const recent = await watch(`${ciliumNodes}?resourceVersion=${model.revision}`);

    expect(await old.ended).toBe('ended');
    expect(old.events).toMatchObject([{ type: 'ERROR' }]);
    expect(recent.events).toEqual([]);
  });
});

describe('access to the model', () => {
  const tokens = { secret: 'agent' };
  const asAgent = { authorization: 'Bearer secret' };

  test('is open without tokens, and needs a valid token when there are tokens', async () => {
    const open = rig();
    const closed = rig({ tokens });

    expect((await open.send('GET', ciliumNodes)).status).toBe(200);
    expect((await closed.send('GET', ciliumNodes, undefined, asAgent)).status).toBe(200);
    expect((await closed.send('GET', ciliumNodes, undefined, { authorization: 'Bearer x' })).status).toBe(
      401,
    );
    expect((await closed.send('GET', ciliumNodes)).body).toMatchObject({
      code: 403,
      message: expect.stringContaining(
        'User "system:anonymous" cannot list resource "ciliumnodes"',
      ) as unknown,
    });
  });

  test('can change while the server runs', async () => {
    const asked: unknown[] = [];
    const { model, send } = rig({ tokens });
    await send('POST', ciliumNodes, ciliumNode('a'), asAgent);

    model.authorize = (request) => {
      asked.push(request);
      return request.verb === 'get';
    };

    expect((await send('GET', `${ciliumNodes}/a`, undefined, asAgent)).status).toBe(200);
    expect((await send('PATCH', `${ciliumNodes}/a/status`, {}, asAgent)).body.message).toBe(
      'ciliumnodes.cilium.io "a" is forbidden: User "agent" cannot patch resource "ciliumnodes/status" in API group "cilium.io" at the cluster scope',
    );
    expect(asked[1]).toEqual({
      user: 'agent',
      verb: 'patch',
      group: 'cilium.io',
      resource: 'ciliumnodes',
      subresource: 'status',
      namespace: '',
      name: 'a',
    });
    model.authorize = undefined;
    expect((await send('DELETE', `${ciliumNodes}/a`, undefined, asAgent)).status).toBe(200);
  });
});

describe('definitions of resources', () => {
  const gadgets = {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'gadgets.example.org' },
    spec: {
      group: 'example.org',
      scope: 'Namespaced',
      names: { kind: 'Gadget', plural: 'gadgets' },
      versions: [
        {
          name: 'v1',
          served: true,
          storage: true,
          schema: {
            openAPIV3Schema: {
              type: 'object',
              properties: { size: { 'x-kubernetes-int-or-string': true, default: 3 } },
            },
          },
        },
      ],
    },
  } as const;
  const gadgetsPath = '/apis/example.org/v1/namespaces/default/gadgets';
  const gadget = { apiVersion: 'example.org/v1', kind: 'Gadget', metadata: { name: 'g' } };

  test('are served from the moment they are created until they are deleted', async () => {
    const { send } = rig();
    const before = await send('POST', gadgetsPath, gadget);
    const crds = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';

    const made = await send('POST', crds, gadgets);
    const created = await send('POST', gadgetsPath, gadget);
    await send('DELETE', `${crds}/gadgets.example.org`);
    const after = await send('GET', gadgetsPath);

    expect([before.status, made.status, created.status, after.status]).toEqual([404, 201, 201, 404]);
    expect(made.body.status).toMatchObject({
      conditions: [{ type: 'NamesAccepted' }, { type: 'Established' }],
    });
    expect(created.body).toMatchObject({ size: 3, metadata: { namespace: 'default' } });
  });

  test('can exist from the start', async () => {
    const { send } = rig({ crds: [gadgets] });

    expect((await send('POST', gadgetsPath, { ...gadget, size: '50%' })).body).toMatchObject({ size: '50%' });
    expect((await send('GET', ciliumNodes)).status).toBe(404);
    expect((await send('GET', '/apis/example.org/v1/gadgets')).body.items).toHaveLength(1);
    expect((await send('GET', '/apis/example.org/v1/gadgets/g')).status).toBe(404);
  });

  test('must be valid', async () => {
    const { send } = rig();
    const crds = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';

    const reply = await send('POST', crds, { ...gadgets, metadata: { name: 'other.example.org' } });

    expect(reply.body.message).toContain('must be spec.names.plural+"."+spec.group');
  });

  test('show one object in each of several versions', async () => {
    const [version] = gadgets.spec.versions;
    const versions = [version, { ...version, name: 'v2', storage: false }];
    const { send } = rig({ crds: [{ ...gadgets, spec: { ...gadgets.spec, versions } }] });

    await send('POST', gadgetsPath.replace('v1', 'v2'), { ...gadget, apiVersion: 'example.org/v2' });

    expect((await send('GET', `${gadgetsPath}/g`)).body).toMatchObject({ apiVersion: 'example.org/v1' });
    expect((await send('GET', `${gadgetsPath.replace('v1', 'v2')}/g`)).body).toMatchObject({
      apiVersion: 'example.org/v2',
    });
  });
});

test('two models share no state', async () => {
  const { send } = rig();
  const other = new KubernetesModel({ clock: new VirtualClock(), random: new Random('x') });

  await send('POST', ciliumNodes, ciliumNode('a'));

  expect(other.revision).toBe(4);
  expect(() => other.list('ciliumnodes.cilium.io')).toThrow('serves no resource');
});
