import { describe, expect, test } from '@jest/globals';
import type { AskingNode } from '../../../../src/commands/check/cloud-facts.ts';
import { askingNode as node } from './asking-node.ts';
import { givenSubnetFindings, subnetFindings } from '../../../../src/commands/check/subnet-findings.ts';
import type { NetworkInterface } from '../../../../src/providers/contract/network-interface.ts';
import { azureSection } from '../../../../src/providers/azure/cilium-node-section.ts';
import { awsSection } from '../../../../src/providers/aws/cilium-node-section.ts';
import {
  emptyInfrastructure,
  type Infrastructure,
  type Subnet,
} from '../../../../src/providers/contract/infrastructure.ts';

const { words } = awsSection;

function subnet(id: string, freeAddresses: number, change: Partial<Subnet> = {}): Subnet {
  const common = { cidr: '10.0.0.0/24', networkId: 'vpc-1', zone: 'a', tags: {}, eligible: true };
  return { id, freeAddresses, ...common, ...change };
}

function network(...subnets: readonly Subnet[]): Infrastructure {
  return { ...emptyInfrastructure, subnets: new Map(subnets.map((each) => [each.id, each])) };
}

/** Interfaces of the instance of node a; those of others were not read. */
const interfaces = new Map([['i-a', [item(['sg-1'])]]]);

function item(securityGroupIds: readonly string[]): NetworkInterface {
  const attachment = { deviceIndex: 0, networkCard: 0 };
  return { id: 'eni-1', securityGroupIds, attachment } as unknown as NetworkInterface;
}

const limits = new Map([['m5.large', { interfaces: 3, addressesPerInterface: 10, prefixes: true }]]);

describe('rows of subnets', () => {
  test.each<[string, AskingNode[], Infrastructure, readonly (readonly [string, RegExp])[]]>([
    ['no node', [], network(subnet('subnet-1', 200)), []],
    [
      'nodes of one subnet',
      [node('a'), node('b')],
      network(subnet('subnet-1', 200), subnet('subnet-2', 250)),
      [
        [
          'ok',
          /^2 nodes \(a, b\) get interfaces in subnet-1 \(10\.0\.0\.0\/24, a\), where 200 of 256 addresses are free$/,
        ],
      ],
    ],
    [
      'a subnet that is nearly full',
      [node('a')],
      network(subnet('subnet-1', 20)),
      [['warning', /where 20 of 256 addresses are free$/]],
    ],
    [
      'a subnet that is full, beside another',
      [node('a')],
      network(subnet('subnet-1', 0), subnet('subnet-2', 250)),
      [['ok', /get interfaces in subnet-2/]],
    ],
    [
      'no address anywhere',
      [node('a')],
      network(subnet('subnet-1', 0)),
      [['problem', /^1 node \(a\) can get no interface: no address is left in subnet-1 \(all in a\): /]],
    ],
    [
      'too few for a prefix',
      [node('a', { prefixDelegation: true })],
      network(subnet('subnet-1', 16)),
      [['problem', /^1 node \(a\) can get no interface: no address is left in subnet-1/]],
    ],
    [
      'no subnet of the zone',
      [node('a', { zone: 'b' })],
      network(subnet('subnet-1', 200)),
      [['problem', /nothing matches a subnet of vpc-1 in b: create or tag a subnet/]],
    ],
    [
      'subnets that the options exclude',
      [node('a')],
      network(subnet('subnet-1', 200, { eligible: false })),
      [['problem', /nothing matches a subnet of vpc-1 in a/]],
    ],
    [
      'two zones',
      [node('a'), node('b', { zone: 'b', nodeSubnetId: 'subnet-2' })],
      network(subnet('subnet-1', 200), subnet('subnet-2', 200, { zone: 'b' })),
      [
        ['ok', /^1 node \(a\) get interfaces in subnet-1/],
        ['ok', /^1 node \(b\) get interfaces in subnet-2/],
      ],
    ],
    [
      'security groups by tags that none carries',
      [node('a', { securityGroupTags: { of: 'pods' } })],
      network(subnet('subnet-1', 200)),
      [['problem', /^1 node \(a\) can get no interface: no security group .* carries the tags of=pods: /]],
    ],
    [
      'security groups by tags, of an instance that was not read',
      [node('b', { securityGroupTags: { of: 'pods' } }), node('c')],
      {
        ...network(subnet('subnet-1', 200)),
        securityGroups: [{ id: 'sg-2', networkId: 'vpc-1', tags: { of: 'pods' } }],
      },
      [['ok', /^2 nodes \(b, c\) get interfaces in subnet-1/]],
    ],
    [
      'an agent that names no network',
      [node('a', { networkId: undefined })],
      network(subnet('subnet-1', 200)),
      [['problem', /its CiliumNode names no network$/]],
    ],
  ])(
    'say where each node gets its next interface, by the rules of the controller: %s',
    (_, nodes, infrastructure, rows) => {
      const findings = subnetFindings({ nodes, infrastructure, interfaces, limits, words });

      expect(findings.map(({ verdict, found }) => [verdict, found])).toEqual(
        rows.map(([verdict, found]) => [verdict, expect.stringMatching(found)]),
      );
    },
  );

  test('say that the security groups of a first interface are not known', () => {
    const unknown = new Map([['i-a', [item([])]]]);
    const question = { nodes: [node('a')], infrastructure: network(subnet('subnet-1', 200)), limits, words };

    expect(subnetFindings({ ...question, interfaces: unknown })).toMatchObject([
      { verdict: 'problem', found: expect.stringMatching(/its first interface shows none/) },
    ]);
  });

  test('are those of the interfaces where machines are given them', () => {
    const { words: ofAzure } = azureSection({ of: (id) => id });
    const failure = {
      kind: 'notAuthorized',
      action: 'Subnets.Get',
      code: 'Denied',
      message: 'no',
      requestId: undefined,
    } as const;
    const infrastructure = {
      ...network(subnet('nodes', 200, { zone: '' }), subnet('full', 0), subnet('small', 1)),
      unreadSubnets: new Map([['hidden', failure]]),
    };

    const findings = givenSubnetFindings(infrastructure, ofAzure);

    expect(findings.map(({ verdict, found }) => [verdict, found])).toEqual([
      ['unknown', 'hidden cannot be read: Denied: no'],
      ['ok', 'interfaces of nodes are in nodes (10.0.0.0/24), where 200 of 256 addresses are free'],
      ['problem', 'no address is left in full'],
      ['warning', 'interfaces of nodes are in small (10.0.0.0/24, a), where 1 of 256 addresses are free'],
    ]);
    expect(findings.slice(2).map(({ remedy }) => remedy)).toEqual([
      ofAzure.remedies.fullSubnets,
      ofAzure.remedies.fullSubnets,
    ]);
  });
});
