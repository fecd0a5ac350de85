import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { readNoProxy } from '../../../src/network/no-proxy.ts';
import { proxyFor } from '../../../src/network/proxies.ts';
import { AlibabaApi } from '../../../src/providers/alibaba/alibaba-api.ts';
import { failureOf } from '../../../src/providers/alibaba/errors.ts';
import { CallError } from '../../../src/providers/gate/cloud-call.ts';
import { Random } from '../../../src/runtime/random.ts';
import { systemClock } from '../../../src/runtime/system-clock.ts';
import { type AlibabaServer, startAlibabaServer } from '../../../src/simulator/alibaba/alibaba-server.ts';
import { createAlibaba } from '../../../src/simulator/alibaba/create-alibaba.ts';
import { certificateAuthority } from '../../../src/simulator/certificates.ts';
import { type HttpFront, type HttpRequest, startHttpFront } from '../../../src/simulator/http-front.ts';
import { type LocalProxy, startProxy } from '../../support/local-proxy.ts';
import { alibabaTopologyFrom } from '../../unit/simulator/alibaba/alibaba-rig.ts';

const temporary = {
  AccessKeyId: 'STSTEMPORARY0001',
  AccessKeySecret: 'secret-one',
  SecurityToken: 'session',
};
const roleArn = 'acs:ram::1234567890123456:role/headwater';
const providerArn = 'acs:ram::1234567890123456:oidc-provider/ack-rrsa-c0123456789';
const trusted = getCACertificates('default');
const authority = certificateAuthority('the token service');
const directory = mkdtempSync(join(tmpdir(), 'alibaba-credentials-'));
const tokenFile = join(directory, 'token');

/** What the token service is asked for, in its order. */
const asked: URLSearchParams[] = [];
let answer: (asked: URLSearchParams) => readonly [status: number, body: object];
let cloud: AlibabaServer;
let tokenService: HttpFront;
let proxy: LocalProxy;
const apis: AlibabaApi[] = [];

function lasting(ms: number): readonly [number, object] {
  const Expiration = new Date(systemClock.wall() + ms).toISOString().replace(/\.\d+Z$/, 'Z');
  return [200, { Credentials: { ...temporary, Expiration } }];
}

function serve({ url, body }: HttpRequest) {
  const request = new URLSearchParams(`${url.split('?')[1] ?? ''}&${body}`);
  asked.push(request);
  const [status, given] = answer(request);
  return Promise.resolve({ kind: 'answer', status, headers: {}, body: JSON.stringify(given) } as const);
}

beforeAll(async () => {
  const topology = alibabaTopologyFrom(`
cloud: alibabacloud
credentials:
  - { accessKeyId: ${temporary.AccessKeyId}, accessKeySecret: ${temporary.AccessKeySecret}, securityToken: ${temporary.SecurityToken}, user: nodes }
vpcs: [{ id: vpc-1, name: main, blocks: [10.0.0.0/16] }]
vSwitches: [{ name: a, zone: cn-hangzhou-a, block: 10.0.0.0/24 }]
instances: [{ name: node, type: ecs.g7.large, vSwitch: a }]
latency: { scale: 0 }
consistency: { visibilityDelayMs: 0, listingLagMs: 0 }
`);
  const { gateway } = createAlibaba({ topology, clock: systemClock, random: new Random('alibaba') });
  cloud = await startAlibabaServer({ gateway, clock: systemClock, port: 0 });
  const tls = authority.issue('sts.aliyuncs.com');
  tokenService = await startHttpFront({ answer: serve, port: 0, tls });
  proxy = await startProxy({ routes: { 'sts.aliyuncs.com:443': tokenService.url } });
  setDefaultCACertificates([...trusted, authority.cert]);
  writeFileSync(tokenFile, 'the-token-of-the-pod');
});

afterEach(() => {
  for (const api of apis.splice(0)) api.close();
  for (const name of Object.keys(process.env))
    if (name.startsWith('ALIBABA_CLOUD_')) Reflect.deleteProperty(process.env, name);
  asked.length = 0;
  setDefaultCACertificates([...trusted, authority.cert]);
});

afterAll(async () => {
  setDefaultCACertificates(trusted);
  await Promise.all([cloud.close(), tokenService.close(), proxy.close()]);
  rmSync(directory, { recursive: true });
});

/** With the proxy for every target that may have one. */
function connect(
  environment: Readonly<Record<string, string>>,
  metadataEndpoint = 'http://127.0.0.1:9',
  endpoint = cloud.url,
) {
  Object.assign(process.env, environment);
  const url = new URL(proxy.url);
  const proxies = { http: url, https: url, exempt: readNoProxy('') };
  const api = new AlibabaApi({
    regionId: 'cn-hangzhou',
    endpoints: { ecs: endpoint || undefined, vpc: endpoint || undefined },
    metadataEndpoint,
    environment: process.env,
    http: {
      connections: 10,
      connectionTimeout: 5000,
      clock: systemClock,
      proxyFor: (target) => proxyFor(target, proxies),
      onRoute: () => undefined,
    },
  });
  apis.push(api);
  return api;
}

