import { afterEach, describe, expect, test } from '@jest/globals';
import { Agent, type IncomingMessage, request } from 'node:http';
import { connect } from 'node:net';
import { once } from 'node:events';
import {
  type HttpServer,
  type HttpServerOptions,
  type ProbeResult,
  type ServedState,
  startHttpServer,
} from '../../../src/observability/http-server.ts';
import { createMetricRegistry } from '../../../src/observability/metrics.ts';
import { VirtualClock } from '../../support/virtual-clock.ts';
import { recordingLogger } from '../../support/recording-logger.ts';

const started: HttpServer[] = [];

afterEach(async () => {
  await Promise.all(started.splice(0).map((server) => server.close()));
});

const fine = (): ProbeResult => ({ ok: true });

type Started = Partial<HttpServerOptions & ServedState>;

async function start({
  health = fine,
  ready = fine,
  status = () => ({ nodes: 3 }),
  node = (name) => ({ known: name === 'one', name }),
  ...options
}: Started = {}): Promise<HttpServer> {
  const result = await startHttpServer({
    listenOn: { host: '127.0.0.1', port: 0 },
    option: 'serve-addr',
    clock: new VirtualClock(),
    log: recordingLogger(),
    state: { health, ready, status, node },
    metrics: createMetricRegistry({ measureProcess: false }),
    ...options,
  });
  if (result.kind === 'refused') throw new Error(result.problem);
  started.push(result.server);
  return result.server;
}

interface Answer {
  readonly code: number | undefined;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly body: string;
}

async function ask(
  server: HttpServer,
  path: string,
  { method = 'GET', agent }: { method?: string; agent?: Agent } = {},
): Promise<Answer> {
  const sent = request({ ...server.address, path, method, agent });
  sent.end();
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  const body = (await response.setEncoding('utf8').toArray()).join('');
  return { code: response.statusCode, headers: response.headers, body };
}

describe('startHttpServer', () => {
  test.each<[string, Started, number, string]>([
    ['/healthz', {}, 200, 'ok'],
    ['/v1/healthz', {}, 200, 'ok'],
    ['/readyz', {}, 200, 'ok'],
    ['/readyz?verbose', {}, 200, 'ok'],
    [
      '/healthz',
      { health: () => ({ ok: false, problem: 'no progress for 90 s' }) },
      500,
      'no progress for 90 s',
    ],
    ['/v1/healthz', { health: () => ({ ok: false, problem: 'stuck' }) }, 500, 'stuck'],
    ['/readyz', { health: () => ({ ok: false, problem: 'stuck' }) }, 200, 'ok'],
    [
      '/readyz',
      { ready: () => ({ ok: false, problem: 'never listed the nodes' }) },
      500,
      'never listed the nodes',
    ],
    ['/status', {}, 200, '{\n  "nodes": 3\n}\n'],
    ['/status?node=one', {}, 200, '{\n  "known": true,\n  "name": "one"\n}\n'],
    ['/status?node=t%77o', {}, 404, '{\n  "known": false,\n  "name": "two"\n}\n'],
    ['/', {}, 404, 'not found; there is /metrics, /healthz, /v1/healthz, /readyz, /status'],
    ['/healthz/', {}, 404, 'not found; there is /metrics, /healthz, /v1/healthz, /readyz, /status'],
  ])('answers GET %s as expected: %#', async (path, options, code, body) => {
    const server = await start(options);

    expect(await ask(server, path)).toMatchObject({ code, body });
  });

  test('serves metrics with the type that Prometheus expects', async () => {
    const server = await start();

    const { code, headers, body } = await ask(server, '/metrics');

    expect(code).toBe(200);
    expect(headers['content-type']).toBe('text/plain; version=0.0.4; charset=utf-8');
    expect(body).toContain('\nheadwater_leader 0\n');
  });

  test('answers HEAD as GET, without the body', async () => {
    const server = await start();

    const [get, head] = [await ask(server, '/status'), await ask(server, '/status', { method: 'HEAD' })];

    expect(head).toMatchObject({ code: 200, body: '' });
    expect(head.headers['content-length']).toBe(get.headers['content-length']);
  });

  test('serves metrics alone where there is no state to show', async () => {
    const server = await start({ state: undefined });

    expect((await ask(server, '/metrics')).code).toBe(200);
    expect(await ask(server, '/status')).toMatchObject({ code: 404, body: 'not found; there is /metrics' });
  });

  test.each(['POST', 'PUT', 'DELETE'])('refuses %s', async (method) => {
    const server = await start();

    const { code, headers } = await ask(server, '/healthz', { method });

    expect(code).toBe(405);
    expect(headers['allow']).toBe('GET, HEAD');
  });

  test.each<[string, Started, string]>([
    [
      '/healthz',
      {
        health: () => {
          throw new Error('bug in health');
        },
      },
      'bug in health',
    ],
    ['/status', { status: () => 1n }, 'serialize a BigInt'],
    [
      '/metrics',
      { metrics: { contentType: 'text/plain', scrape: () => Promise.reject(new Error('bug in scrape')) } },
      'bug in scrape',
    ],
  ])('reports a failure behind %s and continues', async (path, options, problem) => {
    const server = await start(options);

    const { code, body } = await ask(server, path);

    expect(code).toBe(500);
    expect(body).toContain(problem);
    expect(await ask(server, '/readyz')).toMatchObject({ code: 200 });
  });

  test.each<[string, (taken: number) => HttpServerOptions['listenOn'], RegExp]>([
    [
      'a taken port',
      (port) => ({ host: '127.0.0.1', port }),
      /^cannot listen on 127\.0\.0\.1:\d+: the port is taken; set --serve-addr$/,
    ],
    [
      'an address of another machine',
      () => ({ host: '192.0.2.1', port: 0 }),
      /^cannot listen on 192\.0\.2\.1:0: this machine does not have the address; set --serve-addr$/,
    ],
  ])('returns %s as a value, not as an exception', async (_, listenOn, problem) => {
    const { address } = await start();

    const refusal = start({ listenOn: listenOn(address.port) });

    await expect(refusal).rejects.toThrow(problem);
  });

  test('cuts off a client that never ends its request', async () => {
    const server = await start({ clientTimeout: 40 });

    const socket = connect(server.address.port, server.address.host);
    socket.resume().write('GET /healthz HTTP/1.1\r\nHost: ');

    await once(socket, 'close');
    expect(socket.destroyed).toBe(true);
  });
});

describe('the end of the HTTP server', () => {
  test('does not wait for kept-alive connections', async () => {
    const server = await start();
    const agent = new Agent({ keepAlive: true });
    await ask(server, '/healthz', { agent });

    await server.close();

    await expect(ask(server, '/healthz')).rejects.toMatchObject({ code: 'ECONNREFUSED' });
    agent.destroy();
  });

  test('gives requests in flight half a second, then ends them, however often it is requested', async () => {
    const clock = new VirtualClock();
    const asked = Promise.withResolvers<void>();
    const scrape = (): Promise<string> => {
      asked.resolve();
      return new Promise(() => {});
    };
    const server = await start({ clock, metrics: { contentType: 'text/plain', scrape } });
    const answer = ask(server, '/metrics').catch((error: unknown) => error);
    await asked.promise;

    const ended: string[] = [];
    const closings = ['first', 'second'].map((name) => server.close().then(() => ended.push(name)));
    await clock.advance(499);
    const early = [...ended];
    await clock.advance(1);
    await Promise.all(closings);

    expect(early).toEqual([]);
    expect(await answer).toMatchObject({ code: 'ECONNRESET' });
  });
});
