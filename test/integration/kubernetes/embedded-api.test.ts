import { describe, expect, test } from '@jest/globals';
import { awsSection } from '../../../src/providers/aws/cilium-node-section.ts';
import { readCiliumNode } from '../../../src/kubernetes/cilium-node/cilium-node-reader.ts';
import { CiliumNodeWriter, ciliumNodesPath } from '../../../src/kubernetes/cilium-node/cilium-node-writer.ts';
import { EventRecorder } from '../../../src/kubernetes/events/event-recorder.ts';
import { type JsonObject, textAt, valueAt } from '../../../src/runtime/json.ts';
import type { WriteTarget } from '../../../src/kubernetes/transport/write-outcome.ts';
import { PendingPods } from '../../../src/kubernetes/watch/pending-pods.ts';
import { Reflector } from '../../../src/kubernetes/watch/reflector.ts';
import { readServedSchema } from '../../../src/kubernetes/cilium-node/served-schema.ts';
import { sleep } from '../../../src/runtime/clock.ts';
import { Random } from '../../../src/runtime/random.ts';
import { VirtualClock } from '../../support/virtual-clock.ts';
import type { FaultRule } from '../../../src/simulator/kubernetes/faults/faults.ts';
import { ciliumNodes, EmbeddedApi } from './embedded-api.ts';
import { rethrow } from '../../support/rethrow.ts';

const never = new AbortController().signal;

function targetOf(raw: JsonObject): WriteTarget {
  return {
    name: textAt(raw, 'metadata', 'name') ?? '',
    uid: textAt(raw, 'metadata', 'uid') ?? '',
    resourceVersion: textAt(raw, 'metadata', 'resourceVersion') ?? '',
  };
}

describe('a writer against the embedded API', () => {
  test('changes spec and status where each lives, and each answer is the base of the next write', async () => {
    const api = new EmbeddedApi(new VirtualClock());
    const writer = new CiliumNodeWriter(api.transport);
    const created = await api.create('node-1', { 'instance-id': 'i-1' });

    const status = await writer.patchStatus(
      targetOf(created),
      { eni: { enis: { 'eni-1': { id: 'eni-1' } } } },
      never,
    );
    if (status.kind !== 'written') throw new Error(status.kind);
    const spec = await writer.patchSpec(
      targetOf(status.raw),
      { ipam: { pool: { '10.0.0.1': { resource: 'eni-1' } } }, 'instance-id': 'i-1' },
      never,
    );

    if (spec.kind !== 'written') throw new Error(spec.kind);
    expect(readCiliumNode(spec.raw, awsSection)).toMatchObject({
      kind: 'node',
      node: { instanceId: 'i-1', ipam: { pool: new Map([['10.0.0.1', { resource: 'eni-1', owner: '' }]]) } },
    });
    expect(api.model.get(ciliumNodes, 'node-1')).toEqual(spec.raw);
  });

  test.each<[string, (api: EmbeddedApi, raw: JsonObject) => Promise<unknown>, Partial<WriteTarget>, string]>([
    [
      'a state that is over',
      (api) => api.patch('node-1', { spec: { 'instance-id': 'i-2' } }),
      {},
      'conflict',
    ],
    [
      'another object of the name',
      (api) => api.delete('node-1').then(() => api.create('node-1')),
      {},
      'conflict',
    ],
    [
      'a uid of another object',
      () => Promise.resolve(),
      { uid: '00000000-0000-4000-8000-000000000000' },
      'conflict',
    ],
    ['an object that is gone', (api) => api.delete('node-1'), {}, 'gone'],
  ])('writes nothing with a patch bound to %s', async (_what, happen, wrong, kind) => {
    const api = new EmbeddedApi(new VirtualClock());
    const raw = await api.create('node-1');
    await happen(api, raw);
    const before = api.model.get(ciliumNodes, 'node-1');

    const outcome = await new CiliumNodeWriter(api.transport).patchSpec(
      { ...targetOf(raw), ...wrong },
      { ipam: { 'pre-allocate': 8 } },
      never,
    );

    expect(outcome.kind).toBe(kind);
    expect(api.model.get(ciliumNodes, 'node-1')).toEqual(before);
  });

  test('is refused in words what the schema or its rights do not allow', async () => {
    const api = new EmbeddedApi(new VirtualClock());
    const writer = new CiliumNodeWriter(api.transport);
    const target = targetOf(await api.create('node-1'));

    const invalid = await writer.patchSpec(target, { ipam: { 'pre-allocate': -1 } }, never);
    api.model.authorize = ({ verb }) => verb !== 'patch';
    const denied = await writer.patchStatus(target, {}, never);

    expect(invalid).toMatchObject({ kind: 'invalid', message: expect.stringContaining('pre-allocate') });
    expect(denied).toMatchObject({
      kind: 'denied',
      message: expect.stringMatching(
        /^allow Headwater to patch ciliumnodes\/status of cilium.io: .*cannot patch resource/,
      ),
    });
  });

  test('sees the served schema that the server keeps', async () => {
    const api = new EmbeddedApi(new VirtualClock());
    const target = targetOf(await api.create('node-1'));
    const schema = await readServedSchema(api.transport, never);
    const wanted = {
      eni: {
        enis: { 'eni-1': { id: 'eni-1', 'public-ip': '203.0.113.1', novelty: true, tags: { a: 'b' } } },
      },
    };

    const outcome = await new CiliumNodeWriter(api.transport).patchStatus(target, wanted, never);

    if (outcome.kind !== 'written') throw new Error(outcome.kind);
    expect(schema.source).toEqual({ kind: 'served' });
    expect(schema.prune(wanted, ['status'])).toEqual(valueAt(outcome.raw, 'status'));
  });
});

