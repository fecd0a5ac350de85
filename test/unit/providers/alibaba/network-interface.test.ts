import { describe, expect, test } from '@jest/globals';
import { readInterface, tryRead } from '../../../../src/providers/alibaba/network-interface.ts';
import type { ShownNetworkInterface } from '../../../../src/providers/alibaba/rpc-api.ts';
import type { NetworkInterface } from '../../../../src/providers/contract/network-interface.ts';

const shown: ShownNetworkInterface = {
  networkInterfaceId: 'eni-1',
  status: 'InUse',
  type: 'Secondary',
  macAddress: '00:16:3e:00:00:01',
  vpcId: 'vpc-1',
  vSwitchId: 'vsw-1',
  zoneId: 'cn-hangzhou-a',
  instanceId: 'i-1',
  description: 'pods',
  deleteOnRelease: true,
  privateIpAddress: '10.0.0.5',
  privateIpSets: {
    privateIpSet: [
      { privateIpAddress: '10.0.0.5', primary: true },
      { privateIpAddress: '10.0.0.6', primary: false },
    ],
  },
  securityGroupIds: { securityGroupId: ['sg-2', 'sg-1'] },
  tags: { tag: [{ tagKey: 'cilium-eni-index', tagValue: '3' }] },
};

function index(tagValue: string): ShownNetworkInterface['tags'] {
  return { tag: [{ tagKey: 'cilium-eni-index', tagValue }] };
}

function read(change: Partial<ShownNetworkInterface> = {}): NetworkInterface {
  const found = tryRead({ ...shown, ...change });
  if ('problem' in found) throw new Error(found.problem);
  return found.interface;
}

describe('an interface of ECS', () => {
  test('is read with what agents need', () => {
    expect(read()).toMatchObject({
      id: 'eni-1',
      networkId: 'vpc-1',
      subnetId: 'vsw-1',
      zone: 'cn-hangzhou-a',
      mac: '00:16:3e:00:00:01',
      primaryAddress: '10.0.0.5',
      addresses: ['10.0.0.6'],
      securityGroupIds: ['sg-1', 'sg-2'],
      attachment: { instanceId: 'i-1', deviceIndex: 3, state: 'attached', deleteOnTermination: true },
    });
  });

  const tagged = (tagKey: string, tagValue: string) => ({ tags: { tag: [{ tagKey, tagValue }] } });
  test.each<[string, Partial<ShownNetworkInterface>, string | undefined]>([
    ['of the primary of a Lingjun node', tagged('leni_primary', 'true'), 'tagged leni_primary=true'],
    [
      'of the controller of ERDMA',
      tagged('creator', 'alibabacloud-erdma-controller'),
      'tagged creator=alibabacloud-erdma-controller',
    ],
    [
      'that is excluded from pods',
      tagged('terway.alibabacloud.com/excluded', 'true'),
      'tagged terway.alibabacloud.com/excluded=true',
    ],
    ['that is not excluded after all', tagged('terway.alibabacloud.com/excluded', 'false'), undefined],
    ['with another creator', tagged('creator', 'me'), undefined],
    ['with a tag named as a member of every object', tagged('constructor', ''), undefined],
    [
      'in high-performance traffic mode',
      { networkInterfaceTrafficMode: 'HighPerformance' },
      'in high-performance traffic mode',
    ],
    ['in standard traffic mode', { networkInterfaceTrafficMode: 'Standard' }, undefined],
    ['of a service', { serviceManaged: true }, 'service-managed'],
    ['that is primary, whatever its tags', { type: 'Primary', ...tagged('leni_primary', 'true') }, undefined],
    [
      'that others mark, whatever its state',
      { status: 'Linked', ...tagged('leni_primary', 'true') },
      'tagged leni_primary=true',
    ],
  ])('%s is reserved as it says: %j', (_, change, reservedFor) => {
    expect(read(change).reservedFor).toBe(reservedFor);
  });

  test.each([
    ['1', 1],
    ['49', 49],
    ['50', Infinity],
    ['0', Infinity],
    ['01', Infinity],
    ['-1', Infinity],
    ['one', Infinity],
  ])('with the index tag %j is at %p', (tagValue, deviceIndex) => {
    expect(read({ tags: index(tagValue) }).attachment).toMatchObject({ deviceIndex });
  });

  test('without an index tag has no place that agents know, and is never taken for the primary one', () => {
    expect(read({ tags: undefined }).attachment).toMatchObject({ deviceIndex: Infinity });
  });

  test('that is the primary one is at 0, whatever its tags', () => {
    expect(read({ type: 'Primary' }).attachment).toMatchObject({ deviceIndex: 0 });
  });

  test('that is detached keeps its slot', () => {
    expect(read({ status: 'Available', instanceId: '' })).toMatchObject({ attachment: undefined, slot: 3 });
  });

  test.each([
    ['Attaching', 'attaching'],
    ['Detaching', 'detaching'],
  ])('that is %s is %s', (status, state) => {
    expect(read({ status }).attachment).toMatchObject({ state });
  });

  test.each<[Partial<ShownNetworkInterface>, string]>([
    [{ serviceManaged: true }, 'service-managed'],
    [{ type: 'Trunk' }, 'trunk'],
    [{ type: 'Member', status: 'Linked' }, 'member'],
  ])('%j is reserved: %s', (change, reservedFor) => {
    expect(read(change)).toMatchObject({ reservedFor });
  });

  test.each<[Partial<ShownNetworkInterface>, string]>([
    [{ networkInterfaceId: undefined }, 'networkInterfaceId is missing'],
    [{ vSwitchId: 'subnet-1' }, 'vSwitchId is "subnet-1"'],
    [{ macAddress: '00-16-3e' }, '"00-16-3e" is not a MAC address'],
    [{ privateIpAddress: '10.0.0.05' }, '"10.0.0.05" is not an IPv4 address'],
    [{ privateIpAddress: '10.0.0.9' }, 'its primary address is not among its addresses'],
    [{ privateIpSets: undefined }, 'privateIpSets is missing'],
    [{ privateIpSets: {} }, 'privateIpSets is missing'],
    [{ status: 'Available' }, 'it has an instance and is Available'],
    [{ status: 'Frozen' }, 'its state "Frozen" is unknown'],
    [{ type: 'Quantum', status: 'Frozen' }, 'its state "Frozen" is unknown'],
    [
      { ipv4PrefixSets: { ipv4PrefixSet: [{ ipv4Prefix: '10.0.0.16/27' }] } },
      '"10.0.0.16/27" is not an IPv4 /28 prefix',
    ],
  ])('with %j is unreadable: %s', (change, problem) => {
    expect(tryRead({ ...shown, ...change })).toEqual({ problem });
    expect(readInterface({ ...shown, ...change })).toMatchObject({ kind: 'unreadableInterface' });
  });

  test('without an instance is not observed', () => {
    expect(readInterface({ ...shown, status: 'Available', instanceId: undefined })).toBeUndefined();
  });
});
