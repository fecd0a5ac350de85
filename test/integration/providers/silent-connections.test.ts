// Calls to EC2 over connections that a relay has silenced: it acknowledges everything and passes nothing on.
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { text } from 'node:stream/consumers';
import { AwsApi } from '../../../src/providers/aws/aws-api.ts';
import type { Ec2Action } from '../../../src/providers/aws/ec2-api.ts';
import { connecting, endOf, type SilencedCalls, silencedCalls } from '../../support/silenced-calls.ts';

let calls: SilencedCalls;
let api: AwsApi;

beforeEach(async () => {
  calls = await silencedCalls(async (request, response) => {
    const form = new URLSearchParams(await text(request));
    const action = form.get('Action') ?? '';
    response.writeHead(200, { 'content-type': 'text/xml' }).end(`<${action}Response></${action}Response>`);
    return { action, token: form.get('ClientToken') };
  });
  process.env['AWS_ACCESS_KEY_ID'] = 'AKIAINTEGRATION00001';
  process.env['AWS_SECRET_ACCESS_KEY'] = 'integration-secret';
  const { relay, clock } = calls;
  api = new AwsApi({ http: { ...connecting, clock }, region: 'us-east-1', endpoint: relay.url });
});

afterEach(async () => {
  api.close();
  await calls.close();
});

function send(action: Ec2Action, signal = new AbortController().signal): Promise<string> {
  // The server reads nothing of it but the token.
  const input = (action === 'CreateNetworkInterface' ? { ClientToken: 'token-1' } : {}) as never;
  return endOf(api.send(action, input, { signal, onSend: () => undefined }));
}

describe('a call to EC2 over a connection that was idle and is silent', () => {
  test.each<[Ec2Action, string]>([
    ['DescribeSubnets', 'DescribeSubnets'],
    ['CreateNetworkInterface', 'CreateNetworkInterface token-1'],
    ['ModifyNetworkInterfaceAttribute', 'ModifyNetworkInterfaceAttribute'],
  ])('is sent again over a new one after five seconds, where that does no harm: %s', async (action, call) => {
    await send('DescribeVpcs');
    calls.relay.silence('fromServer');

    const sent = send(action);
    await calls.whenArrived(2);
    await calls.clock.advance(5000);

    expect(await sent).toBe('answered');
    expect(calls.arrived).toEqual(['DescribeVpcs', call, call]);
    expect(calls.relay.connections()).toBe(2);
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
    calls.relay.silence('fromServer');
    await calls.clock.advance(1001);

    const sent = await send(action);

    expect(sent).toBe('answered');
    expect(calls.arrived).toEqual(['DescribeVpcs', action]);
    expect(calls.relay.connections()).toBe(2);
  });

  test('is never sent twice where that could do harm, even if the connection was in use a moment ago', async () => {
    await send('DescribeVpcs');
    calls.relay.silence('fromServer');
    const end = new AbortController();

    const sent = send('AssignPrivateIpAddresses', end.signal);
    await calls.whenArrived(2);
    await calls.clock.advance(30_000);
    end.abort();

    expect(await sent).not.toBe('answered');
    expect(calls.arrived).toEqual(['DescribeVpcs', 'AssignPrivateIpAddresses']);
  });

  test('is followed by calls over new connections only', async () => {
    await Promise.all([send('DescribeVpcs'), send('DescribeVpcs'), send('DescribeVpcs')]);
    calls.relay.silence('fromServer');

    const sent = send('DescribeSubnets');
    await calls.whenArrived(4);
    await calls.clock.advance(5000);
    const [first, second] = [await sent, await send('DescribeInstances')];

    expect([first, second]).toEqual(['answered', 'answered']);
    expect(calls.arrived.slice(3)).toEqual(['DescribeSubnets', 'DescribeSubnets', 'DescribeInstances']);
    expect(calls.relay.connections()).toBe(4);
  });
});