describe('a watch of the embedded API', () => {
  function reflectorOf(api: EmbeddedApi, clock: VirtualClock, seed: string): Reflector<JsonObject> {
    return new Reflector<JsonObject>(
      { transport: api.transport, clock, random: new Random(`${seed}/reflector`), onBug: rethrow },
      { path: ciliumNodesPath, transform: (raw) => raw },
      { onChange: () => undefined },
    );
  }

  const annoyances: readonly FaultRule[] = [
    { effect: { kind: 'delayEvents', ms: 3000 } },
    { effect: { kind: 'duplicateEvents' } },
    { effect: { kind: 'dropBefore' } },
    { effect: { kind: 'dropAfter' } },
    { effect: { kind: 'delay', ms: 2000 }, path: /limit=/ },
    { effect: { kind: 'refuse', failure: { code: 503, message: 'shutting down' } } },
  ];

  test.each(Array.from({ length: 15 }, (_, seed) => `seed-${seed}`))(
    'has the right copy in the end for %s, whatever breaks, and never an older state in between',
    async (seed) => {
      const clock = new VirtualClock();
      const api = new EmbeddedApi(clock, seed, { historyLimit: 20 });
      const random = new Random(`${seed}/trouble`);
      const reflector = reflectorOf(api, clock, seed);
      const newest = new Map<string, number>();
      const stopping = new AbortController();
      let extras = 0;
      const backwards: string[] = [];
      const running = reflector.run(stopping.signal);
      const writer = new CiliumNodeWriter(api.transport);

      const step = async (): Promise<void> => {
        const name = `node-${random.integer(30)}`;
        const isThere = api.model.get(ciliumNodes, name) !== undefined;
        const known = reflector.objects.get(name);
        const roll = random.integer(12);
        if (!isThere) await api.create(name);
        else if (roll < 5) await api.patch(name, { spec: { ipam: { 'pre-allocate': random.integer(100) } } });
        else if (roll < 6) await api.delete(name);
        else if (roll < 8 && known !== undefined) {
          const outcome = await writer.patchStatus(
            targetOf(known),
            { ipam: { 'operator-status': { error: `${random.integer(100)}` } } },
            never,
          );
          if (outcome.kind === 'written') reflector.observe(outcome.raw);
        } else await trouble(roll);
      };
      const trouble = async (roll: number): Promise<void> => {
        const { faults } = api.model;
        const path = /watch=true/;
        if (roll === 8) faults.cutWatches();
        else if (roll === 9) faults.closeWatches();
        else if (roll === 10) {
          faults.cutWatches();
          await api.create(`extra-${extras++}`);
          faults.expireHistory();
        } else if (faults.rules().length === 0) faults.inject({ path, ...random.pick(annoyances) });
      };
      const look = (): void => {
        for (const [name, object] of reflector.objects) {
          const version = Number(textAt(object, 'metadata', 'resourceVersion'));
          if (version < (newest.get(name) ?? 0)) backwards.push(`${name} ${version} < ${newest.get(name)}`);
          newest.set(name, version);
        }
      };

      for (let round = 0; round < 400; round++) {
        await step();
        await clock.advance(random.integer(2000));
        look();
      }
      api.model.faults.clear();
      await clock.advance(120_000);
      stopping.abort(new Error('stop'));
      await running;

      const truth = api.model.list(ciliumNodes).map((object) => [object.metadata.name, object] as const);
      expect(backwards).toEqual([]);
      expect([...reflector.objects].toSorted(([a], [b]) => (a < b ? -1 : 1))).toEqual(
        truth.toSorted(([a = ''], [b = '']) => (a < b ? -1 : 1)),
      );
      expect(reflector.figures().watchRestarts).toBeGreaterThan(5);
      expect(reflector.figures().relists).toBeGreaterThan(0);
    },
  );

  test('receives a large list in pages, and does not treat bookmarks as events', async () => {
    const clock = new VirtualClock();
    const api = new EmbeddedApi(clock);
    for (let index = 0; index < 1200; index++) await api.create(`node-${index}`);
    const reflector = reflectorOf(api, clock, 'large');
    const stopping = new AbortController();
    const running = reflector.run(stopping.signal);

    await clock.advance(1_800_000);
    const figures = reflector.figures();
    stopping.abort(new Error('stop'));
    await running;

    expect(figures).toMatchObject({ objects: 1200, relists: 0, watchRestarts: 0, events: 0 });
    expect(api.model.requests).toBeGreaterThan(50);
    expect(api.model.openWatches).toBe(0);
  });

  test('reports a missing permission or definition, and recovers once it is there', async () => {
    const clock = new VirtualClock();
    const api = new EmbeddedApi(clock);
    await api.create('node-1');
    api.model.authorize = ({ resource }) => resource !== 'ciliumnodes';
    const reflector = reflectorOf(api, clock, 'denied');
    const stopping = new AbortController();
    const running = reflector.run(stopping.signal);

    await clock.advance(5000);
    const denied = reflector.figures().state;
    api.model.authorize = undefined;
    await clock.advance(40_000);
    const mended = reflector.figures();
    stopping.abort(new Error('stop'));
    await running;

    expect(denied).toMatchObject({ kind: 'denied', problem: expect.stringContaining('ciliumnodes') });
    expect(mended).toMatchObject({ objects: 1, state: { kind: 'watching' } });
  });
});

