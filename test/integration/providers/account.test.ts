import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { AwsApi, type AwsApiOptions } from '../../../src/providers/aws/aws-api.ts';
import { stsEndpointBeside } from '../../../src/providers/aws/sts-api.ts';
import { systemClock } from '../../../src/runtime/system-clock.ts';
import { startTokenService, type TokenService } from '../../support/security-token-service.ts';

const variables = ['AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY', 'AWS_ENDPOINT_URL_STS'] as const;
const before = variables.map((name) => [name, process.env[name]] as const);
const ended: (() => Promise<void> | void)[] = [];

beforeEach(() => {
  process.env['AWS_ACCESS_KEY_ID'] = 'AKIATEST';
  process.env['AWS_SECRET_ACCESS_KEY'] = 'secret';
});

afterEach(async () => {
  for (const [name, value] of before) {
    if (value === undefined) delete process.env[name];
    else process.env[name] = value;
  }
  for (const end of ended.splice(0)) await end();
});

async function tokenService(account?: string): Promise<TokenService> {
  const service = await startTokenService([], () => 0, account);
  ended.push(() => service.close());
  return service;
}

function apiWith(options: Partial<AwsApiOptions>): { api: AwsApi; routes: string[] } {
  const routes: string[] = [];
  const api = new AwsApi({
    region: 'eu-west-1',
    endpoint: undefined,
    http: {
      connections: 2,
      connectionTimeout: 300,
      clock: systemClock,
      proxyFor: () => undefined,
      onRoute: (host) => routes.push(host),
    },
    ...options,
  });
  ended.push(() => api.close());
  return { api, routes };
}

const { signal } = new AbortController();

describe('the account of the credentials', () => {
  test('is requested from STS at the EC2 endpoint when that is an emulator, in the same way', async () => {
    const service = await tokenService('123412341234');
    const { api, routes } = apiWith({ endpoint: service.url });

    const account = await api.account(signal);

    expect(account).toBe('123412341234');
    expect(routes).toEqual([new URL(service.url).host]);
    expect(service.asked).toEqual(['GetCallerIdentity null']);
  });

  test('is requested from STS where the environment says so', async () => {
    const service = await tokenService('123412341234');
    process.env['AWS_ENDPOINT_URL_STS'] = service.url;
    const { api } = apiWith({ endpoint: 'http://127.0.0.1:9', hasStsEndpoint: true });

    expect(await api.account(signal)).toBe('123412341234');
  });

  test('is left out when the role may not read it', async () => {
    const service = await tokenService();
    const { api } = apiWith({ endpoint: service.url });

    await expect(api.account(signal)).rejects.toMatchObject({ name: 'AccessDenied' });
  });

  test('leaves the connections of EC2 as they are', async () => {
    const service = await tokenService('123412341234');
    const { api } = apiWith({ endpoint: service.url });

    const accounts = [await api.account(signal), await api.account(signal)];

    expect(accounts).toEqual(['123412341234', '123412341234']);
  });
});

test.each<[ec2: string | undefined, sts: string | undefined]>([
  [undefined, undefined],
  ['https://ec2.eu-west-1.amazonaws.com', undefined],
  ['https://vpce-1.ec2.eu-west-1.vpce.amazonaws.com', undefined],
  ['https://ec2.cn-north-1.amazonaws.com.cn', undefined],
  ['https://ec2.eu-west-1.api.aws', undefined],
  ['http://localhost:4566', 'http://localhost:4566'],
  ['https://amazonaws.com.example.org', 'https://amazonaws.com.example.org'],
])('the STS endpoint beside the EC2 endpoint %s is %s', (ec2, sts) => {
  expect(stsEndpointBeside(ec2)).toBe(sts);
});
