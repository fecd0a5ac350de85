import { describe, expect, test } from '@jest/globals';
import type { ApiRefusal } from '../../../../src/kubernetes/transport/api-reply.ts';
import type { EventReport, EventSubject } from '../../../../src/kubernetes/events/event-object.ts';
import { EventRecorder } from '../../../../src/kubernetes/events/event-recorder.ts';
import { type JsonObject, textAt } from '../../../../src/runtime/json.ts';
import type { TransportRequest } from '../../../../src/kubernetes/transport/transport.ts';
import { Random } from '../../../../src/runtime/random.ts';
import { VirtualClock } from '../../../support/virtual-clock.ts';
import { type Script, ScriptedTransport, status, unreachable } from '../scripted-transport.ts';

interface Rig {
  readonly clock: VirtualClock;
  readonly recorder: EventRecorder;
  readonly transport: ScriptedTransport;
  readonly problems: ApiRefusal[];
  readonly stop: () => Promise<void>;
}

function rig(
  server: (request: TransportRequest) => Script = () => ({ status: 201 }),
  mayWrite?: () => boolean,
): Rig {
  const clock = new VirtualClock();
  const transport = new ScriptedTransport(clock, server);
  const problems: ApiRefusal[] = [];
  const recorder = new EventRecorder({
    transport,
    clock,
    random: new Random('events'),
    author: { component: 'headwater', instance: 'headwater-0' },
    ...(mayWrite !== undefined && { mayWrite }),
    onProblem: (problem) => problems.push(problem),
    onBug: (error) => {
      throw error;
    },
  });
  const stopping = new AbortController();
  const running = recorder.run(stopping.signal);
  const stop = (): Promise<void> => {
    stopping.abort(new Error('stop'));
    return running;
  };
  return { clock, recorder, transport, problems, stop };
}

const node: EventSubject = { kind: 'CiliumNode', name: 'node-1', uid: 'uid-1' };
const deficit: EventReport = {
  type: 'Warning',
  reason: 'SubnetExhausted',
  message: 'subnet-1 has no free address',
};

function bodies(requests: readonly TransportRequest[]): JsonObject[] {
  return requests.map(({ body }) => JSON.parse(body ?? '{}') as JsonObject);
}

