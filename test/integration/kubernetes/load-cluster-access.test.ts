import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Credentials } from '../../../src/kubernetes/transport/cluster-access.ts';
import { loadClusterAccess } from '../../../src/kubernetes/auth/load-cluster-access.ts';
import { describeError } from '../../../src/observability/describe-error.ts';
import { VirtualClock } from '../../support/virtual-clock.ts';

type ClusterAccessOptions = Parameters<typeof loadClusterAccess>[0];
let directory = '';
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'headwater-'));
  await mkdir(join(directory, 'account'));
  await mkdir(join(directory, 'home', '.kube'), { recursive: true });
  await writeFile(join(directory, 'account', 'token'), 'pod-token\n');
  await writeFile(join(directory, 'account', 'ca.crt'), 'POD CA');
  await writeFile(join(directory, 'account', 'namespace'), 'kube-system\n');
  await writeFile(join(directory, 'relative.pem'), 'RELATIVE');
  await writeFile(join(directory, 'user-token'), 'file-token');
});

afterAll(() => rm(directory, { recursive: true }));

interface Config {
  readonly server?: string;
  readonly cluster?: object;
  readonly user?: object | null;
  readonly context?: object;
  readonly current?: string | null;
}

// JSON is YAML.
function configText({
  server = 'https://api.example:6443',
  cluster,
  user = {},
  context,
  current = 'main',
}: Config): string {
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    ...(current !== null && { 'current-context': current }),
    contexts: [{ name: 'main', context: { cluster: 'c', ...(user !== null && { user: 'u' }), ...context } }],
    clusters: [{ name: 'c', cluster: { server, ...cluster } }],
    users: user === null ? [] : [{ name: 'u', user }],
  });
}

async function write(name: string, config: Config | string): Promise<string> {
  const path = join(directory, name);
  await writeFile(path, typeof config === 'string' ? config : configText(config));
  return path;
}

function options(more: Partial<ClusterAccessOptions> = {}): ClusterAccessOptions {
  return {
    clock: new VirtualClock(),
    environment: {},
    serviceAccountDirectory: join(directory, 'account'),
    ...more,
  };
}

async function credentialsOf(config: Config): Promise<Credentials> {
  const access = await loadClusterAccess(options({ kubeconfig: await write('config', config) }));
  return access.credentials();
}

const inPod = { KUBERNETES_SERVICE_HOST: '10.96.0.1', KUBERNETES_SERVICE_PORT: '443' };

describe('the way to the cluster', () => {
  test('is the kubeconfig given, before everything else', async () => {
    const kubeconfig = await write('given', { context: { namespace: 'ours' } });

    const access = await loadClusterAccess(options({ kubeconfig, environment: inPod }));

    expect([access.server.href, access.source, access.namespace]).toEqual([
      'https://api.example:6443/',
      `context main of ${kubeconfig}`,
      'ours',
    ]);
  });

  test('is the service account when it runs in a pod', async () => {
    const access = await loadClusterAccess(options({ environment: inPod }));

    expect([access.server.href, access.namespace]).toEqual(['https://10.96.0.1/', 'kube-system']);
    expect(await access.credentials()).toMatchObject({
      headers: { authorization: 'Bearer pod-token' },
      tls: { ca: 'POD CA', insecure: false },
    });
  });

  test('is the service account at another address when one is configured, also with IPv6', async () => {
    const moved = await loadClusterAccess(options({ environment: inPod, apiServer: 'https://lb:6443' }));
    const six = await loadClusterAccess(
      options({ environment: { ...inPod, KUBERNETES_SERVICE_HOST: 'fd00::1' } }),
    );

    expect(moved.server.href).toBe('https://lb:6443/');
    expect((await moved.credentials()).headers).toEqual({ authorization: 'Bearer pod-token' });
    expect(six.server.href).toBe('https://[fd00::1]/');
  });

  test('is what KUBECONFIG lists, where the first of each name counts, or else ~/.kube/config', async () => {
    const first = await write('first', { server: 'https://first', current: null });
    const second = await write('second', { server: 'https://second' });
    await write('home/.kube/config', { server: 'https://home' });
    const environment = { HOME: join(directory, 'home') };

    const listed = await loadClusterAccess(
      options({ environment: { ...environment, KUBECONFIG: `${first}:${directory}/missing:${second}` } }),
    );
    const home = await loadClusterAccess(options({ environment }));

    expect([listed.server.href, home.server.href]).toEqual(['https://first/', 'https://home/']);
  });

  test('is the bare address when nothing else is configured', async () => {
    const access = await loadClusterAccess(options({ apiServer: 'http://127.0.0.1:8001' }));

    expect(access.server.href).toBe('http://127.0.0.1:8001/');
    expect((await access.credentials()).headers).toEqual({});
  });
});

