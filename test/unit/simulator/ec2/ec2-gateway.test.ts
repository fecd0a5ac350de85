import { describe, expect, test } from '@jest/globals';
import { AnswerGarbled, AnswerLost } from '../../../../src/simulator/cloud/exchange.ts';
import { gatewayRig, instance, settle, subnet } from './gateway-rig.ts';

const fault = { rate: 1, match: {}, action: '*' };

describe('the EC2 gateway', () => {
  test('checks the permission of a request first, then its rate, then its parameters', async () => {
    const { gateway, codeOf } = gatewayRig('limits: { throttle: true }\nlatency: { scale: 0 }');
    gateway.limits.drain({ action: 'CreateNetworkInterface', whole: true }, 100);

    const throttled = await codeOf('CreateNetworkInterface', {});
    gateway.allowedActions = new Set(['DescribeVpcs']);
    const refused = await codeOf('CreateNetworkInterface', {});
    gateway.allowedActions = undefined;
    gateway.limits.change({ throttle: false, scale: 1 });

    expect([throttled, refused]).toEqual(['RequestLimitExceeded', 'UnauthorizedOperation']);
    expect(await codeOf('CreateNetworkInterface', {})).toBe('MissingParameter');
    expect(await codeOf('MakeCoffee', {})).toBe('InvalidAction');
    expect(await codeOf('CreateNetworkInterface', { SubnetId: subnet, DryRun: true })).toBe(
      'DryRunOperation',
    );
    expect(gateway.network.interfaces.size).toBe(1);
    expect(gateway.counters.get('CreateNetworkInterface')).toEqual({
      calls: 4,
      refused: 3,
      throttled: 1,
      lost: 0,
    });
  });

  test('reports each request as it arrives, refused or not', async () => {
    const { gateway, codeOf } = gatewayRig();
    const calls: string[] = [];
    gateway.onCall = ({ arn }, action) => void calls.push(`${arn.slice(-6)} ${action}`);
    gateway.allowedActions = new Set(['CreateNetworkInterface']);

    const made = codeOf('CreateNetworkInterface', { SubnetId: subnet });
    const reportedAtOnce = [...calls];
    const codes = [await made, await codeOf('DeleteNetworkInterface', {})];

    expect(codes).toEqual(['none', 'UnauthorizedOperation']);
    expect(reportedAtOnce).toEqual(['tester CreateNetworkInterface']);
    expect(calls).toEqual([...reportedAtOnce, 'tester DeleteNetworkInterface']);
  });

  test('waits before the effect of a request and after it', async () => {
    const { gateway, call, time } = gatewayRig(
      'limits: { throttle: false }\nlatency: { scale: 1, spread: 0 }',
    );
    const made = call('CreateNetworkInterface', { SubnetId: subnet });
    await time.runUntil(() => gateway.network.interfaces.size === 2, 60_000);
    const effect = time.monotonic();

    const { at } = await settle(time, made);

    expect(effect).toBeGreaterThan(0);
    expect(effect).toBeLessThan(1000);
    expect(at).toBeCloseTo(1000);
  });

  test('refuses a request sooner than it would carry it out, but not at once', async () => {
    const { codeOf, time } = gatewayRig('limits: { throttle: false }\nlatency: { scale: 1, spread: 0 }');

    const { value, at } = await settle(time, codeOf('CreateNetworkInterface', {}));

    expect(value).toBe('MissingParameter');
    expect(at).toBeCloseTo(100);
  });

  test('answers the same in every run of one seed', async () => {
    const run = async (): Promise<unknown> => {
      const { gateway, call, time } = gatewayRig('latency: { scale: 1 }');
      for (let index = 1; index < 4; index++) {
        const { value } = await settle(time, call('CreateNetworkInterface', { SubnetId: subnet }));
        await time.advance(5000);
        const { NetworkInterfaceId } = value['NetworkInterface'] as unknown as { NetworkInterfaceId: string };
        const input = { NetworkInterfaceId, InstanceId: instance, DeviceIndex: index };
        await settle(time, call('AttachNetworkInterface', input));
      }
      return [time.monotonic(), gateway.network.snapshot()];
    };

    expect(await run()).toEqual(await run());
  });
});

describe('a fault of the EC2 gateway', () => {
  const create = { SubnetId: subnet };

  test('returns an error instead of the effect', async () => {
    const { gateway, codeOf } = gatewayRig();
    gateway.faults.add({
      ...fault,
      fault: { kind: 'error', code: 'InternalError', status: 500, message: 'x' },
    });

    expect(await codeOf('CreateNetworkInterface', create)).toBe('InternalError');
    expect(gateway.network.interfaces.size).toBe(1);
  });

  test('loses an answer after the effect', async () => {
    const { gateway, call } = gatewayRig();
    gateway.faults.add({
      ...fault,
      fault: { kind: 'lost', effect: 'before', connection: 'drop', delayMs: 0 },
    });

    await expect(call('CreateNetworkInterface', create)).rejects.toThrow(new AnswerLost('drop'));
    expect(gateway.network.interfaces.size).toBe(2);
  });

  test('loses an answer without any effect', async () => {
    const { gateway, call, time } = gatewayRig();
    gateway.faults.add({
      ...fault,
      fault: { kind: 'lost', effect: 'after', connection: 'hang', delayMs: 0 },
    });

    await expect(call('CreateNetworkInterface', create)).rejects.toThrow(new AnswerLost('hang'));
    await time.advance(600_000);
    expect(gateway.network.interfaces.size).toBe(1);
  });

  test('lets the effect happen after the client has stopped waiting', async () => {
    const { gateway, call, time } = gatewayRig();
    const late = { kind: 'lost', effect: 'late', connection: 'drop', delayMs: 30_000 } as const;
    gateway.faults.add({ ...fault, count: 2, fault: late });

    await expect(call('CreateNetworkInterface', create)).rejects.toThrow(new AnswerLost('hang'));
    await expect(call('CreateNetworkInterface', { SubnetId: 'subnet-00000000' })).rejects.toThrow(AnswerLost);
    await time.advance(29_999);
    const early = gateway.network.interfaces.size;
    await time.advance(1);

    expect([early, gateway.network.interfaces.size]).toEqual([1, 2]);
    expect(gateway.counters.get('CreateNetworkInterface')).toEqual({
      calls: 2,
      refused: 1,
      throttled: 0,
      lost: 2,
    });
  });

  test('adds slowness to another fault', async () => {
    const { gateway, call, time } = gatewayRig();
    gateway.faults.add({ ...fault, fault: { kind: 'slow', ms: 7000 } });

    const { at } = await settle(time, call('DescribeVpcs'));

    expect(at).toBe(7000);
  });

  test('garbles answers', async () => {
    const { gateway, call } = gatewayRig();
    const spoil = (form: 'idsMissing' | 'unknownEnum' | 'empty' | 'truncated' | 'html502') =>
      gateway.faults.add({ ...fault, count: 1, fault: { kind: 'garbled', form } });

    spoil('idsMissing');
    const anonymous = await call('DescribeNetworkInterfaces');
    spoil('unknownEnum');
    const strange = await call('DescribeNetworkInterfaces');

    expect(JSON.stringify(anonymous)).not.toMatch(/"(NetworkInterface|Subnet|Vpc|Instance)Id"/);
    expect(JSON.stringify(strange)).toContain('"Status":"quantum"');
    for (const form of ['empty', 'truncated', 'html502'] as const) {
      spoil(form);
      await expect(call('DescribeNetworkInterfaces')).rejects.toThrow(new AnswerGarbled(form));
    }
  });
});
