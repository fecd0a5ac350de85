import { describe, expect, it } from '@jest/globals';
import {
  belowWatermarks,
  givenTwice,
  type CheckedNode,
  orphaned,
  madeWrongly,
  offeredTwice,
  offeredWrongly,
  shownWrongly,
  usedTwice,
  usedWithoutHolding,
} from '../../../localstack/node-problems.ts';
import { blocks } from '../../../localstack/network-plan.ts';
import type { SeededNetwork } from '../../../localstack/seeding-api.ts';
import type { ListedInterface } from '../../../localstack/third-party-api.ts';
import type { KubernetesObject } from '../../../src/simulator/kubernetes/objects/kubernetes-object.ts';

const network: SeededNetwork = {
  vpcId: 'vpc-1',
  subnets: new Map([
    ['pods-a', { id: 'subnet-1', name: 'pods-a', zone: 'us-east-1a', block: blocks[1], purpose: 'pods' }],
  ]),
  nodeGroup: 'sg-nodes',
  podGroup: 'sg-pods',
  instanceIds: ['i-1'],
};

const listed: ListedInterface = {
  id: 'eni-1',
  description: 'Cilium-CNI (i-1)',
  vpcId: 'vpc-1',
  subnetId: 'subnet-1',
  zone: 'us-east-1a',
  mac: '02:00:00:00:00:01',
  primaryAddress: '10.91.0.10',
  secondaryAddresses: ['10.91.0.11', '10.91.0.12'],
  groupIds: ['sg-nodes'],
  tags: { 'io.cilium/cilium-managed': 'true', 'io.cilium/cluster-name': 'default' },
  attachment: { id: 'eni-attach-1', instanceId: 'i-1', deviceIndex: 1 },
};

const node: CheckedNode = {
  nodeName: 'node-1',
  facts: {
    name: 'node-1',
    instanceId: 'i-1',
    instanceType: 'm5.large',
    vpcId: 'vpc-1',
    zone: 'us-east-1a',
    subnetId: 'subnet-0',
    primaryAddress: '10.90.0.4',
    protocol: 'crd-allocator',
    ipam: { preAllocate: 1 },
    eni: { firstInterfaceIndex: 1 },
  },
  addressesInUse: new Map([['10.91.0.11', 'default/web']]),
};

const eni = {
  id: 'eni-1',
  ip: '10.91.0.10',
  mac: '02:00:00:00:00:01',
  description: 'Cilium-CNI (i-1)',
  number: 1,
  subnet: { id: 'subnet-1', cidr: blocks[1] },
  vpc: { id: 'vpc-1', 'primary-cidr': blocks[0], cidrs: [blocks[1], blocks[2]] },
  addresses: ['10.91.0.12', '10.91.0.11'],
  'security-groups': ['sg-nodes'],
  tags: { 'io.cilium/cluster-name': 'default', 'io.cilium/cilium-managed': 'true' },
};

const pool = { '10.91.0.11': { resource: 'eni-1' }, '10.91.0.12': { resource: 'eni-1' } };

function ciliumNode(name: string, shown: Record<string, unknown>, offered: Record<string, unknown>) {
  return {
    apiVersion: 'cilium.io/v2',
    kind: 'CiliumNode',
    metadata: { name },
    spec: { ipam: { pool: offered } },
    status: { eni: { enis: { 'eni-1': shown } } },
  } as KubernetesObject;
}

const object = ciliumNode('node-1', eni, pool);

describe('a run as it should be', () => {
  it('has no problem', () => {
    const problems = [
      belowWatermarks(node, [listed]),
      usedWithoutHolding(node, [listed]),
      usedTwice([node]),
      offeredTwice([object]),
      shownWrongly(node, object, { listed: [listed], network }),
      offeredWrongly(node, object, [listed]),
      madeWrongly(node, [listed], network),
      orphaned([listed]),
    ];

    expect(problems.flat()).toEqual([]);
  });
});

