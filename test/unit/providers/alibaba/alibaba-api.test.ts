import { describe, expect, test } from '@jest/globals';
import { Readable } from 'node:stream';
import { AlibabaApi } from '../../../../src/providers/alibaba/alibaba-api.ts';
import type { RequestSender } from '../../../../src/network/http-sender.ts';
import { systemClock } from '../../../../src/runtime/system-clock.ts';

const keys = { ALIBABA_CLOUD_ACCESS_KEY_ID: 'key', ALIBABA_CLOUD_ACCESS_KEY_SECRET: 'secret' };

async function hostsOf(endpoints: {
  ecs: string | undefined;
  vpc: string | undefined;
}): Promise<readonly string[]> {
  Object.assign(process.env, keys);
  const hosts: string[] = [];
  const sender: RequestSender = {
    send: ({ url }) => {
      hosts.push(url.host);
      const body = Readable.from([Buffer.from('{"RequestId":"r-1"}')]);
      return Promise.resolve({ statusCode: 200, headers: {}, body });
    },
    close: () => undefined,
  };
  const api = new AlibabaApi({
    regionId: 'cn-hangzhou',
    endpoints,
    sender,
    metadataEndpoint: 'http://127.0.0.1:9',
    environment: process.env,
    http: {
      connections: 1,
      connectionTimeout: 1000,
      clock: systemClock,
      proxyFor: () => undefined,
      onRoute: () => undefined,
    },
  });
  const sending = { signal: new AbortController().signal, onSend: () => undefined };
  await api.send('DescribeVpcs', {}, sending);
  await api.send('DescribeInstances', {}, sending);
  api.close();
  return hosts;
}

describe('a request to Alibaba Cloud', () => {
  test.each([
    [undefined, undefined, ['vpc-vpc.cn-hangzhou.aliyuncs.com', 'ecs-vpc.cn-hangzhou.aliyuncs.com']],
    ['https://ecs.inside', 'https://vpc.inside', ['vpc.inside', 'ecs.inside']],
    ['https://ecs.inside', undefined, ['vpc-vpc.cn-hangzhou.aliyuncs.com', 'ecs.inside']],
  ])('goes to the endpoint of its product: %j and %j', async (ecs, vpc, hosts) => {
    expect(await hostsOf({ ecs, vpc })).toEqual(hosts);
  });
});