async function networks(api: AlibabaApi): Promise<readonly unknown[]> {
  const sending = { signal: new AbortController().signal, onSend: () => undefined };
  const { vpcs } = await api.send('DescribeVpcs', { pageNumber: 1, pageSize: 1 }, sending);
  return (vpcs?.vpc ?? []).map(({ vpcId }) => vpcId);
}

/** What Headwater makes of the failure. */
async function failure(api: AlibabaApi): Promise<object> {
  const error: unknown = await networks(api).catch((reason: unknown) => reason);
  if (!(error instanceof CallError)) throw new Error('it does not fail', { cause: error });
  const { kind, code, message, credentials } = failureOf({ name: 'DescribeVpcs' }, error);
  return { kind, code, message, credentials };
}

const rrsa = {
  ALIBABA_CLOUD_ROLE_ARN: roleArn,
  ALIBABA_CLOUD_OIDC_PROVIDER_ARN: providerArn,
  ALIBABA_CLOUD_OIDC_TOKEN_FILE: tokenFile,
};

describe('the role of a service account (RRSA)', () => {
  test.each([
    ['within the VPC of the region', {}, 'sts-vpc.cn-hangzhou.aliyuncs.com'],
    ['where the environment says', { ALIBABA_CLOUD_STS_REGION: 'cn-beijing' }, 'sts.cn-beijing.aliyuncs.com'],
  ])('is asked for %s where the products are reached by their usual endpoints', async (_, more, host) => {
    const api = connect({ ...rrsa, ...more }, 'http://127.0.0.1:9', '');
    const before = proxy.asked.length;

    await expect(networks(api)).rejects.toThrow(host);
    expect(proxy.asked.slice(before)).toEqual([`CONNECT ${host}:443`]);
  });

  test('is taken again at once if the cloud refuses its session before the end', async () => {
    const revoked = { AccessKeyId: 'STS.revoked', AccessKeySecret: 'old', SecurityToken: 'old' };
    const Expiration = new Date(systemClock.wall() + 3_600_000).toISOString().replace(/\.\d+Z$/, 'Z');
    answer = () =>
      asked.length === 1 ? [200, { Credentials: { ...revoked, Expiration } }] : lasting(3_600_000);
    const api = connect(rrsa);

    expect(await Promise.all([networks(api), networks(api)])).toEqual([['vpc-1'], ['vpc-1']]);
    expect(asked).toHaveLength(2);
  });

  test('is taken through our proxy, for the token in the file, once for all calls that wait', async () => {
    answer = () => lasting(3_600_000);
    const api = connect(rrsa);
    const before = proxy.asked.length;

    const found = await Promise.all([networks(api), networks(api), networks(api)]);

    expect(found).toEqual([['vpc-1'], ['vpc-1'], ['vpc-1']]);
    expect(asked.map((each) => Object.fromEntries(each))).toEqual([
      expect.objectContaining({
        Action: 'AssumeRoleWithOIDC',
        RoleArn: roleArn,
        OIDCProviderArn: providerArn,
        OIDCToken: 'the-token-of-the-pod',
      }),
    ]);
    expect(proxy.asked.slice(before)).toEqual(['CONNECT sts.aliyuncs.com:443']);
  });

  test.each([
    [
      'an expired token',
      400,
      { Code: 'AuthenticationFail.OIDCToken.Expired', Message: 'This JSON Web Token has already expired.' },
      {
        kind: 'notAuthorized',
        code: 'CredentialsExpired',
        credentials: 'expired',
        message:
          'sts.aliyuncs.com answers 400 AuthenticationFail.OIDCToken.Expired This JSON Web Token has already expired.',
      },
    ],
    [
      'a role that trusts others',
      403,
      { Code: 'NoPermission', Message: 'You are not authorized to do this action.' },
      {
        kind: 'notAuthorized',
        code: 'CredentialsError',
        credentials: 'invalid',
        message: 'sts.aliyuncs.com answers 403 NoPermission You are not authorized to do this action.',
      },
    ],
    [
      'a token service that is down',
      503,
      {},
      {
        kind: 'unreachable',
        code: 'TokenServiceUnavailable',
        message: 'sts.aliyuncs.com answers 503',
        credentials: undefined,
      },
    ],
  ])('fails with what is wrong, and never falls back to the role of the instance: %s', async (...row) => {
    const [, status, body, expected] = row;
    answer = () => [status, body];
    const api = connect(rrsa, cloud.metadataUrl);

    expect(await failure(api)).toEqual(expected);

    answer = () => lasting(3_600_000);
    expect(await networks(api)).toEqual(['vpc-1']);
  });

  test('fails with the missing file', async () => {
    const api = connect({ ...rrsa, ALIBABA_CLOUD_OIDC_TOKEN_FILE: join(directory, 'missing') });

    expect(await failure(api)).toMatchObject({
      code: 'CredentialsError',
      message: expect.stringMatching(/^ENOENT.*missing/),
    });
  });

  test('is not asked of a token service whose certificate nothing trusts', async () => {
    setDefaultCACertificates(trusted);
    const api = connect(rrsa);

    expect(await failure(api)).toMatchObject({
      kind: 'unreachable',
      message: expect.stringMatching(/^cannot get credentials from sts.aliyuncs.com: .*certificate/),
    });
    expect(asked).toEqual([]);
  });
});

