import { afterEach, describe, expect, test } from '@jest/globals';
import type { IncomingMessage } from 'node:http';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import type { ClusterAccess, Credentials } from '../../../src/kubernetes/transport/cluster-access.ts';
import { UserCredentials, type UserOptions } from '../../../src/kubernetes/auth/user-credentials.ts';
import type { StreamLine } from '../../../src/kubernetes/transport/transport.ts';
import {
  UndiciTransport,
  type UndiciTransportOptions,
} from '../../../src/kubernetes/transport/undici-transport.ts';
import { describeError } from '../../../src/observability/describe-error.ts';
import { systemClock } from '../../../src/runtime/system-clock.ts';
import { VirtualClock } from '../../support/virtual-clock.ts';
import { type Answer, json, type LoopbackServer, loopbackServer } from '../../support/loopback-server.ts';
import {
  type Certificate,
  certificateAuthority,
  selfSignedCertificate,
} from '../../../src/simulator/certificates.ts';
import { accessTo, noTls } from '../../support/cluster-access.ts';
import { type LocalProxy, type ProxySetup, startProxy } from '../../support/local-proxy.ts';

const never = new AbortController().signal;
const ended: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const end of ended.splice(0).toReversed()) await end();
});

/** The user that a kubeconfig would name, at a server. */
function userAt(url: string, user: Partial<UserOptions>, clock = new VirtualClock()): ClusterAccess {
  const none = { kind: 'none' } as const;
  const credentials = new UserCredentials({
    clock,
    identity: { kind: 'anonymous' },
    ca: none,
    cert: none,
    key: none,
    serverName: undefined,
    insecure: false,
    impersonation: {},
    ...user,
  });
  return {
    ...accessTo(url),
    credentials: () => credentials.current(),
    forget: (refused) => credentials.forget(refused),
  };
}

async function serve(answer: Answer, tls?: Certificate & { ca?: string }): Promise<LoopbackServer> {
  const server = await loopbackServer(answer, tls);
  ended.push(server.close);
  return server;
}

function transportTo(access: ClusterAccess, more: Partial<UndiciTransportOptions> = {}): UndiciTransport {
  const transport = new UndiciTransport({ access, clock: systemClock, ...more });
  ended.push(() => transport.close());
  return transport;
}

async function proxyWith(setup: ProxySetup): Promise<LocalProxy> {
  const proxy = await startProxy(setup);
  ended.push(proxy.close);
  return proxy;
}

function withUser(proxy: string, user: string): URL {
  return new URL(proxy.replace('//', user === '' ? '//' : `//${user}@`));
}

async function directory(): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), 'headwater-'));
  ended.push(() => rm(path, { recursive: true }));
  return path;
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  let text = '';
  for await (const chunk of request) text += String(chunk);
  return text;
}

