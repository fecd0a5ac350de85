// Calls to Alibaba Cloud over connections that a relay has silenced: requests arrive, and their answers get lost.
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { AlibabaApi } from '../../../src/providers/alibaba/alibaba-api.ts';
import type { RpcAction } from '../../../src/providers/alibaba/rpc-api.ts';
import { connecting, endOf, type SilencedCalls, silencedCalls } from '../../support/silenced-calls.ts';

let calls: SilencedCalls;
let api: AlibabaApi;
let nonces: unknown[];

beforeEach(async () => {
  nonces = [];
  calls = await silencedCalls(({ url = '', headers }, response) => {
    const { searchParams } = new URL(url, 'http://localhost');
    nonces.push(headers['x-acs-signature-nonce']);
    response.writeHead(200, { 'content-type': 'application/json' }).end('{"RequestId":"1"}');
    return Promise.resolve({
      action: String(headers['x-acs-action']),
      token: searchParams.get('ClientToken'),
    });
  });
  process.env['ALIBABA_CLOUD_ACCESS_KEY_ID'] = 'LTAIHEADWATEREXAMPLE';
  process.env['ALIBABA_CLOUD_ACCESS_KEY_SECRET'] = 'headwater-example-secret';
  const { relay, clock } = calls;
  api = new AlibabaApi({
    http: {
      ...connecting,
      clock,
    },
    regionId: 'cn-hangzhou',
    endpoints: { ecs: relay.url, vpc: relay.url },
    metadataEndpoint: 'http://127.0.0.1:9',
    environment: process.env,
  });
});

afterEach(async () => {
  api.close();
  await calls.close();
});

function send(action: RpcAction): Promise<string> {
  // The server reads nothing of it but the token.
  const input = (action === 'CreateNetworkInterface' ? { clientToken: 'token-1' } : {}) as never;
  const { signal } = new AbortController();
  return endOf(api.send(action, input, { signal, onSend: () => undefined }));
}

describe('a call to Alibaba Cloud over a connection that was idle and is silent', () => {
  test.each<[RpcAction, string]>([
    ['DescribeVSwitches', 'DescribeVSwitches'],
    ['CreateNetworkInterface', 'CreateNetworkInterface token-1'],
  ])('is sent again over a new one, with a nonce of its own: %s', async (action, call) => {
    await send('DescribeVpcs');
    calls.relay.silence('fromServer');

    const sent = send(action);
    await calls.whenArrived(2);
    await calls.clock.advance(5000);

    expect(await sent).toBe('answered');
    expect(calls.arrived).toEqual(['DescribeVpcs', call, call]);
    expect(new Set(nonces).size).toBe(3);
    expect(calls.relay.connections()).toBe(2);
  });

  test.each<[RpcAction]>([
    ['AttachNetworkInterface'],
    ['UnassignPrivateIpAddresses'],
    ['DeleteNetworkInterface'],
  ])('does not use it where a second one could do harm: %s', async (action) => {
    await send('DescribeVpcs');
    calls.relay.silence('fromServer');
    await calls.clock.advance(1001);

    expect(await send(action)).toBe('answered');
    expect(calls.arrived).toEqual(['DescribeVpcs', action]);
    expect(calls.relay.connections()).toBe(2);
  });
});
