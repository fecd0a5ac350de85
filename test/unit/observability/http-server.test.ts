import { afterEach, describe, expect, test } from '@jest/globals';
import { Agent, type IncomingMessage, request } from 'node:http';
import { connect, Socket } from 'node:net';
import { gunzipSync } from 'node:zlib';
import { once } from 'node:events';
import {
  type HttpServer,
  type HttpServerOptions,
  type ProbeResult,
  type ServedState,
  startHttpServer,
} from '../../../src/observability/http-server.ts';
import { policyOf } from '../../../src/observability/status-page.ts';
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
  page,
  ...options
}: Started = {}): Promise<HttpServer> {
  const result = await startHttpServer({
    listenOn: { host: '127.0.0.1', port: 0 },
    option: 'serve-addr',
    clock: new VirtualClock(),
    log: recordingLogger(),
    state: { health, ready, status, node, page },
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
    ['/readyz', { ready: () => ({ ok: true, note: 'standing by' }) }, 200, 'ok\nstanding by\n'],
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
    ['/status?nodes', { status: (withNodes) => ({ withNodes }) }, 200, '{\n  "withNodes": true\n}\n'],
    ['/status', { status: (withNodes) => ({ withNodes }) }, 200, '{\n  "withNodes": false\n}\n'],
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

  test('compresses the names of nodes for clients that accept it, and nothing else', async () => {
    const names = Array.from(
      { length: 10_000 },
      (_, index) => `ip-10-0-${index >> 8}-${index & 255}.internal`,
    );
    const server = await start({ status: (withNodes) => (withNodes ? { names } : { count: names.length }) });
    const headers = { 'accept-encoding': 'gzip, deflate, br' };
    const sent = request({ ...server.address, path: '/status?nodes', headers }).end();

    const [response] = (await once(sent, 'response')) as [IncomingMessage];
    const body = Buffer.concat(await response.toArray());

    expect(response.headers).toMatchObject({
      'content-encoding': 'gzip',
      'content-length': String(body.length),
    });
    expect(body.length).toBeLessThan(60_000);
    expect(JSON.parse(gunzipSync(body).toString())).toEqual({ names });
    expect((await ask(server, '/status?nodes')).headers).not.toHaveProperty('content-encoding');
    expect((await ask(server, '/status')).body).toContain('10000');
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

/** Sends this many requests for `path` over each of `count` connections at once; resolves with the answers received. */
async function flood(server: HttpServer, path: string, count: number, each: number): Promise<number[]> {
  return Promise.all(
    Array.from({ length: count }, async () => {
      const socket = connect(server.address.port, server.address.host);
      const closing = `GET ${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`;
      socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`.repeat(each - 1) + closing);
      const text = (await socket.setEncoding('utf8').toArray()).join('');
      return text.split('HTTP/1.1 200 OK').length - 1;
    }),
  );
}

describe('many readers at once', () => {
  test.each<[string, (render: () => string) => Started]>([
    [
      '/metrics',
      (render) => ({ metrics: { contentType: 'text/plain', scrape: () => Promise.resolve(render()) } }),
    ],
    ['/status', (render) => ({ status: render })],
    ['/status?nodes', (render) => ({ status: render })],
  ])('of %s share renderings', async (path, options) => {
    let renderings = 0;
    const render = (): string => {
      renderings++;
      return 'x'.repeat(200_000);
    };
    const server = await start(options(render));

    const answers = await flood(server, path, 10, 50);

    expect(answers).toEqual(Array.from({ length: 10 }, () => 50));
    expect(renderings).toBeLessThanOrEqual(250);
  });

  test('of /metrics get one rendering at a time, for one request in flight each', async () => {
    const rendering: ((text: string) => void)[] = [];
    const scrape = (): Promise<string> => new Promise((resolve) => rendering.push(resolve));
    const server = await start({ metrics: { contentType: 'text/plain', scrape } });

    const over = new AbortController();
    const flooded = flood(server, '/metrics', 10, 50).finally(() => over.abort());
    for (let rendered = 0; !over.signal.aborted; rendered++) {
      while (rendering.length === rendered && !over.signal.aborted) await ask(server, '/healthz');
      expect(rendering.length).toBeLessThanOrEqual(rendered + 1);
      rendering[rendered]?.('text');
    }

    expect(await flooded).toEqual(Array.from({ length: 10 }, () => 50));
    // A connection gets one answer from each rendering at most.
    expect(rendering.length).toBeGreaterThanOrEqual(50);
  });

  test('do not hold back a probe: none waits for a rendering', async () => {
    const { promise, resolve } = Promise.withResolvers<string>();
    const server = await start({ metrics: { contentType: 'text/plain', scrape: () => promise } });

    const flooded = flood(server, '/metrics', 10, 50);
    const probe = await ask(server, '/healthz');
    resolve('text');

    expect(probe.code).toBe(200);
    expect(await flooded).toEqual(Array.from({ length: 10 }, () => 50));
  });

  test('get no rendering while the process rests after one that took long', async () => {
    const clock = new VirtualClock();
    let renderings = 0;
    const scrape = async (): Promise<string> => {
      renderings++;
      await clock.advance(200);
      return 'text';
    };
    const server = await start({ clock, metrics: { contentType: 'text/plain', scrape } });

    await ask(server, '/metrics');
    const second = ask(server, '/metrics');
    await ask(server, '/healthz');
    await clock.advance(599);
    const early = renderings;
    await clock.advance(1);

    expect((await second).code).toBe(200);
    expect([early, renderings]).toEqual([1, 2]);
  });

  test('cannot keep out a probe by connections that they hold: the least used one is closed', async () => {
    const server = await start({ clientTimeout: 3_600_000 });
    const held = Array.from({ length: 64 }, () => connect(server.address.port, server.address.host));
    await Promise.all(held.map((socket) => once(socket, 'connect')));
    const closed = once((held[0] ?? new Socket()).resume(), 'close');

    const probe = await ask(server, '/healthz');

    expect(probe.code).toBe(200);
    await closed;
    for (const socket of held) socket.destroy();
  });

  test('lose a connection over which they send too far ahead', async () => {
    const never = (): Promise<string> => new Promise(() => {});
    const metrics = { contentType: 'text/plain', scrape: never };
    const server = await start({ clientTimeout: 3_600_000, metrics });

    const socket = connect(server.address.port, server.address.host);
    socket.resume().write('GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(1000));
    socket.on('error', () => undefined);
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

describe('the page', () => {
  const html = '<style>p{}</style><script>go()</script>';

  test('is served with a policy that allows its own script and style and nothing else', async () => {
    const server = await start({ page: { html, contentSecurityPolicy: policyOf(html) } });

    const { code, headers, body } = await ask(server, '/');

    expect([code, headers['content-type'], body]).toEqual([200, 'text/html; charset=utf-8', html]);
    expect(String(headers['content-security-policy']).split('; ')).toEqual([
      "default-src 'none'",
      "connect-src 'self'",
      "script-src 'sha256-5KYv+PUboo5h+0+YAtGRPbwv5d/QxzHslP4YGnUaxRw='",
      "style-src 'sha256-gG2yISYereRMiG2lMXrbiUgi0Ubw9p7QCeWcroOvy9Y='",
      "base-uri 'none'",
      "form-action 'none'",
      "frame-ancestors 'none'",
    ]);
  });

  test('is not there if it is switched off', async () => {
    const server = await start();

    expect(await ask(server, '/')).toMatchObject({ code: 404 });
  });
});
