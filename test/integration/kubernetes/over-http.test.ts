import { afterEach, describe, expect, test } from '@jest/globals';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ciliumNodesPath, CiliumNodeWriter } from '../../../src/kubernetes/cilium-node/cilium-node-writer.ts';
import { type JsonObject, textAt } from '../../../src/runtime/json.ts';
import { loadClusterAccess } from '../../../src/kubernetes/auth/load-cluster-access.ts';
import { Reflector } from '../../../src/kubernetes/watch/reflector.ts';
import type { KubernetesTransport } from '../../../src/kubernetes/transport/transport.ts';
import { UndiciTransport } from '../../../src/kubernetes/transport/undici-transport.ts';
import { type Clock, sleep } from '../../../src/runtime/clock.ts';
import { Random } from '../../../src/runtime/random.ts';
import { scaledClock } from '../../../src/simulator/workload/scaled-clock.ts';
import { systemClock } from '../../../src/runtime/system-clock.ts';
import { kubeConfigFor, startKubernetesServer } from '../../../src/simulator/kubernetes/kubernetes-server.ts';
import { EmbeddedApi } from './embedded-api.ts';
import { json, loopbackServer } from '../../support/loopback-server.ts';
import { rethrow } from '../../support/rethrow.ts';

const never = new AbortController().signal;
const ended: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (const end of ended.splice(0).toReversed()) await end();
});

/** Waits until a state is reached. */
async function until(isSo: () => boolean): Promise<void> {
  const deadline = systemClock.monotonic() + 10_000;
  while (!isSo()) {
    if (systemClock.monotonic() > deadline) throw new Error('it did not happen');
    await sleep(systemClock, 5, never);
  }
}

function copyOf(
  transport: KubernetesTransport,
  path: string,
  clock: Clock,
): { copy: Reflector<JsonObject>; reported: string[] } {
  const reported: string[] = [];
  const copy = new Reflector<JsonObject>(
    { transport, clock, random: new Random('http'), onBug: rethrow },
    { path, transform: (raw) => raw },
    { onChange: ({ type, key }) => reported.push(`${type} ${key}`) },
  );
  const stopping = new AbortController();
  const running = copy.run(stopping.signal);
  ended.push(() => {
    stopping.abort(new Error('stop'));
    return running;
  });
  return { copy, reported };
}

/** The same API server on a socket, reached through a kubeconfig. */
async function overHttp(): Promise<{ api: EmbeddedApi; transport: UndiciTransport; clock: Clock }> {
  // Waits of the code under test run twenty times faster than real time.
  const clock = scaledClock(systemClock, 20);
  const api = new EmbeddedApi(systemClock, 'http', { tokens: { secret: 'headwater', admin: 'admin' } });
  const server = await startKubernetesServer({ model: api.model, clock: systemClock, port: 0 });
  ended.push(() => server.close());
  const directory = await mkdtemp(join(tmpdir(), 'headwater-'));
  ended.push(() => rm(directory, { recursive: true }));
  const kubeconfig = join(directory, 'config');
  await writeFile(kubeconfig, kubeConfigFor({ url: server.url, token: 'secret' }));
  const access = await loadClusterAccess({ kubeconfig, environment: {}, clock });
  const transport = new UndiciTransport({ access, clock: systemClock });
  ended.push(() => transport.close());
  return { api, transport, clock };
}

describe('the Kubernetes client over real connections', () => {
  test('lists, watches, writes, and recognizes its own writes', async () => {
    const { api, transport, clock } = await overHttp();
    await api.create('node-1', { 'instance-id': 'i-1' });
    const { copy, reported } = copyOf(transport, ciliumNodesPath, clock);
    await copy.synced;
    const raw = copy.objects.get('node-1') ?? {};

    const outcome = await new CiliumNodeWriter(transport).patchSpec(
      {
        name: 'node-1',
        uid: textAt(raw, 'metadata', 'uid') ?? '',
        resourceVersion: textAt(raw, 'metadata', 'resourceVersion') ?? '',
      },
      { ipam: { 'pre-allocate': 8 } },
      never,
    );
    if (outcome.kind === 'written') copy.observe(outcome.raw);
    await api.create('node-2');
    await until(() => copy.objects.size === 2);

    expect(outcome.kind).toBe('written');
    expect(reported).toEqual(['added node-1', 'modified node-1', 'added node-2']);
  });

  test('loses nothing when a watch is cut in the middle of a line', async () => {
    const { api, transport, clock } = await overHttp();
    const { copy } = copyOf(transport, ciliumNodesPath, clock);
    await copy.synced;
    await until(() => api.model.openWatches === 1);

    for (let round = 0; round < 5; round++) {
      await api.create(`before-${round}`);
      api.model.faults.cutWatches();
      await api.create(`after-${round}`);
      await until(() => copy.objects.size === 2 * (round + 1) && api.model.openWatches === 1);
    }

    expect(copy.figures()).toMatchObject({ relists: 0, watchRestarts: 5 });
  });

  test('lists again when the server has forgotten the version, and finds what was deleted', async () => {
    const { api, transport, clock } = await overHttp();
    await api.create('node-1');
    await api.create('node-2');
    const { copy, reported } = copyOf(transport, ciliumNodesPath, clock);
    await copy.synced;
    await until(() => api.model.openWatches === 1);

    api.model.faults.cutWatches();
    await api.delete('node-1');
    await api.create('node-3');
    api.model.faults.expireHistory();
    await until(() => copy.objects.has('node-3'));

    expect(reported.slice(2)).toEqual(['deleted node-1', 'added node-3']);
    expect(copy.figures().relists).toBe(1);
  });

  test('lists again after 410 within a stream', async () => {
    let lists = 0;
    const server = await loopbackServer((request, response) => {
      if (request.url?.includes('watch=true') !== true) {
        lists++;
        json(response, 200, { metadata: { resourceVersion: String(lists * 10) }, items: [] });
        return;
      }
      response.writeHead(200).flushHeaders();
      if (lists > 1) return;
      const gone = { kind: 'Status', code: 410, reason: 'Expired', message: 'too old resource version' };
      response.end(`${JSON.stringify({ type: 'ERROR', object: gone })}\n`);
    });
    ended.push(server.close);
    const clock = scaledClock(systemClock, 20);
    const access = await loadClusterAccess({
      apiServer: server.url,
      environment: {},
      clock,
      serviceAccountDirectory: '/nowhere',
    });
    const transport = new UndiciTransport({ access, clock: systemClock });
    ended.push(() => transport.close());

    const { copy } = copyOf(transport, '/things', clock);
    await until(() => copy.figures().relists === 1 && copy.figures().state.kind === 'watching');

    expect(lists).toBe(2);
  });

  test('leaves no watch open when it stops', async () => {
    const { api, transport, clock } = await overHttp();
    const { copy } = copyOf(transport, ciliumNodesPath, clock);
    await copy.synced;
    await until(() => api.model.openWatches === 1);

    await ended.pop()?.();
    await until(() => api.model.openWatches === 0);

    expect(copy.figures().state).toEqual({ kind: 'stopped' });
  });
});
