// Calls to Alibaba Cloud over connections that a relay has silenced: requests arrive, and their answers get lost.
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { AlibabaApi } from '../../../src/providers/alibaba/alibaba-api.ts';
import type { RpcAction } from '../../../src/providers/alibaba/rpc-api.ts';
import { VirtualClock } from '../../../src/runtime/virtual-clock.ts';
import { type LoopbackServer, loopbackServer } from '../../support/loopback-server.ts';
import { type SilentRelay, startSilentRelay } from '../../support/silent-relay.ts';

let server: LoopbackServer;
let relay: SilentRelay;
let api: AlibabaApi;
let clock: VirtualClock;
/** Actions and client tokens of the calls that arrived. */
let arrived: string[];
let nonces: unknown[];

beforeEach(async () => {
  [arrived, nonces] = [[], []];
  server = await loopbackServer(({ url = '', headers }, response) => {
    const { searchParams } = new URL(url, 'http://localhost');
    arrived.push(`${String(headers['x-acs-action'])} ${searchParams.get('ClientToken') ?? ''}`.trim());
    nonces.push(headers['x-acs-signature-nonce']);
    response.writeHead(200, { 'content-type': 'application/json' }).end('{"RequestId":"1"}');
  });
  relay = await startSilentRelay(server.url);
  clock = new VirtualClock();
  process.env['ALIBABA_CLOUD_ACCESS_KEY_ID'] = 'LTAIHEADWATEREXAMPLE';
  process.env['ALIBABA_CLOUD_ACCESS_KEY_SECRET'] = 'headwater-example-secret';
  api = new AlibabaApi({
    regionId: 'cn-hangzhou',
    endpoint: relay.url,
    metadataEndpoint: 'http://127.0.0.1:9',
    environment: process.env,
    connections: 4,
    connectionTimeout: 5000,
    clock,
    proxyFor: () => undefined,
    onRoute: () => undefined,
  });
});

afterEach(async () => {
  api.close();
  await relay.close();
  await server.close();
});

function send(action: RpcAction, signal = new AbortController().signal): Promise<string> {
  // The server reads nothing of it but the token.
  const input = (action === 'CreateNetworkInterface' ? { clientToken: 'token-1' } : {}) as never;
  return api.send(action, input, { signal, onSend: () => undefined }).then(
    () => 'answered',
    (error: unknown) => String(error),
  );
}

/** Waits for calls to arrive; each turn lets sockets work. */
async function until(isSo: () => boolean): Promise<void> {
  for (let turn = 0; !isSo(); turn++) {
    if (turn > 100_000) throw new Error('it did not happen');
    await new Promise<void>((resolve) => {
      setImmediate(resolve);
    });
  }
}

describe('a call to Alibaba Cloud over a connection that was idle and is silent', () => {
  test.each<[RpcAction, string]>([
    ['DescribeVSwitches', 'DescribeVSwitches'],
    ['CreateNetworkInterface', 'CreateNetworkInterface token-1'],
  ])('is sent again over a new one, with a nonce of its own: %s', async (action, call) => {
    await send('DescribeVpcs');
    relay.silence('fromServer');

    const sent = send(action);
    await until(() => arrived.length === 2);
    await clock.advance(5000);

    expect(await sent).toBe('answered');
    expect(arrived).toEqual(['DescribeVpcs', call, call]);
    expect(new Set(nonces).size).toBe(3);
    expect(relay.connections()).toBe(2);
  });

  test.each<[RpcAction]>([
    ['AttachNetworkInterface'],
    ['UnassignPrivateIpAddresses'],
    ['DetachNetworkInterface'],
    ['DeleteNetworkInterface'],
  ])('does not use it where a second one could do harm: %s', async (action) => {
    await send('DescribeVpcs');
    relay.silence('fromServer');
    await clock.advance(1001);

    expect(await send(action)).toBe('answered');
    expect(arrived).toEqual(['DescribeVpcs', action]);
    expect(relay.connections()).toBe(2);
  });
});
