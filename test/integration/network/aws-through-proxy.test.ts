import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { readNoProxy } from '../../../src/network/no-proxy.ts';
import { type Proxies, proxyFor } from '../../../src/network/proxies.ts';
import { AwsApi } from '../../../src/providers/aws/aws-api.ts';
import { CallError } from '../../../src/providers/gate/cloud-call.ts';
import { failureOf } from '../../../src/providers/aws/errors.ts';
import { systemClock } from '../../../src/runtime/system-clock.ts';
import { certificateAuthority } from '../../../src/simulator/certificates.ts';
import { type Front, startFront } from '../../support/front.ts';
import { type LocalProxy, type ProxySetup, startProxy } from '../../support/local-proxy.ts';
import { type Rig, startRig } from '../simulator/ec2/ec2-rig.ts';

const sending = {
  caller: { priority: 'high' as const },
  signal: new AbortController().signal,
  onSend: () => undefined,
} as const;
const trusted = getCACertificates('default');
const authority = certificateAuthority('ours');
const ended: (() => Promise<void> | void)[] = [];

let rig: Rig;
let front: Front;

beforeAll(async () => {
  process.env['AWS_ACCESS_KEY_ID'] = 'AKIAINTEGRATION00001';
  process.env['AWS_SECRET_ACCESS_KEY'] = 'integration-secret';
  setDefaultCACertificates([...trusted, authority.cert]);
  rig = await startRig();
  front = await startFront(rig.url, authority.issue('ec2.headwater.test'));
});

afterEach(async () => {
  for (const end of ended.splice(0).toReversed()) await end();
});

afterAll(async () => {
  setDefaultCACertificates(trusted);
  await front.close();
  await rig.close();
});

async function proxyWith(setup: Partial<ProxySetup> = {}): Promise<LocalProxy> {
  const routes = { 'ec2.headwater.test:443': front.url, 'ec2.headwater.test:80': rig.url };
  const proxy = await startProxy({ routes, ...setup });
  ended.push(proxy.close);
  return proxy;
}

interface Caller {
  readonly api: AwsApi;
  readonly routes: string[];
  /** The number of instances; rejects as the API does. */
  readonly call: () => Promise<number | undefined>;
}

function callerOf(endpoint: string, proxy: string, exceptions = ''): Caller {
  const url = new URL(proxy);
  const proxies: Proxies = { http: url, https: url, exempt: readNoProxy(exceptions) };
  const routes: string[] = [];
  const api = new AwsApi({
    region: 'us-east-1',
    endpoint,
    http: {
      connections: 4,
      clock: systemClock,
      connectionTimeout: 300,
      proxyFor: (target) => proxyFor(target, proxies),
      onRoute: (host, via) => routes.push(`${host} by ${via?.host ?? 'none'}`),
    },
  });
  ended.push(() => api.close());
  const call = async (): Promise<number | undefined> =>
    (await api.send('DescribeInstances', {}, sending)).Reservations?.length;
  return { api, routes, call };
}

function withUser(proxy: string, user: string): string {
  return proxy.replace('//', `//${user}@`);
}

async function errorOf(call: Promise<unknown>): Promise<CallError> {
  const error: unknown = await call.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (error instanceof CallError) return error;
  throw new Error('it was no such failure', { cause: error });
}

