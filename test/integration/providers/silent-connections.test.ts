// Calls to EC2 over connections that a relay has silenced: it acknowledges everything and passes nothing on.
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { text } from 'node:stream/consumers';
import { AwsApi } from '../../../src/providers/aws/aws-api.ts';
import type { Ec2Action } from '../../../src/providers/aws/ec2-api.ts';
import { VirtualClock } from '../../../src/runtime/virtual-clock.ts';
import { type LoopbackServer, loopbackServer } from '../../support/loopback-server.ts';
import { type SilentRelay, startSilentRelay } from '../../support/silent-relay.ts';

let server: LoopbackServer;
let relay: SilentRelay;
let api: AwsApi;
let clock: VirtualClock;
/** Actions and client tokens of the calls that arrived. */
let arrived: string[];

beforeEach(async () => {
  arrived = [];
  server = await loopbackServer((request, response) => {
    void text(request).then((body) => {
      const form = new URLSearchParams(body);
      const action = form.get('Action');
      arrived.push(`${action} ${form.get('ClientToken') ?? ''}`.trim());
      response.writeHead(200, { 'content-type': 'text/xml' }).end(`<${action}Response></${action}Response>`);
    });
  });
  relay = await startSilentRelay(server.url);
  clock = new VirtualClock();
  process.env['AWS_ACCESS_KEY_ID'] = 'AKIAINTEGRATION00001';
  process.env['AWS_SECRET_ACCESS_KEY'] = 'integration-secret';
  api = new AwsApi({
    region: 'us-east-1',
    endpoint: relay.url,
    connections: 4,
    clock,
    connectionTimeout: 5000,
    proxyFor: () => undefined,
    onRoute: () => undefined,
  });
});

afterEach(async () => {
  api.close();
  await relay.close();
  await server.close();
});

function send(action: Ec2Action, signal = new AbortController().signal): Promise<string> {
  // The server reads nothing of it but the token.
  const input = (action === 'CreateNetworkInterface' ? { ClientToken: 'token-1' } : {}) as never;
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

describe('a call to EC2 over a connection that was idle and is silent', () => {
  test.each<[Ec2Action, string]>([
    ['DescribeSubnets', 'DescribeSubnets'],
    ['CreateNetworkInterface', 'CreateNetworkInterface token-1'],
    ['ModifyNetworkInterfaceAttribute', 'ModifyNetworkInterfaceAttribute'],
  ])('is sent again over a new one after five seconds, where that does no harm: %s', async (action, call) => {
    await send('DescribeVpcs');
    relay.silence('fromServer');

    const sent = send(action);
    await until(() => arrived.length === 2);
    await clock.advance(5000);

    expect(await sent).toBe('answered');
    expect(arrived).toEqual(['DescribeVpcs', call, call]);
    expect(relay.connections()).toBe(2);
  });

  test.each<[Ec2Action]>([
    ['AssignPrivateIpAddresses'],
    ['UnassignPrivateIpAddresses'],
    ['AttachNetworkInterface'],
    ['DetachNetworkInterface'],
    ['DeleteNetworkInterface'],
    ['AssociateAddress'],
  ])('does not use it where a second one could do harm: %s', async (action) => {
    await send('DescribeVpcs');
    relay.silence('fromServer');
    await clock.advance(1001);

    const sent = await send(action);

    expect(sent).toBe('answered');
    expect(arrived).toEqual(['DescribeVpcs', action]);
    expect(relay.connections()).toBe(2);
  });

  test('is never sent twice where that could do harm, even if the connection was in use a moment ago', async () => {
    await send('DescribeVpcs');
    relay.silence('fromServer');
    const end = new AbortController();

    const sent = send('AssignPrivateIpAddresses', end.signal);
    await until(() => arrived.length === 2);
    await clock.advance(30_000);
    end.abort();

    expect(await sent).not.toBe('answered');
    expect(arrived).toEqual(['DescribeVpcs', 'AssignPrivateIpAddresses']);
  });

  test('is followed by calls over new connections only', async () => {
    await Promise.all([send('DescribeVpcs'), send('DescribeVpcs'), send('DescribeVpcs')]);
    relay.silence('fromServer');

    const sent = send('DescribeSubnets');
    await until(() => arrived.length === 4);
    await clock.advance(5000);
    const [first, second] = [await sent, await send('DescribeInstances')];

    expect([first, second]).toEqual(['answered', 'answered']);
    expect(arrived.slice(3)).toEqual(['DescribeSubnets', 'DescribeSubnets', 'DescribeInstances']);
    expect(relay.connections()).toBe(4);
  });
});
