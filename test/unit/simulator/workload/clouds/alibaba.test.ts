import { describe, expect, test } from '@jest/globals';
import { alibaba } from '../../../../../src/simulator/workload/clouds/alibaba.ts';
import type { JsonObject } from '../../../../../src/simulator/workload/json.ts';
import type { NodeFacts } from '../../../../../src/simulator/workload/node-facts.ts';
import { newOwnNode } from '../../../../../src/simulator/workload/own-node.ts';
import { resolveInterface } from '../../../../../src/simulator/workload/routing-facts.ts';

const facts: NodeFacts = {
  cloud: 'alibabacloud',
  name: 'node-1',
  instanceId: 'i-bp1',
  instanceType: 'ecs.g7.xlarge',
  vpcId: 'vpc-1',
  networkCidr: '10.0.0.0/8',
  zone: 'cn-hangzhou-a',
  subnetId: 'vsw-1',
  primaryAddress: '10.0.0.4',
  protocol: 'crd-allocator',
};

const whole = {
  'network-interface-id': 'eni-1',
  'mac-address': '00:16:3e:00:00:01',
  type: 'Secondary',
  vswitch: { 'vswitch-id': 'vsw-1', cidr: '10.0.4.0/24' },
  'private-ipsets': [{ 'private-ip-address': '10.0.4.5' }, { 'private-ip-address': '10.0.4.6' }],
  tags: { 'cilium-eni-index': '3' },
};

function nodeWith(change: JsonObject): JsonObject {
  return { status: { 'alibaba-cloud': { enis: { 'eni-1': { ...whole, ...change } } } } };
}

describe('the CiliumNode of an agent on Alibaba Cloud', () => {
  test('says what the instance metadata says, and what is configured', () => {
    expect(newOwnNode({ ...facts, alibaba: { vSwitchTags: { purpose: 'pods' } } }, 'uid-1')['spec']).toEqual({
      'instance-id': 'i-bp1',
      addresses: [{ type: 'InternalIP', ip: '10.0.0.4' }],
      'alibaba-cloud': {
        'instance-type': 'ecs.g7.xlarge',
        'availability-zone': 'cn-hangzhou-a',
        'vpc-id': 'vpc-1',
        'cidr-block': '10.0.0.0/8',
        'vswitch-tags': { purpose: 'pods' },
      },
      ipam: {},
    });
  });

  test.each([
    ['cn-hangzhou-a', 'cn-hangzhou.i-bp1'],
    ['ap-southeast-1b', 'ap-southeast-1.i-bp1'],
  ])('in zone %s belongs to a Node with the provider ID %s', (zone, expected) => {
    expect(alibaba.providerIdOf({ ...facts, zone })).toBe(expected);
  });
});

describe('an agent on Alibaba Cloud', () => {
  test('routes an address by the vSwitch of its interface', () => {
    const interfaces = alibaba.interfacesOf(nodeWith({}), 'crd-allocator');

    expect(resolveInterface(interfaces, 'eni-1')).toEqual({
      kind: 'resolved',
      facts: {
        interfaceId: 'eni-1',
        mac: '00:16:3e:00:00:01',
        interfaceNumber: 3,
        gateway: '10.0.4.253',
        cidrs: ['10.0.4.0/24'],
      },
    });
    expect(interfaces[0]?.addresses).toEqual(['10.0.4.5', '10.0.4.6']);
  });

  test.each([
    ['MAC address', { 'mac-address': '' }],
    ['vSwitch CIDR', { vswitch: {} }],
  ] satisfies [string, JsonObject][])('can use no address of an interface without a %s', (gap, change) => {
    expect(resolveInterface(alibaba.interfacesOf(nodeWith(change), 'crd-allocator'), 'eni-1')).toEqual({
      kind: 'unresolved',
      reason: `ENI eni-1 has no ${gap}`,
    });
  });
});
