import { describe, expect, test } from '@jest/globals';
import type { NodeFacts } from '../../../../src/simulator/workload/node-facts.ts';
import { newOwnNode, renewedOwnNode } from '../../../../src/simulator/workload/own-node.ts';

const facts: NodeFacts = {
  name: 'node-1',
  instanceId: 'i-1',
  instanceType: 'm5.large',
  vpcId: 'vpc-1',
  zone: 'us-west-2a',
  subnetId: 'subnet-1',
  primaryAddress: '10.0.0.10',
  protocol: 'crd-allocator',
};

const plainEni = {
  'instance-type': 'm5.large',
  'vpc-id': 'vpc-1',
  'availability-zone': 'us-west-2a',
  'node-subnet-id': 'subnet-1',
  'first-interface-index': 0,
  'use-primary-address': false,
  'delete-on-termination': true,
  'disable-prefix-delegation': false,
};

describe('newOwnNode', () => {
  test('has the name of the node, which owns it, and the facts of the machine', () => {
    expect(newOwnNode(facts, 'uid-1')).toEqual({
      apiVersion: 'cilium.io/v2',
      kind: 'CiliumNode',
      metadata: {
        name: 'node-1',
        ownerReferences: [{ apiVersion: 'v1', kind: 'Node', name: 'node-1', uid: 'uid-1' }],
      },
      spec: {
        'instance-id': 'i-1',
        addresses: [{ type: 'InternalIP', ip: '10.0.0.10' }],
        eni: plainEni,
        ipam: {},
      },
    });
  });

  test('takes over every option, and leaves a watermark of zero unset', () => {
    const node = newOwnNode(
      {
        ...facts,
        ipam: {
          minAllocate: 4,
          preAllocate: 0,
          maxAllocate: 20,
          maxAboveWatermark: 2,
          staticIpTags: { a: 'b' },
        },
        eni: {
          firstInterfaceIndex: 1,
          securityGroups: ['sg-1'],
          securityGroupTags: { s: 'g' },
          subnetIds: ['subnet-2'],
          subnetTags: { pods: 'yes' },
          excludeInterfaceTags: { keep: 'out' },
          usePrimaryAddress: true,
          deleteOnTermination: false,
          disablePrefixDelegation: true,
        },
      },
      'uid-1',
    );

    expect(node['spec']).toMatchObject({
      eni: {
        ...plainEni,
        'first-interface-index': 1,
        'security-groups': ['sg-1'],
        'security-group-tags': { s: 'g' },
        'subnet-ids': ['subnet-2'],
        'subnet-tags': { pods: 'yes' },
        'exclude-interface-tags': { keep: 'out' },
        'use-primary-address': true,
        'delete-on-termination': false,
        'disable-prefix-delegation': true,
      },
      ipam: { 'min-allocate': 4, 'max-allocate': 20, 'max-above-watermark': 2, 'static-ip-tags': { a: 'b' } },
    });
  });
});

describe('renewedOwnNode', () => {
  test('replaces spec.eni and keeps what others wrote', () => {
    const found = {
      apiVersion: 'cilium.io/v2',
      kind: 'CiliumNode',
      metadata: { name: 'node-1', resourceVersion: '7' },
      spec: {
        eni: { 'vpc-id': 'edited', 'subnet-tags': { edited: 'too' } },
        ipam: { 'pre-allocate': 5, pool: { '10.0.0.1': { resource: 'eni-1' } } },
      },
      status: { ipam: { used: { '10.0.0.1': {} } } },
    };

    const node = renewedOwnNode({ ...facts, ipam: { minAllocate: 4 } }, 'uid-1', found);

    expect(node).toMatchObject({
      metadata: { name: 'node-1', resourceVersion: '7', ownerReferences: [{ uid: 'uid-1' }] },
      status: found.status,
    });
    expect(node['spec']).toMatchObject({
      'instance-id': 'i-1',
      ipam: { ...found.spec.ipam, 'min-allocate': 4 },
    });
    expect(node['spec']).toHaveProperty('eni', plainEni);
  });
});