describe('an error on the way to the cluster', () => {
  test.each<[string, () => Promise<Partial<ClusterAccessOptions>>, string, string]>([
    [
      'nothing anywhere',
      () => Promise.resolve({ environment: { HOME: join(directory, 'nowhere') } }),
      'KUBECONFIG_NOT_FOUND',
      'no kubeconfig at',
    ],
    ['no HOME either', () => Promise.resolve({}), 'KUBECONFIG_NOT_FOUND', 'give --k8s-kubeconfig-path'],
    [
      'a path to nothing',
      () => Promise.resolve({ kubeconfig: '/nowhere/config' }),
      'KUBECONFIG_NOT_FOUND',
      'there is no kubeconfig at /nowhere/config',
    ],
    ['no YAML', async () => ({ kubeconfig: await write('bad', '{') }), 'KUBECONFIG_INVALID', 'is not YAML'],
    [
      'a text',
      async () => ({ kubeconfig: await write('bad', 'hello') }),
      'KUBECONFIG_INVALID',
      'is no kubeconfig',
    ],
    [
      'no current context',
      async () => ({ kubeconfig: await write('bad', { current: null }) }),
      'KUBECONFIG_INVALID',
      'kubectl config use-context',
    ],
    [
      'a context that is not there',
      async () => ({ kubeconfig: await write('bad', { current: 'other' }) }),
      'KUBECONFIG_INVALID',
      'there is no other among the contexts',
    ],
    [
      'a cluster that is not there',
      async () => ({ kubeconfig: await write('bad', { context: { cluster: 'x' } }) }),
      'KUBECONFIG_INVALID',
      'there is no x among the clusters',
    ],
    [
      'a cluster without a server',
      async () => ({ kubeconfig: await write('bad', { server: '' }) }),
      'KUBECONFIG_INVALID',
      'server is missing',
    ],
    [
      'a server that is no address',
      async () => ({ kubeconfig: await write('bad', { server: 'api:6443' }) }),
      'KUBECONFIG_INVALID',
      'must begin with https://',
    ],
    [
      'an invalid address',
      () => Promise.resolve({ apiServer: 'ftp://x' }),
      'KUBECONFIG_INVALID',
      'must begin with https://',
    ],
    [
      'a provider that is no more',
      async () => ({ kubeconfig: await write('bad', { user: { 'auth-provider': { name: 'gcp' } } }) }),
      'KUBECONFIG_INVALID',
      'the auth-provider gcp no longer exists',
    ],
    [
      'a program without a command',
      async () => ({ kubeconfig: await write('bad', { user: { exec: { apiVersion: 'v1' } } }) }),
      'KUBECONFIG_INVALID',
      'users: u: user.exec is invalid',
    ],
  ])('names the cause: %s', async (_what, given, code, words) => {
    const loading = loadClusterAccess(options(await given()));

    await expect(loading).rejects.toMatchObject({ code });
    await expect(loading).rejects.toThrow(words);
  });
});