describe('Events and pods of the embedded API', () => {
  test('include an Event about a CiliumNode, which is accepted, updated, and found by its object', async () => {
    const clock = new VirtualClock();
    const api = new EmbeddedApi(clock);
    const { uid } = targetOf(await api.create('node-1'));
    const problems: unknown[] = [];
    const recorder = new EventRecorder({
      transport: api.transport,
      clock,
      random: new Random('events'),
      author: { component: 'headwater', instance: 'headwater-0' },
      onProblem: (problem) => problems.push(problem),
      onBug: rethrow,
    });
    const stopping = new AbortController();
    const running = recorder.run(stopping.signal);
    const record = (): void =>
      recorder.record(
        { kind: 'CiliumNode', name: 'node-1', uid },
        { type: 'Warning', reason: 'SubnetExhausted', message: 'subnet-1 has no free address' },
      );

    record();
    await clock.advance(1000);
    record();
    await clock.advance(600_000);
    stopping.abort(new Error('stop'));
    await running;

    expect(problems).toEqual([]);
    expect(api.model.list('events', 'default')).toMatchObject([
      {
        involvedObject: { kind: 'CiliumNode', name: 'node-1', uid },
        reason: 'SubnetExhausted',
        count: 2,
        firstTimestamp: '2026-01-01T00:00:00Z',
        lastTimestamp: '2026-01-01T00:00:01Z',
      },
    ]);
  });

  test('include pending pods, which are counted by a selector that the server understands', async () => {
    const clock = new VirtualClock();
    const api = new EmbeddedApi(clock);
    const pods = new PendingPods(
      { transport: api.transport, clock, random: new Random('pods'), onBug: rethrow },
      { onChange: () => undefined },
    );
    const stopping = new AbortController();
    const running = pods.reflector.run(stopping.signal);
    const create = (name: string, spec: JsonObject): Promise<JsonObject> =>
      api.kubectl('POST', '/api/v1/namespaces/default/pods', {
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: { name },
        spec: { containers: [{ name: 'main', image: 'x' }], ...spec },
      });
    const counts: number[] = [];
    const look = async (): Promise<void> => {
      await clock.advance(100);
      counts.push(pods.pendingOn('node-1'));
    };

    await create('a', { nodeName: 'node-1' });
    await create('b', { nodeName: 'node-1' });
    await create('host', { nodeName: 'node-1', hostNetwork: true });
    await create('unscheduled', {});
    await look();
    await api.kubectl('PATCH', '/api/v1/namespaces/default/pods/a/status', {
      status: { phase: 'Running', podIP: '10.0.0.1' },
    });
    await look();
    await api.kubectl('DELETE', '/api/v1/namespaces/default/pods/b?gracePeriodSeconds=0');
    await look();
    stopping.abort(new Error('stop'));
    await running;

    expect(counts).toEqual([2, 1, 0]);
  });
});

test('a request to a silent API server ends after its time-out', async () => {
  const clock = new VirtualClock();
  const api = new EmbeddedApi(clock);
  api.model.faults.inject({ effect: { kind: 'delay', ms: 3_600_000 }, times: Infinity });
  const writer = new CiliumNodeWriter(api.transport);

  const outcome = writer.get('node-1', never);
  const waiting = sleep(clock, 30_000, never);
  await clock.advance(30_000);
  await waiting;

  expect(await outcome).toEqual({
    kind: 'unavailable',
    message: 'no answer to GET /apis/cilium.io/v2/ciliumnodes/node-1 within 30000 ms',
  });
});
