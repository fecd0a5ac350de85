import { describe, expect, test } from '@jest/globals';
import { type BlockQuestion, blockedNodes } from '../../../../src/commands/check/blocked-nodes.ts';
import { awsSection } from '../../../../src/providers/aws/cilium-node-section.ts';
import { attachedTo, type NetworkInterface } from '../../../../src/providers/contract/network-interface.ts';
import { askingNode as node } from './asking-node.ts';

const question: BlockQuestion = {
  nodes: [node('a'), node('b')],
  interfaces: new Map([
    ['i-a', [{ networkId: 'vpc-1', attachment: attachedTo('i-a', 0) } as NetworkInterface]],
  ]),
  limits: {
    kind: 'read',
    value: new Map([
      ['m5.large', { interfaces: 3, addressesPerInterface: 10, prefixes: true }],
      ['m5.odd', { problem: 'MaximumNetworkInterfaces is 0' }],
    ]),
  },
  networkId: undefined,
  words: awsSection.words,
};

describe('nodes that the controller blocks', () => {
  test.each<[string, Partial<BlockQuestion>, readonly (readonly [string, RegExp])[], readonly string[]]>([
    ['none', {}, [], ['a', 'b']],
    [
      'those of a type that the cloud does not know',
      { nodes: [node('a', { instanceType: 'z9.rubbish' }), node('b', { instanceType: 'z9.rubbish' })] },
      [
        [
          'problem',
          /^2 nodes \(a, b\) can get no address: the cloud knows no instance type "z9\.rubbish": correct spec\.eni\.instance-type$/,
        ],
      ],
      [],
    ],
    [
      'one of a type whose limits are no limits',
      { nodes: [node('a', { instanceType: 'm5.odd' })] },
      [['unknown', /the limits of instance type m5\.odd cannot be read: MaximumNetworkInterfaces is 0/]],
      [],
    ],
    [
      'none by its type, if no limits were read',
      { nodes: [node('a', { instanceType: 'z9.rubbish' })], limits: { kind: 'nothingToRead' } },
      [],
      ['a'],
    ],
    [
      'one that names another network than its instance is in',
      { nodes: [node('a', { networkId: 'vpc-9' }), node('b')] },
      [['problem', /^1 node \(a\) .*spec\.eni\.vpc-id is vpc-9 and the cloud shows the instance in vpc-1: /]],
      ['b'],
    ],
    [
      'none that names the network of its pods',
      { nodes: [node('a', { networkId: undefined, podNetworkId: 'vpc-9' })] },
      [],
      ['a'],
    ],
    [
      'none by its network, if its instance was not read',
      { nodes: [node('b', { networkId: 'vpc-9' })] },
      [],
      ['b'],
    ],
    [
      'those outside the only network that is served',
      { networkId: 'vpc-2' },
      [['warning', /^2 nodes \(a, b\) .*the node is in vpc-1 and .* restricts Headwater to vpc-2$/]],
      [],
    ],
  ])('are named with the condition that explain shows: %s', (_, change, rows, names) => {
    const { findings, free } = blockedNodes({ ...question, ...change });

    expect(findings.map(({ verdict, found }) => [verdict, found])).toEqual(
      rows.map(([verdict, found]) => [verdict, expect.stringMatching(found)]),
    );
    expect(free.map(({ name }) => name)).toEqual(names);
  });
});