describe('EventRecorder', () => {
  test('writes an Event about a CiliumNode into the default namespace', async () => {
    const { clock, recorder, transport } = rig();

    recorder.record(node, deficit);
    await clock.advance(0);

    expect(transport.requests[0]).toMatchObject({
      method: 'POST',
      path: '/api/v1/namespaces/default/events',
    });
    expect(bodies(transport.requests)).toEqual([
      {
        apiVersion: 'v1',
        kind: 'Event',
        metadata: { name: expect.stringMatching(/^node-1\.[0-9a-f]{16}$/), namespace: 'default' },
        involvedObject: { apiVersion: 'cilium.io/v2', kind: 'CiliumNode', name: 'node-1', uid: 'uid-1' },
        type: 'Warning',
        reason: 'SubnetExhausted',
        message: 'subnet-1 has no free address',
        count: 1,
        firstTimestamp: '2026-01-01T00:00:00Z',
        lastTimestamp: '2026-01-01T00:00:00Z',
        source: { component: 'headwater' },
        reportingComponent: 'headwater',
        reportingInstance: 'headwater-0',
      },
    ]);
  });

  test.each<[EventSubject, object]>([
    [
      { kind: 'Node', name: 'n', uid: 'u' },
      { apiVersion: 'v1', kind: 'Node', name: 'n', uid: 'u' },
    ],
    [
      { kind: 'Node', name: 'n' },
      { apiVersion: 'v1', kind: 'Node', name: 'n', uid: 'n' },
    ],
    [
      { kind: 'CiliumNode', name: 'n' },
      { apiVersion: 'cilium.io/v2', kind: 'CiliumNode', name: 'n' },
    ],
  ])('writes an Event about %j', async (subject, involvedObject) => {
    const { clock, recorder, transport } = rig();

    recorder.record(subject, deficit);
    await clock.advance(0);

    expect(bodies(transport.requests)[0]?.['involvedObject']).toEqual(involvedObject);
  });

  test('writes an Event about a namespaced object in its namespace, and updates it there', async () => {
    const { clock, recorder, transport } = rig();
    const lease = { kind: 'Lease', name: 'headwater', namespace: 'kube-system', uid: 'u' } as const;

    recorder.record(lease, deficit);
    await clock.advance(0);
    recorder.record(lease, deficit);
    await clock.advance(600_000);

    const [created, updated] = transport.requests;
    expect(created?.path).toBe('/api/v1/namespaces/kube-system/events');
    expect(updated?.path).toMatch(/^\/api\/v1\/namespaces\/kube-system\/events\/headwater\.[\da-f]{16}$/);
    expect(bodies(transport.requests)[0]).toMatchObject({
      metadata: { namespace: 'kube-system' },
      involvedObject: { apiVersion: 'coordination.k8s.io/v1', ...lease },
    });
  });

  test('folds repeats into one update each ten minutes, and writes none when nothing repeats', async () => {
    const { clock, recorder, transport } = rig();

    for (let minute = 0; minute < 25; minute++) {
      recorder.record(node, deficit);
      await clock.advance(60_000);
    }
    await clock.advance(3_600_000 * 3);

    expect(transport.requests.map(({ method }) => method)).toEqual(['POST', 'PATCH', 'PATCH', 'PATCH']);
    expect(bodies(transport.requests).slice(1)).toEqual([
      { count: 10, lastTimestamp: '2026-01-01T00:09:00Z' },
      { count: 20, lastTimestamp: '2026-01-01T00:19:00Z' },
      { count: 25, lastTimestamp: '2026-01-01T00:24:00Z' },
    ]);
    expect(recorder.figures()).toEqual({ created: 1, updated: 3, dropped: 0, queued: 0 });
  });

  test.each<[string, EventSubject, EventReport]>([
    ['object', { ...node, name: 'node-2' }, deficit],
    ['object of the same name', { ...node, uid: 'uid-2' }, deficit],
    ['reason', node, { ...deficit, reason: 'Throttled' }],
    ['text', node, { ...deficit, message: 'subnet-2 has no free address' }],
    ['type', node, { ...deficit, type: 'Normal' }],
  ])('writes another Event for another %s', async (_what, subject, report) => {
    const { clock, recorder, transport } = rig();

    recorder.record(node, deficit);
    recorder.record(subject, report);
    await clock.advance(0);

    expect(transport.requests.map(({ method }) => method)).toEqual(['POST', 'POST']);
  });

  test('creates an Event again when the server has forgotten it', async () => {
    const { clock, recorder, transport } = rig(({ method }) =>
      method === 'PATCH' ? status(404, 'not found') : { status: 201 },
    );

    recorder.record(node, deficit);
    await clock.advance(600_000);
    recorder.record(node, deficit);
    await clock.advance(0);
    await clock.advance(7_200_000);
    recorder.record(node, deficit);
    await clock.advance(0);

    expect(transport.requests.map(({ method }) => method)).toEqual(['POST', 'PATCH', 'POST', 'POST']);
    expect(bodies(transport.requests)[3]).toMatchObject({ count: 3, firstTimestamp: '2026-01-01T00:00:00Z' });
  });

  test('limits the Events of one object without silencing the others', async () => {
    const { clock, recorder, transport } = rig();

    for (let subnet = 0; subnet < 100; subnet++)
      recorder.record(node, { ...deficit, message: `subnet-${subnet}` });
    recorder.record({ ...node, name: 'node-2' }, deficit);
    await clock.advance(0);
    const atOnce = transport.requests.length;
    await clock.advance(600_000);
    for (let subnet = 100; subnet < 110; subnet++)
      recorder.record(node, { ...deficit, message: `subnet-${subnet}` });
    await clock.advance(0);

    expect([atOnce, transport.requests.length]).toEqual([26, 28]);
    expect(recorder.figures().dropped).toBe(75 + 8);
  });

  test('waits for a server that is away, tries again, drops Events after a while, and has a bounded queue', async () => {
    let isAway = true;
    const { clock, recorder, transport } = rig(() => (isAway ? unreachable() : { status: 201 }));

    for (let count = 0; count < 1500; count++) recorder.record({ ...node, name: `node-${count}` }, deficit);
    await clock.advance(10_000);
    const early = transport.requests.length;
    await clock.advance(300_000);
    const droppedInBetween = recorder.figures().dropped;
    isAway = false;
    await clock.advance(60_000);

    expect(early).toBeLessThan(6);
    expect(droppedInBetween).toBeGreaterThan(500);
    expect(recorder.figures().created).toBeGreaterThan(900);
    expect(recorder.figures().queued).toBe(0);
  });

  test('writes as soon as a busy server allows, however often it was refused', async () => {
    const { clock, recorder, transport } = rig(() => ({ status: 429, retryAfterMs: 1000 }));

    recorder.record(node, deficit);
    await clock.advance(5000);

    // Our own backoff would make fewer, each longer after the last.
    expect(transport.requests.length).toBeGreaterThanOrEqual(5);
  });

  test('writes no second Event after a lost answer', async () => {
    const names: unknown[] = [];
    const { clock, recorder } = rig(({ body }) => {
      const { metadata } = JSON.parse(body ?? '{}') as { metadata: { name: string } };
      names.push(metadata.name);
      return names.length === 1 ? unreachable() : status(409, 'already exists');
    });

    recorder.record(node, deficit);
    await clock.advance(60_000);

    expect(names).toHaveLength(2);
    expect(names[0]).toBe(names[1]);
    expect(recorder.figures()).toMatchObject({ created: 1, dropped: 0 });
  });

  test('reports a denied write once, tries nothing for ten minutes, and then tries again', async () => {
    let isDenied = true;
    const { clock, recorder, transport, problems } = rig(() =>
      isDenied ? status(403, 'no') : { status: 201 },
    );

    for (let minute = 0; minute < 30; minute++) {
      recorder.record(node, { ...deficit, message: `at ${minute}` });
      await clock.advance(60_000);
    }
    const whileDenied = transport.requests.length;
    isDenied = false;
    await clock.advance(600_000);
    recorder.record(node, deficit);
    await clock.advance(0);
    isDenied = true;
    recorder.record(node, { ...deficit, message: 'again' });
    await clock.advance(0);

    expect(whileDenied).toBe(3);
    expect(problems).toEqual([
      { kind: 'denied', status: 403, message: 'no' },
      { kind: 'denied', status: 403, message: 'no' },
    ]);
    expect(recorder.figures().created).toBe(1);
  });

  test('drops what waits behind a denied write', async () => {
    const { clock, recorder, transport } = rig(() => status(403, 'no'));

    for (let count = 0; count < 5; count++) recorder.record({ ...node, name: `node-${count}` }, deficit);
    await clock.advance(60_000);

    expect(transport.requests).toHaveLength(1);
    expect(recorder.figures()).toEqual({ created: 0, updated: 0, dropped: 5, queued: 0 });
  });

  test('drops and reports an Event that the server does not accept, and writes the next one', async () => {
    let count = 0;
    const { clock, recorder, problems } = rig(() =>
      count++ === 0 ? status(422, 'bad reason') : { status: 201 },
    );

    recorder.record(node, deficit);
    recorder.record(node, { ...deficit, message: 'another' });
    await clock.advance(0);

    expect(problems).toMatchObject([{ kind: 'invalid', message: 'bad reason' }]);
    expect(recorder.figures()).toMatchObject({ created: 1, dropped: 1 });
  });

  test('drops what is due while Events are off, and writes later ones', async () => {
    let mayWrite = true;
    const { clock, recorder, transport } = rig(undefined, () => mayWrite);
    recorder.record(node, deficit);
    await clock.advance(0);
    recorder.record(node, deficit);

    mayWrite = false;
    recorder.record({ ...node, name: 'node-2' }, deficit);
    await clock.advance(1_200_000);
    const whileNot = transport.requests.length;
    const { dropped } = recorder.figures();
    mayWrite = true;
    recorder.record(node, deficit);
    await clock.advance(0);

    expect(whileNot).toBe(1);
    expect(dropped).toBe(2);
    expect(transport.requests).toHaveLength(2);
  });

  test('shortens very long names and texts', async () => {
    const { clock, recorder, transport } = rig();

    recorder.record({ kind: 'Node', name: 'n'.repeat(253) }, { ...deficit, message: 'm'.repeat(5000) });
    await clock.advance(0);

    const [body] = bodies(transport.requests);
    expect(textAt(body, 'metadata', 'name')).toHaveLength(253);
    expect(textAt(body, 'message')).toHaveLength(1024);
  });

  test('keeps what happens again while an Event is being written', async () => {
    let isFirst = true;
    const { clock, recorder, transport } = rig(() => {
      if (isFirst) recorder.record(node, deficit);
      isFirst = false;
      return { status: 201 };
    });

    recorder.record(node, deficit);
    recorder.record(node, deficit);
    await clock.advance(599_999);
    const before = transport.requests.length;
    await clock.advance(1);

    expect(before).toBe(1);
    expect(bodies(transport.requests)).toMatchObject([{ count: 2 }, { count: 3 }]);
  });

  test('stops at once and leaves no timer behind', async () => {
    const { clock, recorder, transport, stop } = rig(() => unreachable());
    recorder.record(node, deficit);
    await clock.advance(100);
    const before = transport.requests.length;

    await stop();
    recorder.record(node, deficit);
    await clock.advance(3_600_000);

    expect(transport.requests).toHaveLength(before);
  });
});
