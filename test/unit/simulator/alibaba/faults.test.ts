import { describe, expect, test } from '@jest/globals';
import type { Fault } from '../../../../src/simulator/cloud/faults.ts';
import { textAt } from '../../../../src/simulator/workload/json.ts';
import { addressesOf, type AlibabaRig, alibabaRig, interfacesOf } from './alibaba-rig.ts';

const creation = { VSwitchId: 'vsw-a', SecurityGroupId: 'sg-pods', ClientToken: 'one' };

function once({ gateway }: AlibabaRig, action: string, fault: Fault): void {
  gateway.faults.add({ action, rate: 1, count: 1, match: {}, fault });
}

function secondaries({ network }: AlibabaRig): number {
  return [...network.interfaces.values()].filter(({ attachment }) => attachment?.deviceIndex !== 0).length;
}

describe('a repeated request with a client token', () => {
  test('makes one interface, whatever became of the first answer', async () => {
    const rig = alibabaRig();
    once(rig, 'CreateNetworkInterface', { kind: 'lost', effect: 'before', connection: 'drop', delayMs: 0 });
    expect(await rig.exchange('CreateNetworkInterface', creation)).toEqual({
      kind: 'lost',
      connection: 'drop',
    });
    expect(secondaries(rig)).toBe(1);
    const answer = await rig.ask('CreateNetworkInterface', creation);
    expect(secondaries(rig)).toBe(1);
    expect(rig.network.interfaces.has(textAt(answer, 'NetworkInterfaceId'))).toBe(true);
  });

  test('is told to wait while the first one is on its way, and then gets its answer', async () => {
    const rig = alibabaRig();
    const fault: Fault = { kind: 'lost', effect: 'late', connection: 'hang', delayMs: 5000 };
    once(rig, 'CreateNetworkInterface', fault);
    await rig.exchange('CreateNetworkInterface', creation);
    expect(await rig.codeOf('CreateNetworkInterface', creation)).toBe('IdempotentProcessing');
    await rig.time.advance(5000);
    expect(secondaries(rig)).toBe(1);
    await rig.ask('CreateNetworkInterface', creation);
    expect(secondaries(rig)).toBe(1);
  });

  test.each<Fault>([
    { kind: 'lost', effect: 'after', connection: 'drop', delayMs: 0 },
    { kind: 'error', code: 'InternalError', status: 500, message: 'try again' },
    { kind: 'throttle' },
  ])('is served if the first one came to nothing: %j', async (fault) => {
    const rig = alibabaRig();
    once(rig, 'CreateNetworkInterface', fault);
    await rig.exchange('CreateNetworkInterface', creation);
    expect(secondaries(rig)).toBe(0);
    await rig.ask('CreateNetworkInterface', creation);
    expect(secondaries(rig)).toBe(1);
  });

  test('is judged afresh if the first one was refused', async () => {
    const rig = alibabaRig();
    const full = { ...creation, VSwitchId: 'vsw-tiny', SecondaryPrivateIpAddressCount: 12 };
    expect(await rig.codeOf('CreateNetworkInterface', full)).toBe('InvalidVSwitchId.IpNotEnough');
    expect(await rig.codeOf('CreateNetworkInterface', { ...full, SecondaryPrivateIpAddressCount: 3 })).toBe(
      'none',
    );
  });
});

describe('an attachment that fails in the end', () => {
  test('leaves the interface Available with its addresses', async () => {
    const rig = alibabaRig();
    const id = await rig.made({ SecondaryPrivateIpAddressCount: 2 });
    once(rig, 'AttachNetworkInterface', { kind: 'failed', code: 'InternalError', message: 'no' });
    const request = { NetworkInterfaceId: id, InstanceId: 'i-1' };
    await rig.ask('AttachNetworkInterface', request);
    expect(await rig.statusOf(id)).toBe('Attaching');
    await rig.time.advance(3000);
    const [record = {}] = await interfacesOf(rig.ask, { 'NetworkInterfaceId.1': id });
    expect([textAt(record, 'Status'), addressesOf(record).length]).toEqual(['Available', 3]);
    await rig.ask('AttachNetworkInterface', request);
    await rig.time.advance(3000);
    expect(await rig.statusOf(id)).toBe('InUse');
  });
});

describe('the limits of requests', () => {
  const throttled = 'latency: { scale: 0 }\nlimits: { scale: 0.01 }';

  test('hold in any 60 s, for each action, and not only in those of a clock', async () => {
    const { codeOf, time } = alibabaRig(undefined, throttled);
    const ask = (): Promise<string> => codeOf('DescribeVSwitches');
    await time.advance(30_000);
    expect([await ask(), await ask()]).toEqual(['none', 'none']);
    await time.advance(29_000);
    expect([await ask(), await ask()]).toEqual(['none', 'Throttling.User']);
    await time.advance(30_999);
    expect(await ask()).toBe('Throttling.User');
    await time.advance(1);
    expect([await ask(), await ask(), await ask()]).toEqual(['none', 'none', 'Throttling.User']);
    expect(await codeOf('DescribeVpcs')).toBe('none');
  });
});

describe('answers of ECS', () => {
  test('lag behind, and show new interfaces later', async () => {
    const rig = alibabaRig(
      undefined,
      'latency: { scale: 0 }\nconsistency: { visibilityDelayMs: 2000, listingLagMs: 1000 }\ntimes: { attachMs: 3000 }',
    );
    const answer = await rig.ask('CreateNetworkInterface', creation);
    const id = textAt(answer, 'NetworkInterfaceId');
    expect(await rig.statusOf(id)).toBe('none');
    await rig.time.advance(2000);
    expect(await rig.statusOf(id)).toBe('Available');
    await rig.ask('AttachNetworkInterface', { NetworkInterfaceId: id, InstanceId: 'i-1' });
    expect(await rig.statusOf(id)).toBe('Available');
    await rig.time.advance(1000);
    expect(await rig.statusOf(id)).toBe('Attaching');
  });

  test('lack ids or have unknown states if a fault says so', async () => {
    const rig = alibabaRig();
    once(rig, 'DescribeNetworkInterfaces', { kind: 'garbled', form: 'idsMissing' });
    const [first = {}] = await interfacesOf(rig.ask, {});
    expect([textAt(first, 'NetworkInterfaceId'), textAt(first, 'Status')]).toEqual(['', 'InUse']);
    once(rig, 'DescribeNetworkInterfaces', { kind: 'garbled', form: 'unknownEnum' });
    const [second = {}] = await interfacesOf(rig.ask, {});
    expect(textAt(second, 'Status')).toBe('Quantum');
  });

  test('come only to a caller that may ask', async () => {
    const rig = alibabaRig();
    rig.gateway.allowedActions = new Set(['DescribeVpcs']);
    expect([await rig.codeOf('DescribeVpcs'), await rig.codeOf('DescribeVSwitches')]).toEqual([
      'none',
      'Forbidden.RAM',
    ]);
  });
});
