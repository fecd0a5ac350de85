import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Readable } from 'node:stream';
import { AwsApi } from '../../../src/providers/aws/aws-api.ts';
import { systemClock } from '../../../src/runtime/system-clock.ts';
import { type HttpFront, startHttpFront } from '../../../src/simulator/http-front.ts';

const answer =
  '<DescribeVpcsResponse xmlns="http://ec2.amazonaws.com/doc/2016-11-15/"><requestId>r-1</requestId><vpcSet><item><vpcId>vpc-1</vpcId></item></vpcSet></DescribeVpcsResponse>';
const refusal =
  '<Response><Errors><Error><Code>ExpiredToken</Code><Message>revoked</Message></Error></Errors><RequestID>r-2</RequestID></Response>';

let given = 0;
let container: HttpFront;
/** The key of each request. */
const signedWith: string[] = [];
let accepted = '';

beforeAll(async () => {
  const serve = () => {
    const body = JSON.stringify({
      AccessKeyId: `KEY${++given}`,
      SecretAccessKey: 'secret',
      Token: `token-${given}`,
      Expiration: new Date(systemClock.wall() + 3_600_000).toISOString(),
    });
    const headers = { 'content-type': 'application/json' };
    return Promise.resolve({ kind: 'answer', status: 200, headers, body } as const);
  };
  container = await startHttpFront({ answer: serve, port: 0 });
  for (const name of Object.keys(process.env))
    if (name.startsWith('AWS_')) Reflect.deleteProperty(process.env, name);
  process.env['AWS_CONTAINER_CREDENTIALS_FULL_URI'] = `${container.url}/credentials`;
});

afterAll(() => container?.close());

const handle = ({ headers }: { readonly headers: Readonly<Record<string, string>> }): Promise<object> => {
  const key = /Credential=([^/]+)\//.exec(headers['authorization'] ?? '')?.[1] ?? '';
  signedWith.push(key);
  const [statusCode, body] = key === accepted ? [200, answer] : [400, refusal];
  return Promise.resolve({ response: { statusCode, headers: {}, body: Readable.from([Buffer.from(body)]) } });
};

describe('temporary credentials of AWS', () => {
  test('are renewed at once if EC2 refuses them before their end', async () => {
    const api = new AwsApi({
      region: 'eu-central-1',
      endpoint: 'http://127.0.0.1:1',
      http: {
        connections: 1,
        clock: systemClock,
        connectionTimeout: 1000,
        proxyFor: () => undefined,
        onRoute: () => undefined,
      },
      handler: { handle } as never,
    });
    const send = (): Promise<object> =>
      api.send('DescribeVpcs', {}, { signal: new AbortController().signal, onSend: () => undefined });
    accepted = 'KEY1';
    await send();
    accepted = 'KEY2';

    expect(await Promise.all([send(), send()])).toMatchObject([
      { Vpcs: [{ VpcId: 'vpc-1' }] },
      { Vpcs: [{ VpcId: 'vpc-1' }] },
    ]);
    expect(signedWith).toEqual(['KEY1', 'KEY1', 'KEY1', 'KEY2', 'KEY2']);
    accepted = 'none';
    await expect(send()).rejects.toMatchObject({ code: 'ExpiredToken', result: 'refused' });
    await expect(send()).rejects.toMatchObject({ code: 'ExpiredToken' });
    expect(given).toBe(3);
    api.close();
  });
});