describe('a call to EC2 through a proxy', () => {
  test('takes a tunnel over https, with the credentials of the proxy, and trusts a certificate authority of our own', async () => {
    const proxy = await proxyWith({ credentials: 'us@er:p%ss' });
    const { call, routes } = callerOf('https://ec2.headwater.test', withUser(proxy.url, 'us%40er:p%25ss'));

    const found = [await call(), await call()];

    expect(found).toEqual([2, 2]);
    expect(proxy.asked).toEqual(['CONNECT ec2.headwater.test:443']); // the connection is kept
    expect(routes).toEqual([`ec2.headwater.test by ${new URL(proxy.url).host}`]);
    expect(front.seen.at(-1)).toMatchObject({ host: 'ec2.headwater.test' });
    expect(front.seen.at(-1)).not.toHaveProperty('proxy-authorization');
  });

  test('names its whole target over http', async () => {
    const proxy = await proxyWith({ credentials: 'user:word' });
    const { call } = callerOf('http://ec2.headwater.test', withUser(proxy.url, 'user:word'));

    expect(await call()).toBe(2);
    expect(proxy.asked).toEqual(['POST http://ec2.headwater.test/']);
  });

  test('can use a proxy that is reached over TLS', async () => {
    const proxy = await proxyWith({ tls: authority.issue('proxy.headwater.test') });

    expect(await callerOf('https://ec2.headwater.test', proxy.url).call()).toBe(2);
    expect(await callerOf('http://ec2.headwater.test', proxy.url).call()).toBe(2);
  });

  test('goes directly to exceptions and to this machine', async () => {
    const proxy = await proxyWith();

    const excepted = callerOf('https://ec2.headwater.test', proxy.url, '.headwater.test');
    const local = callerOf(front.url, proxy.url);

    // This machine cannot resolve the name: only the proxy can.
    expect((await errorOf(excepted.call())).message).toMatch(/getaddrinfo \w+ ec2\.headwater\.test/);
    expect(await local.call()).toBe(2);
    expect(excepted.routes).toEqual(['ec2.headwater.test by none']);
    expect(proxy.asked).toEqual([]);
  });

  test.each<[string, ProxySetup['manner'], string, string | undefined]>([
    ['requires a user', 407, 'wants a user and a password (407)', undefined],
    ['refuses the user', 407, 'refuses its user and password (407)', 'user:secret'],
    ['may not connect to EC2', 403, 'answers 403 instead of connecting to ec2.headwater.test', 'user:secret'],
    ['cannot reach EC2', 503, 'answers 503 instead of connecting to ec2.headwater.test', undefined],
    ['hangs up', 'hangsUp', 'cannot reach ec2.headwater.test through the proxy', undefined],
    ['keeps silent', 'keepsSilent', 'cannot reach ec2.headwater.test through the proxy', undefined],
  ])('fails at a proxy that %s: it says so, and that nothing was sent', async (_, manner, text, user) => {
    const proxy = await proxyWith({ ...(manner !== undefined && { manner }) });
    const url = user === undefined ? proxy.url : withUser(proxy.url, user);

    const error = await errorOf(callerOf('https://ec2.headwater.test', url).call());

    expect(error).toMatchObject({
      result: 'notSent',
      code: 'ProxyError',
      message: expect.stringContaining(text),
    });
    expect(error.message).toContain(`the proxy ${proxy.url}`);
    expect(error.message).not.toContain('secret');
    expect(failureOf('AttachNetworkInterface', error).kind).toBe('unreachable');
  });

  test.each(['https', 'http'])('fails at a proxy that does not exist, for %s', async (scheme) => {
    const gone = await startProxy({ routes: {} });
    await gone.close();

    const error = await errorOf(
      callerOf(`${scheme}://ec2.headwater.test`, withUser(gone.url, 'user:secret')).call(),
    );

    expect(error).toMatchObject({
      result: 'notSent',
      message: `cannot reach ec2.headwater.test through the proxy ${gone.url}: connect ECONNREFUSED ${new URL(gone.url).host}`,
    });
  });

  test('fails at a proxy that wants another user, for http', async () => {
    const proxy = await proxyWith({ credentials: 'user:word' });

    const error = await errorOf(
      callerOf('http://ec2.headwater.test', withUser(proxy.url, 'user:secret')).call(),
    );

    expect(error).toMatchObject({ result: 'notSent', code: 'ProxyError' });
    expect(error.message).toContain('refuses its user and password (407)');
  });

  test('names an untrusted certificate authority, with what to do', async () => {
    const stranger = await startFront(rig.url, certificateAuthority('stranger').issue('ec2.headwater.test'));
    ended.push(stranger.close);
    const proxy = await proxyWith({ routes: { 'ec2.headwater.test:443': stranger.url } });

    const through = await errorOf(callerOf('https://ec2.headwater.test', proxy.url).call());
    const direct = await errorOf(callerOf(stranger.url, proxy.url).call());

    expect(through).toMatchObject({ result: 'notSent', code: 'UNABLE_TO_VERIFY_LEAF_SIGNATURE' });
    expect(through.message).toMatch(
      /^the certificate of ec2\.headwater\.test through the proxy http:\S+ is not trusted: .*; name its authority in --extra-ca-file$/,
    );
    expect(direct.message).toMatch(/^the certificate of 127\.0\.0\.1:\d+ is not trusted: .*--extra-ca-file$/);
  });
});