describe('the undici transport', () => {
  test('sends method, path below the server’s own, headers and body, and returns status, retry time and body', async () => {
    const seen: unknown[] = [];
    const server = await serve((request, response) => {
      void bodyOf(request).then((body) => {
        const { method, url, headers } = request;
        seen.push({ method, url, body, type: headers['content-type'], agent: headers['user-agent'] });
        json(response, 409, { reason: 'Conflict' }, { 'retry-after': '7' });
      });
    });
    const transport = transportTo(accessTo(`${server.url}/k8s/clusters/c-1`));

    const answer = await transport.send(
      { method: 'PATCH', path: '/api?x=y', contentType: 'application/merge-patch+json', body: '{"a":"ü"}' },
      never,
    );

    expect(answer).toEqual({ status: 409, retryAfterMs: 7000, body: '{"reason":"Conflict"}' });
    expect(seen).toEqual([
      {
        method: 'PATCH',
        url: '/k8s/clusters/c-1/api?x=y',
        body: '{"a":"ü"}',
        type: 'application/merge-patch+json',
        agent: 'headwater',
      },
    ]);
  });

  test.each([
    ['http', undefined],
    ['https', selfSignedCertificate('api')],
  ])(
    'needs two connections at most for 1,000 requests in a row over %s, and no more than allowed for 200 at once',
    async (_scheme, tls) => {
      const server = await serve((_request, response) => json(response, 200, {}), tls);
      const transport = transportTo(accessTo(server.url, { tls: { ...noTls, ca: tls?.cert } }), {
        connections: 4,
      });

      for (let round = 0; round < 1000; round++) await transport.send({ method: 'GET', path: '/' }, never);
      const inARow = server.connections();
      await Promise.all(
        Array.from({ length: 200 }, () => transport.send({ method: 'GET', path: '/' }, never)),
      );

      expect(inARow).toBeLessThanOrEqual(2);
      expect(server.connections()).toBeLessThanOrEqual(4);
    },
  );

  test('refuses an untrusted server with what to do, unless its authority is trusted', async () => {
    const certificate = selfSignedCertificate('api');
    const server = await serve((_request, response) => json(response, 200, {}), certificate);
    const request = { method: 'GET', path: '/' } as const;

    const untrusting = transportTo(accessTo(server.url)).send(request, never);
    const other = { ...noTls, ca: selfSignedCertificate('another').cert };
    const misled = transportTo(accessTo(server.url, { tls: other })).send(request, never);
    const insecure = transportTo(accessTo(server.url, { tls: { ...noTls, insecure: true } })).send(
      request,
      never,
    );

    await expect(untrusting).rejects.toMatchObject({ code: 'KUBERNETES_UNTRUSTED' });
    await expect(untrusting).rejects.toThrow('correct the certificate authority in the kubeconfig');
    await expect(misled).rejects.toMatchObject({ code: 'KUBERNETES_UNTRUSTED' });
    expect((await insecure).status).toBe(200);
  });

  test('shows its client certificate', async () => {
    const client = selfSignedCertificate('client');
    const certificate = selfSignedCertificate('api');
    const server = await serve((_request, response) => json(response, 200, {}), {
      ...certificate,
      ca: client.cert,
    });

    const tls = { ...noTls, ca: certificate.cert, cert: client.cert, key: client.key };
    const answer = await transportTo(accessTo(server.url, { tls })).send({ method: 'GET', path: '/' }, never);

    expect(answer.status).toBe(200);
  });

  test('reads a rotated token file again after a minute, or as soon as the old token is refused', async () => {
    const path = join(await directory(), 'token');
    await writeFile(path, 'first\n');
    const clock = new VirtualClock();
    const seen: (string | undefined)[] = [];
    let accepted = 'Bearer first';
    const server = await serve((request, response) => {
      seen.push(request.headers.authorization);
      json(response, request.headers.authorization === accepted ? 200 : 401, {});
    });
    const access = userAt(server.url, { identity: { kind: 'tokenFile', path } }, clock);
    const transport = transportTo(access);
    const get = async (): Promise<number> =>
      (await transport.send({ method: 'GET', path: '/' }, never)).status;

    const before = await get();
    await writeFile(path, 'second');
    accepted = 'Bearer second';
    const refusedOnce = await get();
    await writeFile(path, 'third');
    await clock.advance(60_000);
    accepted = 'Bearer third';
    const afterAMinute = await get();
    accepted = 'Bearer nobody';
    const refused = await get();

    expect([before, refusedOnce, afterAMinute, refused]).toEqual([200, 200, 200, 401]);
    expect(seen).toEqual(['Bearer first', 'Bearer first', 'Bearer second', 'Bearer third', 'Bearer third']);
    expect(server.connections()).toBeLessThanOrEqual(2);
  });

  test('renews credentials once when two requests are refused for the same ones', async () => {
    let run = 1;
    let credentials: Credentials = { headers: { authorization: 'run-1' }, tls: noTls };
    const firstIsThrough = Promise.withResolvers<void>();
    const server = await serve((request, response) => {
      const { authorization } = request.headers;
      const answer = (): void => json(response, authorization === 'run-2' ? 200 : 401, {});
      if (request.url === '/second' && authorization === 'run-1') void firstIsThrough.promise.then(answer);
      else answer();
    });
    const transport = transportTo({
      ...accessTo(server.url),
      credentials: () => Promise.resolve(credentials),
      forget: () => {
        credentials = { headers: { authorization: `run-${++run}` }, tls: noTls };
      },
    });

    const second = transport.send({ method: 'GET', path: '/second' }, never);
    const first = await transport.send({ method: 'GET', path: '/first' }, never);
    firstIsThrough.resolve();

    expect([first.status, (await second).status, run]).toEqual([200, 200, 2]);
  });

  test('trusts a certificate authority that rotates on disk from then on', async () => {
    const path = join(await directory(), 'ca.crt');
    const [old, next] = [selfSignedCertificate('old'), selfSignedCertificate('new')];
    const clock = new VirtualClock();
    const first = await serve((_request, response) => json(response, 200, {}), old);
    const second = await serve((_request, response) => json(response, 200, {}), next);
    await writeFile(path, old.cert);
    const access = userAt(first.url, { ca: { kind: 'file', path } }, clock);
    let moved = false;
    const transport = transportTo({
      ...access,
      get server() {
        return new URL(moved ? second.url : first.url);
      },
    });
    const before = await transport.send({ method: 'GET', path: '/' }, never);

    moved = true;
    await writeFile(path, next.cert);
    await clock.advance(60_000);
    const after = await transport.send({ method: 'GET', path: '/' }, never);

    expect([before.status, after.status]).toEqual([200, 200]);
  });

  test.each(['https', 'http'])(
    'goes through a proxy with its credentials to a server by %s, and a stream blocks no request',
    async (scheme) => {
      const certificate = certificateAuthority('api');
      const server = await serve(
        (request, response) => {
          if (request.url === '/watch') response.writeHead(200).write('{}\n');
          else json(response, 200, { through: 'proxy' });
        },
        scheme === 'https' ? certificate.issue('api.headwater.test') : undefined,
      );
      const proxy = await proxyWith({
        routes: { 'api.headwater.test:6443': server.url },
        credentials: 'us@er:word',
      });
      const transport = transportTo({
        ...accessTo(`${scheme}://api.headwater.test:6443`, { tls: { ...noTls, ca: certificate.cert } }),
        proxy: withUser(proxy.url, 'us%40er:word'),
      });

      const stream = await transport.stream({ method: 'GET', path: '/watch' }, never);
      const answer = await transport.send({ method: 'GET', path: '/' }, never);

      expect(stream.kind).toBe('open');
      expect(answer).toEqual({ status: 200, body: '{"through":"proxy"}' });
      expect(proxy.asked).toEqual(Array(2).fill('CONNECT api.headwater.test:6443'));
    },
  );

  test('goes through a proxy that is reached over TLS', async () => {
    const trusted = getCACertificates('default');
    const authority = certificateAuthority('for proxies');
    const certificate = certificateAuthority('api');
    const server = await serve(
      (_request, response) => json(response, 200, {}),
      certificate.issue('api.headwater.test'),
    );
    const proxy = await proxyWith({
      routes: { 'api.headwater.test:443': server.url },
      tls: authority.issue('proxy'),
    });
    const access = accessTo('https://api.headwater.test', { tls: { ...noTls, ca: certificate.cert } });
    ended.push(() => Promise.resolve(setDefaultCACertificates(trusted)));
    setDefaultCACertificates([...trusted, authority.cert]);

    const request = { method: 'GET', path: '/' } as const;
    const answer = await transportTo({ ...access, proxy: new URL(proxy.url) }).send(request, never);
    setDefaultCACertificates(trusted);
    const untrusting = transportTo({ ...access, proxy: new URL(proxy.url) }).send(request, never);

    expect(answer.status).toBe(200);
    await expect(untrusting).rejects.toMatchObject({ code: 'KUBERNETES_UNTRUSTED' });
    await expect(untrusting).rejects.toThrow(
      / an authority for the proxy itself belongs in --extra-ca-file$/,
    );
  });

  test.each<[string, ProxySetup['manner'], string, string]>([
    ['requires a user', 407, '', 'wants a user and a password (407)'],
    ['refuses the user', 407, 'user:secret', 'refuses its user and password (407)'],
    [
      'does not connect',
      503,
      'user:secret',
      'answers 503 instead of connecting to https://api.headwater.test',
    ],
    ['hangs up', 'hangsUp', 'user:secret', 'cannot reach https://api.headwater.test through the proxy'],
  ])('names a proxy that %s, without its credentials', async (_, manner, user, text) => {
    const proxy = await proxyWith({ routes: {}, ...(manner !== undefined && { manner }) });
    const access = { ...accessTo('https://api.headwater.test'), proxy: withUser(proxy.url, user) };

    const sent = transportTo(access).send({ method: 'GET', path: '/' }, never);

    await expect(sent).rejects.toMatchObject({ code: 'KUBERNETES_UNREACHABLE' });
    await expect(sent).rejects.toThrow(text);
    await expect(sent).rejects.toThrow(`the proxy ${proxy.url}`);
    const reported = JSON.stringify(describeError(await sent.catch((error: unknown) => error)));
    expect(reported).not.toContain('secret');
  });

  test('names a proxy that does not exist', async () => {
    const gone = await startProxy({ routes: {} });
    await gone.close();
    const access = { ...accessTo('https://api.headwater.test'), proxy: withUser(gone.url, 'user:secret') };

    const sent = transportTo(access).send({ method: 'GET', path: '/' }, never);

    await expect(sent).rejects.toThrow(
      `cannot reach https://api.headwater.test through the proxy ${gone.url}: connect ECONNREFUSED`,
    );
  });

  test('reports a missing token file as an error of its own, not as a broken connection', async () => {
    const server = await serve((_request, response) => json(response, 200, {}));
    const transport = transportTo(
      userAt(server.url, { identity: { kind: 'tokenFile', path: '/nowhere/token' } }),
    );

    await expect(transport.send({ method: 'GET', path: '/' }, never)).rejects.toMatchObject({
      code: 'KUBERNETES_CREDENTIALS',
      message: 'cannot read /nowhere/token',
    });
  });

  test('reports as unreachable a server that does not exist and one that hangs up', async () => {
    const gone = await loopbackServer(() => undefined);
    await gone.close();
    const rude = await serve((request) => request.socket.destroy());

    for (const url of [gone.url, rude.url]) {
      await expect(
        transportTo(accessTo(url)).send({ method: 'GET', path: '/' }, never),
      ).rejects.toMatchObject({
        code: 'KUBERNETES_UNREACHABLE',
        details: { server: url },
      });
    }
  });

  test('ends a request without an answer in time, one with an endless body, and an aborted one', async () => {
    const arrived = Promise.withResolvers<void>();
    const server = await serve((request, response) => {
      if (request.url === '/body') response.writeHead(200).write('{');
      arrived.resolve();
    });
    const transport = transportTo(accessTo(server.url));
    const controller = new AbortController();

    const silent = transport.send({ method: 'GET', path: '/', timeoutMs: 50 }, never);
    const endless = transport.send({ method: 'GET', path: '/body', timeoutMs: 50 }, never);
    const noStream = transport.stream({ method: 'GET', path: '/', timeoutMs: 50 }, never);
    const aborted = transport.send({ method: 'GET', path: '/' }, controller.signal);
    await Promise.allSettled([silent, endless, noStream, arrived.promise]);
    controller.abort(new Error('enough'));

    await expect(silent).rejects.toMatchObject({ code: 'KUBERNETES_TIMEOUT' });
    await expect(endless).rejects.toMatchObject({ code: 'KUBERNETES_TIMEOUT' });
    await expect(noStream).rejects.toMatchObject({ code: 'KUBERNETES_TIMEOUT' });
    await expect(aborted).rejects.toThrow('enough');
  });

  test('lets a stream outlive the time-out for its start, passes on whole lines, and fails where the stream is cut', async () => {
    const server = await serve((_request, response) => {
      response.writeHead(200);
      response.write('{"n":1}\n{"n"');
      setImmediate(() => {
        response.write(':2}\n{"cut');
        setImmediate(() => response.destroy());
      });
    });
    const answer = await transportTo(accessTo(server.url)).stream(
      { method: 'GET', path: '/', timeoutMs: 5000 },
      never,
    );
    const lines: StreamLine[] = [];

    const reading = (async () => {
      if (answer.kind === 'open') for await (const line of answer.lines) lines.push(line);
    })();

    await expect(reading).rejects.toMatchObject({ code: 'KUBERNETES_UNREACHABLE' });
    expect(lines).toEqual(['{"n":1}', '{"n":2}']);
  });

  test('fails what still waits when it is closed, and asks no second time', async () => {
    let requests = 0;
    const arrived = Promise.withResolvers<void>();
    const server = await serve(() => {
      requests++;
      arrived.resolve();
    });
    const clock = new VirtualClock();
    const transport = transportTo(accessTo(server.url), { clock });
    const waiting = transport.send({ method: 'GET', path: '/' }, never);
    waiting.catch(() => undefined);
    await arrived.promise;

    // As in a process that goes on after it was frozen: its timers are overdue.
    const closing = transport.close();
    await clock.advance(10_000);
    await closing;

    await expect(waiting).rejects.toThrow(/destroyed|closed/);
    await expect(transport.send({ method: 'GET', path: '/' }, never)).rejects.toThrow(/closed|destroyed/);
    expect(requests).toBe(1);
  });

  test('returns the answer of a refused stream, and closes the connection of one that is left or aborted', async () => {
    const closed = Promise.withResolvers<void>();
    const server = await serve((request, response) => {
      if (request.url === '/gone') {
        json(response, 410, { code: 410 });
        return;
      }
      response.writeHead(200).write('one\n');
      response.on('close', () => closed.resolve());
    });
    const transport = transportTo(accessTo(server.url));

    const refused = await transport.stream({ method: 'GET', path: '/gone' }, never);
    const left = await transport.stream({ method: 'GET', path: '/' }, never);
    if (left.kind === 'open') for await (const line of left.lines) if (line === 'one') break;
    await closed.promise;
    const controller = new AbortController();
    const aborted = await transport.stream({ method: 'GET', path: '/' }, controller.signal);
    const reading = (async () => {
      if (aborted.kind === 'open')
        for await (const _line of aborted.lines) controller.abort(new Error('enough'));
    })();

    expect(refused).toEqual({ kind: 'refused', answer: { status: 410, body: '{"code":410}' } });
    await expect(reading).rejects.toThrow('enough');
  });
});
