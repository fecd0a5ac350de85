import { describe, expect, test } from '@jest/globals';
import { answerAdmin } from '../../../../src/simulator/ec2/admin.ts';
import { type GatewayRig, gatewayRig } from './gateway-rig.ts';

function ask(
  { gateway }: GatewayRig,
  method: string,
  path: string,
  body?: unknown,
): { status: number; content: never } {
  const request = {
    method,
    url: `/_headwater/${path}`,
    body: body === undefined ? '' : JSON.stringify(body),
  };
  const outcome = answerAdmin(request, gateway);
  if (outcome.kind !== 'answer') throw new Error('the endpoint always answers');
  return { status: outcome.status, content: JSON.parse(outcome.body) as never };
}

describe('the admin endpoint beside EC2', () => {
  test('shows the state of the model', () => {
    const rig = gatewayRig();

    const { status, content } = ask(rig, 'GET', 'state');

    expect(status).toBe(200);
    expect(content).toEqual(JSON.parse(JSON.stringify(rig.gateway.network.snapshot())));
  });

  test('injects faults, lists them and removes them', async () => {
    const rig = gatewayRig();

    const added = ask(rig, 'POST', 'faults', {
      action: 'DescribeVpcs',
      count: 1,
      fault: { kind: 'throttle' },
    });
    const met = await rig.codeOf('DescribeVpcs');
    const listed = ask(rig, 'GET', 'faults');
    const removed = ask(rig, 'DELETE', 'faults/1');
    ask(rig, 'POST', 'faults', { fault: { kind: 'slow', ms: 5 } });
    ask(rig, 'DELETE', 'faults');

    expect(added.content).toEqual({ id: 1 });
    expect(met).toBe('RequestLimitExceeded');
    expect(listed.content).toMatchObject([{ id: 1, met: 1, action: 'DescribeVpcs' }]);
    expect(removed.content).toEqual({ removed: true });
    expect(rig.gateway.faults.rules).toEqual([]);
  });

  test('allows only certain actions, and later all of them again', async () => {
    const rig = gatewayRig();

    ask(rig, 'PUT', 'allowed-actions', { actions: ['DescribeSubnets'] });
    const refused = await rig.codeOf('DescribeVpcs');
    ask(rig, 'PUT', 'allowed-actions', { actions: null });

    expect(refused).toBe('UnauthorizedOperation');
    expect(await rig.codeOf('DescribeVpcs')).toBe('none');
    expect(ask(rig, 'GET', 'allowed-actions').content).toEqual({ actions: null });
  });

  test('counts calls', async () => {
    const rig = gatewayRig();
    await rig.call('DescribeVpcs');
    await rig.codeOf('DescribeVpcs', { VpcIds: ['vpc-00000000'] });

    const counted = ask(rig, 'GET', 'calls');
    ask(rig, 'DELETE', 'calls');

    expect(counted.content).toEqual({ DescribeVpcs: { calls: 2, refused: 1, throttled: 0, lost: 0 } });
    expect(ask(rig, 'GET', 'calls').content).toEqual({});
  });

  test('says when calls that succeeded were answered', async () => {
    const rig = gatewayRig();
    await rig.call('DescribeVpcs', { MaxResults: 5 });
    await rig.codeOf('DescribeVpcs', { VpcIds: ['vpc-00000000'] });

    const answered = ask(rig, 'GET', 'answers');

    const { clock } = rig.gateway;
    expect(answered.content).toEqual({
      answers: [{ action: 'DescribeVpcs', parameters: { MaxResults: 5 }, at: clock.wall() }],
    });
  });

  test('drains tokens as another client would', async () => {
    const rig = gatewayRig('limits: { throttle: true }\nlatency: { scale: 0 }');

    const levels = ask(rig, 'POST', 'tokens', { action: 'CreateTags', count: 1000 });

    expect(levels.content).toEqual({ CreateTags: 0 });
    expect(await rig.codeOf('CreateTags', {})).toBe('RequestLimitExceeded');
    expect(ask(rig, 'GET', 'tokens').content).toEqual({ CreateTags: 0 });
  });

  test('changes the pace of time and the behaviour of the model', () => {
    const rig = gatewayRig();

    const time = ask(rig, 'PUT', 'time', { pace: 60 });
    const settings = ask(rig, 'PUT', 'settings', {
      refuseUnpaginated: true,
      listingLagMs: 250,
      latencyScale: 2,
    });

    expect(time.content).toEqual({ pace: 60, now: '2026-01-01T00:00:00.000Z' });
    expect(settings.content).toEqual({
      throttle: false,
      limitScale: 1,
      latencyScale: 2,
      refuseUnpaginated: true,
      visibilityDelayMs: { min: 0, max: 0 },
      listingLagMs: { min: 250, max: 250 },
    });
    expect(ask(rig, 'GET', 'settings').content).toEqual(settings.content);
    expect(ask(rig, 'GET', 'time').content).toEqual(time.content);
  });

  test.each([
    ['GET', 'nothing', undefined, 404, 'no such route: GET /_headwater/nothing'],
    ['POST', 'faults', { fault: { kind: 'fire' } }, 400, 'fault'],
    [
      'POST',
      'faults',
      { action: 'MakeCoffee', fault: { kind: 'throttle' } },
      400,
      'expected the name of an action',
    ],
    ['PUT', 'time', { pace: 0 }, 400, 'pace'],
    ['PUT', 'settings', { lag: 1 }, 400, 'lag'],
  ])('refuses %s %s %j', (method, path, body, status, text) => {
    const answer = ask(gatewayRig(), method, path, body);

    expect(answer.status).toBe(status);
    expect(JSON.stringify(answer.content)).toContain(text);
  });
});
