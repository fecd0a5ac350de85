import { request } from 'node:http';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { parse } from 'yaml';
import {
  kubeConfigFor,
  startKubernetesServer,
} from '../../../../src/simulator/kubernetes/kubernetes-server.ts';
import { ciliumNode, ciliumNodes, open, type Served, served, until, wholeBody } from './served-model.ts';

let rig: Served;

beforeEach(async () => {
  rig = await served();
});

afterEach(async () => {
  await rig.server.close();
});

describe('the embedded API server over HTTP', () => {
  test('sends a whole answer with its length', async () => {
    const { incoming } = await open(`${rig.server.url}${ciliumNodes}`, 'POST', ciliumNode('a'));
    const { text } = await wholeBody(incoming);

    expect(incoming.statusCode).toBe(201);
    expect(incoming.headers['content-length']).toBe(String(Buffer.byteLength(text)));
    expect(JSON.parse(text)).toMatchObject({ metadata: { name: 'a' } });
  });

  test('streams a watch line by line until its time-out', async () => {
    const { incoming } = await open(`${rig.server.url}${ciliumNodes}?watch=1&timeoutSeconds=60`);
    const body = wholeBody(incoming);

    const made = await open(`${rig.server.url}${ciliumNodes}`, 'POST', ciliumNode('a'));
    await wholeBody(made.incoming);
    await rig.clock.advance(60_000);
    const { text, cut } = await body;

    expect(cut).toBe(false);
    expect(text.trimEnd().split('\n')).toHaveLength(1);
    expect(JSON.parse(text)).toMatchObject({ type: 'ADDED', object: { metadata: { name: 'a' } } });
  });

  test('ends a watch whose client is gone', async () => {
    const { outgoing } = await open(`${rig.server.url}${ciliumNodes}?watch=1`);
    const before = rig.model.openWatches;

    outgoing.destroy();
    await until(() => rig.model.openWatches === 0);

    expect(before).toBe(1);
  });

  test('breaks the connection when a fault says so', async () => {
    rig.model.faults.inject({ method: 'POST', effect: { kind: 'dropAfter' } });

    await expect(open(`${rig.server.url}${ciliumNodes}`, 'POST', ciliumNode('a'))).rejects.toThrow(
      'socket hang up',
    );

    expect(rig.model.get('ciliumnodes.cilium.io', 'a')).toBeDefined();
  });

  test('cuts a watch in the middle of a line', async () => {
    const { incoming } = await open(`${rig.server.url}${ciliumNodes}?watch=1`);
    const body = wholeBody(incoming);

    rig.model.faults.cutWatches();

    expect(await body).toEqual({ text: '{"type":"MODIFIED","object":{"apiVer', cut: true });
  });

  test('accepts faults over HTTP', async () => {
    const { incoming } = await open(`${rig.server.url}/_headwater/faults`, 'POST', {
      path: 'ciliumnodes',
      effect: { kind: 'refuse', code: 429, retryAfterSeconds: 2 },
    });
    await wholeBody(incoming);

    const struck = await open(`${rig.server.url}${ciliumNodes}`);

    expect(struck.incoming.statusCode).toBe(429);
    expect(struck.incoming.headers['retry-after']).toBe('2');
  });

  test('dates its answers by the clock', async () => {
    const { incoming } = await open(`${rig.server.url}/healthz`);
    await wholeBody(incoming);

    expect(incoming.headers.date).toBe('Thu, 01 Jan 2026 00:00:00 GMT');
  });

  test('is not disturbed by a request that breaks off', async () => {
    const outgoing = request(`${rig.server.url}${ciliumNodes}`, { method: 'POST', agent: false });
    outgoing.once('error', () => undefined);
    outgoing.write('{"apiVersion":');
    await new Promise((resolve) => outgoing.once('socket', (socket) => socket.once('connect', resolve)));

    outgoing.destroy();
    const { incoming } = await open(`${rig.server.url}/healthz`);

    expect((await wholeBody(incoming)).text).toBe('ok');
  });
});

describe('the port of the server', () => {
  test('is named in the error when it is taken', async () => {
    const port = Number(new URL(rig.server.url).port);

    await expect(startKubernetesServer({ ...rig, port })).rejects.toThrow(
      `cannot serve the Kubernetes API on 127.0.0.1 port ${port}: the port is taken`,
    );
  });

  test('is free again once the server is closed, even with clients still connected', async () => {
    const port = Number(new URL(rig.server.url).port);
    const { incoming } = await open(`${rig.server.url}${ciliumNodes}?watch=1`);
    const body = wholeBody(incoming);

    await rig.server.close();
    const again = await startKubernetesServer({ ...rig, port });

    expect((await body).cut).toBe(true);
    expect(again.url).toBe(rig.server.url);
    await again.close();
  });
});

test('a kubeconfig names the server, and the token if there is one', () => {
  const config = parse(kubeConfigFor({ url: rig.server.url, token: 'secret' })) as unknown;

  expect(config).toEqual({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'headwater', cluster: { server: rig.server.url, 'insecure-skip-tls-verify': true } }],
    users: [{ name: 'headwater', user: { token: 'secret' } }],
    contexts: [{ name: 'headwater', context: { cluster: 'headwater', user: 'headwater' } }],
    'current-context': 'headwater',
  });
});