describe('a role of a profile', () => {
  test('is taken through our proxy too', async () => {
    answer = () => lasting(3_600_000);
    const file = join(directory, 'credentials');
    writeFileSync(
      file,
      `[default]\ntype=ram_role_arn\naccess_key_id=LTAI\naccess_key_secret=secret\nrole_arn=${roleArn}\nrole_session_name=one\n`,
    );
    const api = connect({ ALIBABA_CLOUD_CREDENTIALS_FILE: file });

    expect(await networks(api)).toEqual(['vpc-1']);
    expect(asked.map((each) => each.get('Action'))).toEqual(['AssumeRole']);
  });
});

describe('the role of the instance', () => {
  test('comes from the metadata service, which is reached without any proxy', async () => {
    const api = connect({}, cloud.metadataUrl);
    const before = proxy.asked.length;

    expect(await networks(api)).toEqual(['vpc-1']);
    expect(proxy.asked.slice(before)).toEqual([]);
  });

  test('comes from below the path of the endpoint, if it has one', async () => {
    const asked: string[] = [];
    const service = await startHttpFront({
      port: 0,
      answer: ({ method, url }) => {
        asked.push(url);
        const Expiration = new Date(systemClock.wall() + 3_600_000).toISOString().replace(/\.\d+Z$/, 'Z');
        const keys = JSON.stringify({ ...temporary, Code: 'Success', Expiration });
        const body = method === 'PUT' ? 'token' : url.endsWith('/nodes') ? keys : 'nodes';
        return Promise.resolve({ kind: 'answer', status: 200, headers: {}, body });
      },
    });
    const api = connect({}, `${service.url}/metadata`);

    expect(await networks(api)).toEqual(['vpc-1']);
    expect(asked.filter((url) => !url.startsWith('/metadata/latest/'))).toEqual([]);
    await service.close();
  });

  test('is missing: the failure names all that was looked for', async () => {
    const api = connect({}, 'http://127.0.0.1:9');

    expect(await failure(api)).toMatchObject({
      kind: 'notAuthorized',
      code: 'CredentialsError',
      message: expect.stringMatching(
        /^nothing has credentials\. a profile of the vendor's CLI: .* a profile: .* the RAM role of the instance: /,
      ),
    });
  });
});

describe('keys of the environment', () => {
  test('that are wrong are used all the same, instead of others', async () => {
    const keys = { ALIBABA_CLOUD_ACCESS_KEY_ID: 'LTAIANOTHER', ALIBABA_CLOUD_ACCESS_KEY_SECRET: 'x' };
    const api = connect({ ...rrsa, ...keys }, cloud.metadataUrl);

    expect(await failure(api)).toMatchObject({
      code: 'InvalidAccessKeyId.NotFound',
      credentials: 'invalid',
    });
    expect(asked).toEqual([]);
  });

  const keys = { ALIBABA_CLOUD_ACCESS_KEY_ID: 'LTAI', ALIBABA_CLOUD_ACCESS_KEY_SECRET: 'x' };
  const space = 'a space or a line break in it';
  const odd = 'a character in it that is not plain ASCII';
  test.each([
    ['the id of the AccessKey', space, { ALIBABA_CLOUD_ACCESS_KEY_ID: 'LTAI\n' }],
    ['the secret of the AccessKey', space, { ALIBABA_CLOUD_ACCESS_KEY_SECRET: 'x\n' }],
    ['the security token', space, { ALIBABA_CLOUD_SECURITY_TOKEN: 'token\n' }],
    ['the id of the AccessKey', odd, { ALIBABA_CLOUD_ACCESS_KEY_ID: 'LTAI\u0001' }],
    ['the secret of the AccessKey', odd, { ALIBABA_CLOUD_ACCESS_KEY_SECRET: 'x\u{1F600}' }],
    ['the security token', odd, { ALIBABA_CLOUD_SECURITY_TOKEN: 't\u00f6ken' }],
  ])('fail before anything is sent if %s has %s', async (name, what, changed) => {
    expect(await failure(connect({ ...keys, ...changed }))).toMatchObject({
      kind: 'notAuthorized',
      code: 'CredentialsError',
      credentials: 'invalid',
      message: `${name} has ${what}`,
    });
  });
});