describe('the user of a kubeconfig', () => {
  const base64 = (text: string): string => Buffer.from(text).toString('base64');

  test.each<[string, Config, unknown]>([
    ['nobody', { user: null }, {}],
    ['a token', { user: { token: 't' } }, { authorization: 'Bearer t' }],
    [
      'a token file, relative to the kubeconfig',
      { user: { tokenFile: 'user-token', token: 't' } },
      { authorization: 'Bearer file-token' },
    ],
    [
      'a name and a password',
      { user: { username: 'a', password: 'b' } },
      { authorization: `Basic ${base64('a:b')}` },
    ],
    [
      'an impersonated user and groups',
      { user: { token: 't', as: 'jane', 'as-groups': ['dev', 'ops'] } },
      { authorization: 'Bearer t', 'impersonate-user': 'jane', 'impersonate-group': ['dev', 'ops'] },
    ],
  ])('is authenticated by %s', async (_what, config, headers) => {
    expect((await credentialsOf(config)).headers).toEqual(headers);
  });

  test.each<[string, Config, object]>([
    [
      'certificates as data',
      {
        cluster: { 'certificate-authority-data': base64('CA') },
        user: { 'client-certificate-data': base64('CERT'), 'client-key-data': base64('KEY') },
      },
      { ca: 'CA', cert: 'CERT', key: 'KEY', insecure: false },
    ],
    [
      'certificates as files, relative to the kubeconfig',
      {
        cluster: { 'certificate-authority': 'relative.pem' },
        user: { 'client-certificate': 'relative.pem', 'client-key': './relative.pem' },
      },
      { ca: 'RELATIVE', cert: 'RELATIVE', key: 'RELATIVE' },
    ],
    [
      'no verification, and another name',
      { cluster: { 'insecure-skip-tls-verify': true, 'tls-server-name': 'inner' } },
      { insecure: true, serverName: 'inner', ca: undefined },
    ],
  ])('brings %s', async (_what, config, tls) => {
    expect((await credentialsOf(config)).tls).toMatchObject(tls);
  });

  test.each<[string, string]>([
    ['certificate-authority-data', base64('CA')],
    ['certificate-authority', 'relative.pem'],
  ])('is refused with %s beside insecure-skip-tls-verify, as by kubectl', async (field, value) => {
    await expect(
      credentialsOf({ cluster: { [field]: value, 'insecure-skip-tls-verify': true } }),
    ).rejects.toMatchObject({
      code: 'KUBECONFIG_INVALID',
      message: expect.stringContaining('remove insecure-skip-tls-verify'),
    });
  });

  test.each<[string, Config, string | undefined]>([
    ['a certificate that is verified', {}, undefined],
    [
      'insecure-skip-tls-verify',
      { cluster: { 'insecure-skip-tls-verify': true } },
      'the kubeconfig sets insecure-skip-tls-verify',
    ],
    ['plain HTTP', { cluster: { server: 'http://127.0.0.1:1' } }, 'its address begins with http://'],
  ])('says whether nothing proves who answers: %s', async (_what, config, why) => {
    const access = await loadClusterAccess(options({ kubeconfig: await write('config', config) }));

    expect(access.unverified).toBe(why);
  });

  test('has a valid OpenID Connect token used', async () => {
    const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
    const token = `${part({ alg: 'none' })}.${part({ exp: 4102444800 })}.${part({})}`;

    const { headers } = await credentialsOf({
      user: { 'auth-provider': { name: 'oidc', config: { 'id-token': token } } },
    });

    expect(headers).toEqual({ authorization: `Bearer ${token}` });
  });

  test('uses the proxy of the environment for the server when the kubeconfig names none', async () => {
    const proxyFor = (server: URL): URL | undefined =>
      server.hostname === '10.96.0.1' ? undefined : new URL(`http://for-${server.host}`);
    const proxyOf = async (more: Partial<ClusterAccessOptions>): Promise<string | undefined> =>
      (await loadClusterAccess(options({ proxyFor, ...more }))).proxy?.href;

    const found = [
      await proxyOf({ kubeconfig: await write('config', {}) }),
      await proxyOf({ environment: inPod }),
      await proxyOf({ environment: inPod, apiServer: 'https://outside:8443' }),
      await proxyOf({ apiServer: 'https://bare' }),
    ];

    expect(found).toEqual([
      'http://for-api.example:6443/',
      undefined,
      'http://for-outside:8443/',
      'http://for-bare/',
    ]);
  });

  test('is refused with an unusable proxy, whose password is not shown', async () => {
    const kubeconfig = await write('config', { cluster: { 'proxy-url': 'socks5://user:secret@proxy' } });

    const loaded = loadClusterAccess(options({ kubeconfig }));

    await expect(loaded).rejects.toMatchObject({ code: 'KUBECONFIG_INVALID' });
    await expect(loaded).rejects.toThrow('the address of the proxy is "socks5://proxy"; it must begin with');
  });

  test('uses the proxy that the kubeconfig names for its cluster', async () => {
    const kubeconfig = await write('config', { cluster: { 'proxy-url': 'http://proxy:3128' } });

    const proxyFor = (): URL => new URL('http://of-the-environment:3128');

    expect((await loadClusterAccess(options({ kubeconfig, proxyFor }))).proxy?.href).toBe(
      'http://proxy:3128/',
    );
  });

  test('keeps one object while its credentials stay the same, so that connections are kept', async () => {
    const access = await loadClusterAccess(options({ environment: inPod }));

    const [first, second] = await Promise.all([access.credentials(), access.credentials()]);

    expect(first).toBe(second);
    expect(await access.credentials()).toBe(first);
  });
});

