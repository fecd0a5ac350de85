import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Random } from '../../../../src/runtime/random.ts';
import { systemClock } from '../../../../src/runtime/system-clock.ts';
import { type AlibabaServer, startAlibabaServer } from '../../../../src/simulator/alibaba/alibaba-server.ts';
import { readAlibabaTopology } from '../../../../src/simulator/alibaba/alibaba-topology.ts';
import { createAlibaba } from '../../../../src/simulator/alibaba/create-alibaba.ts';
import { olderCall, type Signing, signedCall } from './signed-request.ts';

const topology = `
cloud: alibabacloud
credentials:
  - { accessKeyId: LTAIHEADWATEREXAMPLE, accessKeySecret: headwater-example-secret }
  - { accessKeyId: STS.temporary, accessKeySecret: temporary, securityToken: token, user: role }
vpcs: [{ name: main, blocks: [10.0.0.0/16] }]
vSwitches: [{ id: vsw-a, name: a, zone: cn-hangzhou-a, block: 10.0.0.0/24 }]
instances: [{ id: i-1, name: one, type: ecs.g7.large, vSwitch: a, tags: { sign: 'a b+c/ü*' } }]
latency: { scale: 0 }
consistency: { visibilityDelayMs: 0, listingLagMs: 0 }
`;

let server: AlibabaServer;
let stop: () => void;

beforeAll(async () => {
  const read = readAlibabaTopology(topology);
  if ('problems' in read) throw new Error(read.problems.join('\n'));
  const { gateway, clock } = createAlibaba({
    topology: read.topology,
    clock: systemClock,
    random: new Random('server'),
  });
  server = await startAlibabaServer({ gateway, clock: systemClock, port: 0 });
  stop = () => clock.stop();
});

afterAll(async () => {
  stop();
  await server.close();
});

describe('Alibaba Cloud on a socket', () => {
  test('answers signed requests, whatever characters they have', async () => {
    const { status, body } = await signedCall(server.url, 'DescribeInstances', {
      'Tag.1.Key': 'sign',
      'Tag.1.Value': 'a b+c/ü*',
    });
    expect(status).toBe(200);
    expect(body).toMatchObject({
      TotalCount: 1,
      RequestId: expect.stringMatching(/^[0-9A-F]{8}(-[0-9A-F]{4}){3}-[0-9A-F]{12}$/) as unknown,
      Instances: { Instance: [{ InstanceId: 'i-1' }] },
    });
  });

  test('serves the API of VPCs at the same address', async () => {
    const { body } = await signedCall(server.url, 'DescribeVSwitches', {}, { version: '2016-04-28' });
    expect(body).toMatchObject({
      VSwitches: { VSwitch: [{ VSwitchId: 'vsw-a', AvailableIpAddressCount: 251 }] },
    });
  });

  const refusals: readonly [string, Signing, number, string][] = [
    ['an unknown key', { keyId: 'LTAIunknown' }, 404, 'InvalidAccessKeyId.NotFound'],
    ['another secret', { secret: 'other' }, 400, 'SignatureDoesNotMatch'],
    ['a late clock', { ahead: -1000 }, 400, 'InvalidTimeStamp.Expired'],
    ['an action of the other product', { version: '2016-04-28' }, 404, 'InvalidAction.NotFound'],
    ['an unknown version', { version: '2010-01-01' }, 400, 'InvalidVersion'],
    [
      'another action than it signed',
      { changed: { 'x-acs-action': 'DescribeVpcs' } },
      400,
      'SignatureDoesNotMatch',
    ],
    ['a header that it did not sign', { changed: { 'x-acs-colour': 'red' } }, 400, 'IncompleteSignature'],
    ['no signature', { changed: { authorization: '' } }, 400, 'IncompleteSignature'],
  ];
  test.each(refusals)('refuses %s', async (_, signing, status, code) => {
    const answer = await signedCall(server.url, 'DescribeInstances', {}, signing);
    expect(answer).toMatchObject({ status, body: { Code: code, HostId: 'ecs.cn-hangzhou.aliyuncs.com' } });
  });

  test('refuses a request that comes twice', async () => {
    const nonce = 'twice';
    expect((await signedCall(server.url, 'DescribeInstances', {}, { nonce })).status).toBe(200);
    const again = await signedCall(server.url, 'DescribeInstances', {}, { nonce });
    expect(again.body).toMatchObject({ Code: 'SignatureNonceUsed' });
  });
});

describe('the older signature', () => {
  test('is accepted, in the query of any method', async () => {
    const { status, body } = await olderCall(server.url, 'DescribeInstances', {
      'Tag.1.Key': 'sign',
      'Tag.1.Value': 'a b+c/ü*',
    });
    expect({ status, body }).toMatchObject({ status: 200, body: { TotalCount: 1 } });
  });

  test.each([
    ['another secret', {}, { secret: 'other' }, 'SignatureDoesNotMatch'],
    ['another method of signing', { SignatureMethod: 'HMAC-MD5' }, {}, 'InvalidSignatureMethod'],
    ['no time', { Timestamp: '' }, {}, 'MissingTimestamp'],
    ['an unknown key', { AccessKeyId: 'LTAIunknown' }, {}, 'InvalidAccessKeyId.NotFound'],
    ['answers in XML', { Format: 'XML' }, {}, 'InvalidFormat'],
  ])('is refused with %s', async (_, parameters, signing, code) => {
    const { body } = await olderCall(server.url, 'DescribeInstances', parameters, signing);
    expect(body).toMatchObject({ Code: code });
  });
});

describe('the metadata of an instance', () => {
  const read = async (path: string, headers: Readonly<Record<string, string>> = {}): Promise<string> => {
    const answer = await fetch(`${server.metadataUrl}/latest/meta-data/${path}`, { headers });
    return answer.ok ? answer.text() : String(answer.status);
  };

  test('tells where it is', async () => {
    const paths = [
      'region-id',
      'zone-id',
      'instance-id',
      'instance/instance-type',
      'vpc-cidr-block',
      'colour',
    ];
    expect(await Promise.all(paths.map((path) => read(path)))).toEqual([
      'cn-hangzhou',
      'cn-hangzhou-a',
      'i-1',
      'ecs.g7.large',
      '10.0.0.0/16',
      '404',
    ]);
  });

  test('has keys of its role, which requests need with their token', async () => {
    const session = await fetch(`${server.metadataUrl}/latest/api/token`, {
      method: 'PUT',
      headers: { 'X-aliyun-ecs-metadata-token-ttl-seconds': '60' },
    });
    const headers = { 'X-aliyun-ecs-metadata-token': await session.text() };
    const role = await read('ram/security-credentials/', headers);
    const keys: unknown = JSON.parse(await read(`ram/security-credentials/${role}`, headers));
    expect(keys).toMatchObject({ AccessKeyId: 'STS.temporary', SecurityToken: 'token', Code: 'Success' });
    const signing = { keyId: 'STS.temporary', secret: 'temporary' };
    const without = await signedCall(server.url, 'DescribeInstances', {}, signing);
    expect(without.body).toMatchObject({ Code: 'MissingSecurityToken' });
    const whole = await signedCall(server.url, 'DescribeInstances', {}, { ...signing, token: 'token' });
    expect(whole.status).toBe(200);
    expect(await read('region-id', { 'X-aliyun-ecs-metadata-token': 'other' })).toBe('401');
  });
});