describe('a problem with addresses', () => {
  it('is that they are fewer than the watermarks ask for', () => {
    expect(belowWatermarks(node, [{ ...listed, secondaryAddresses: ['10.91.0.11'] }])).toHaveLength(1);
  });

  it('is that they are in use and the server has them elsewhere', () => {
    const attachment = { id: 'eni-attach-1', instanceId: 'i-2', deviceIndex: 1 };

    expect(usedWithoutHolding(node, [{ ...listed, attachment }])).toHaveLength(1);
  });

  it('is that they are used on two nodes', () => {
    expect(usedTwice([node, { ...node, nodeName: 'node-2' }])).toHaveLength(1);
  });

  it.each([
    ['status', ciliumNode('node-2', { ...eni, addresses: ['10.91.0.12'] }, {})],
    ['pool', ciliumNode('node-2', { ...eni, addresses: [] }, { '10.91.0.12': {} })],
  ])('is that they are offered on two nodes by the %s', (_, other) => {
    expect(offeredTwice([object, other])).toEqual(['10.91.0.12 is on node-1 and on node-2']);
  });

  it('is that two interfaces have them, and the pool may then lack them', () => {
    const both = [listed, { ...listed, id: 'eni-2', primaryAddress: '10.91.0.12', attachment: undefined }];
    const withheld = ciliumNode(
      'node-1',
      { ...eni, addresses: ['10.91.0.11'] },
      { '10.91.0.11': pool['10.91.0.11'] },
    );

    expect([...givenTwice(both)].toSorted()).toEqual(['10.91.0.11', '10.91.0.12']);
    expect(shownWrongly(node, withheld, { listed: both, network })).toEqual([]);
    expect(offeredWrongly(node, withheld, both)).toEqual([]);
  });
});

describe('a problem with a CiliumNode', () => {
  it.each([
    ['ip', { ip: '10.91.0.99' }],
    ['mac', { mac: '02:00:00:00:00:02' }],
    ['index', { number: 2 }],
    ['subnet', { subnet: { id: 'subnet-2', cidr: blocks[1] } }],
    ['vpcBlocks', { vpc: { ...eni.vpc, cidrs: [] } }],
    ['tags', { tags: {} }],
    ['addresses', { addresses: ['10.91.0.11'] }],
  ])('is that it shows another %s than the server lists', (name, changed) => {
    const wrong = ciliumNode('node-1', { ...eni, ...changed }, pool);

    const problems = shownWrongly(node, wrong, { listed: [listed], network });

    expect(problems).toEqual([expect.stringContaining(`eni-1: ${name} is shown as`)]);
  });

  it.each([
    ['an address too few', { '10.91.0.11': pool['10.91.0.11'] }],
    ['an address too many', { ...pool, '10.91.0.13': { resource: 'eni-1' } }],
    ['an address on another interface', { ...pool, '10.91.0.12': { resource: 'eni-2' } }],
  ])('is that it offers %s', (_, offered) => {
    expect(offeredWrongly(node, ciliumNode('node-1', eni, offered), [listed])).toHaveLength(1);
  });
});

describe('a problem with an interface', () => {
  it.each([
    ['managed tag', { tags: { ...listed.tags, 'io.cilium/cilium-managed': 'false' } }],
    ['cluster tag', { tags: { ...listed.tags, 'io.cilium/cluster-name': 'other' } }],
    ['description', { description: 'Cilium-CNI (i-2)' }],
    ['zone', { zone: 'us-east-1b' }],
    ['subnet', { subnetId: 'subnet-0' }],
    ['security groups', { groupIds: ['sg-pods'] }],
  ])('is that it was created with the wrong %s', (what, changed) => {
    expect(madeWrongly(node, [{ ...listed, ...changed }], network)).toEqual([
      `eni-1 of node-1 has the wrong ${what}`,
    ]);
  });

  it('is that it is detached', () => {
    expect(orphaned([{ ...listed, attachment: undefined }])).toHaveLength(1);
  });
});