describe('a credential program', () => {
  /** Counts its runs in a file, and gives the count as its token. */
  async function program(name: string, status: object, exit = 0): Promise<string> {
    const path = join(directory, name);
    const runs = `${path}.runs`;
    await writeFile(runs, '');
    await writeFile(
      path,
      [
        `#!${process.execPath}`,
        `const { appendFileSync, readFileSync } = require('node:fs');`,
        `appendFileSync(${JSON.stringify(runs)}, process.env.KUBERNETES_EXEC_INFO + process.env.ADDED + '\\n');`,
        `const run = readFileSync(${JSON.stringify(runs)}, 'utf8').trim().split('\\n').length;`,
        `if (${exit}) { console.error('please log in'); process.exit(${exit}); }`,
        `console.log(JSON.stringify({ kind: 'ExecCredential', status: { token: 'run-' + run, ...${JSON.stringify(status)} } }));`,
      ].join('\n'),
    );
    await chmod(path, 0o755);
    return path;
  }

  async function runsOf(path: string): Promise<string[]> {
    return (await readFile(`${path}.runs`, 'utf8')).split('\n').filter((line) => line !== '');
  }

  const exec = (command: string, more: object = {}): Config => ({
    user: {
      exec: {
        apiVersion: 'client.authentication.k8s.io/v1',
        command,
        env: [{ name: 'ADDED', value: '!' }],
        ...more,
      },
    },
  });

  test('runs once for all requests that wait, gets the permitted variables, and its token is kept', async () => {
    const path = await program('plain', {});
    const kubeconfig = await write('config', exec('./plain', { provideClusterInfo: true }));
    const access = await loadClusterAccess(options({ kubeconfig, environment: process.env }));

    const all = await Promise.all(Array.from({ length: 5 }, () => access.credentials()));
    await access.credentials();

    expect(all.map(({ headers }) => headers)).toEqual(
      Array.from({ length: 5 }, () => ({ authorization: 'Bearer run-1' })),
    );
    const [info = '', ...others] = await runsOf(path);
    expect(others).toEqual([]);
    expect(JSON.parse(info.slice(0, -1))).toMatchObject({
      apiVersion: 'client.authentication.k8s.io/v1',
      kind: 'ExecCredential',
      spec: { interactive: false, cluster: { server: 'https://api.example:6443' } },
    });
  });

  test('runs again shortly before its token expires by the wall clock', async () => {
    const clock = new VirtualClock(Date.UTC(2026, 0, 1));
    await program('expiring', { expirationTimestamp: '2026-01-01T00:15:00Z' });
    const kubeconfig = await write('config', exec('./expiring'));
    const access = await loadClusterAccess(options({ kubeconfig, clock, environment: process.env }));
    const token = async (): Promise<unknown> => (await access.credentials()).headers['authorization'];

    const first = await token();
    await clock.advance(14 * 60_000);
    const still = await token();
    await clock.advance(55_000);
    const next = await token();

    expect([first, still, next]).toEqual(['Bearer run-1', 'Bearer run-1', 'Bearer run-2']);
  });

  test('can return a client certificate', async () => {
    await program('certificate', { clientCertificateData: 'CERT', clientKeyData: 'KEY' });

    const kubeconfig = await write('config', exec('./certificate'));
    const access = await loadClusterAccess(options({ kubeconfig, environment: process.env }));

    expect((await access.credentials()).tls).toMatchObject({ cert: 'CERT', key: 'KEY' });
  });

  test.each<[string, () => Promise<unknown>, object, string]>([
    [
      'fails',
      () => program('failing', {}, 3),
      { installHint: 'see the manual' },
      'it ended with 3; run it by hand',
    ],
    ['is not there', () => Promise.resolve(), {}, 'the credential program ./failing failed'],
    [
      'prints no credential',
      () => write('failing', '#!/bin/sh\necho hello\n'),
      {},
      'the credential program ./failing failed',
    ],
  ])('is reported as an error with its cause when it %s', async (_what, make, more, words) => {
    await rm(join(directory, 'failing'), { force: true });
    await make();
    await chmod(join(directory, 'failing'), 0o755).catch(() => undefined);
    const kubeconfig = await write('config', exec('./failing', more));
    const access = await loadClusterAccess(options({ kubeconfig, environment: process.env }));

    await expect(access.credentials()).rejects.toMatchObject({ code: 'KUBERNETES_CREDENTIALS' });
    await expect(access.credentials()).rejects.toThrow(words);
  });

  test.each([
    [
      'in arguments, variables and standard error',
      '#!/bin/sh\necho planted-stderr >&2\necho planted-out\nexit 3\n',
    ],
    ['in output that is no JSON', '#!/bin/sh\necho planted-out\n'],
    ['in output that is no ExecCredential', `#!/bin/sh\necho '{"status":"planted-out"}'\n`],
  ])('keeps its secrets out of the error when it fails: %s', async (_, script) => {
    await write('failing', script);
    await chmod(join(directory, 'failing'), 0o755);
    const kubeconfig = await write(
      'config',
      exec('./failing', {
        args: ['planted'],
        env: [{ name: 'A', value: 'planted' }],
        installHint: 'planted',
      }),
    );
    const access = await loadClusterAccess(options({ kubeconfig, environment: process.env }));
    const error: unknown = await access.credentials().catch((reason: unknown) => reason);
    expect(JSON.stringify(describeError(error))).toMatch(
      /^(?!.*planted).*the credential program \.\/failing failed/,
    );
  });

  test('is refused with the place only when the kubeconfig is no YAML', async () => {
    const kubeconfig = await write('bad', 'users:\n- token: "planted-token\n  password: planted: : x\n');
    const error: unknown = await loadClusterAccess(options({ kubeconfig })).catch(
      (reason: unknown) => reason,
    );

    expect(JSON.stringify(describeError(error))).toMatch(/^(?!.*planted).*is not YAML: line \d+, column \d+/);
  });

  test('is ended after a minute when it hangs', async () => {
    const clock = new VirtualClock();
    await write('failing', '#!/bin/sh\nexec sleep 600\n');
    await chmod(join(directory, 'failing'), 0o755);
    const kubeconfig = await write('config', exec('./failing'));
    const access = await loadClusterAccess(options({ kubeconfig, clock, environment: process.env }));

    const outcome = access.credentials().then(() => 'answered', String);
    await clock.advance(60_000);

    expect(await outcome).toContain('within 60000 ms');
  });
});
