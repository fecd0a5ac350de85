import { describe, expect, test } from '@jest/globals';
import { capacityFindings, type CapacityQuestion } from '../../../../src/commands/check/capacity-findings.ts';
import type { AskingNode } from '../../../../src/commands/check/cloud-facts.ts';
import { awsSection } from '../../../../src/providers/aws/cilium-node-section.ts';
import { eni } from '../../node/allocation-facts.ts';
import { askingNode, unusedNode } from './asking-node.ts';

type Ipam = AskingNode['object']['ipam'];

function node(name: string, ipam: Partial<Ipam> = {}, used: readonly string[] = []): AskingNode {
  const object = {
    ipam: { ...unusedNode.ipam, ...ipam },
    status: { ...unusedNode.status, used: new Set(used) },
  };
  return askingNode(name, {}, object);
}

const addresses = Array.from({ length: 20 }, (_, index) => `10.0.0.${index}`);
const pool: Ipam['pool'] = new Map(addresses.map((address) => [address, { resource: 'eni-1', owner: '' }]));

const asked: Omit<CapacityQuestion, 'nodes'> = {
  limits: new Map([['m5.large', { interfaces: 3, addressesPerInterface: 10, prefixes: true }]]),
  podCapacity: new Map(),
  traits: { limits: 'byType', poolRequests: true },
  interfaces: new Map(),
  words: awsSection.words,
  releaseOption: 'aws-release-excess-ips',
};

const summary = ['ok', expect.stringMatching(/^1 list the addresses in use/)] as const;

describe('rows of what nodes can hold', () => {
  test.each<[string, AskingNode[], Partial<CapacityQuestion>, readonly unknown[]]>([
    ['no node', [], {}, []],
    ['all is well', [node('a')], { podCapacity: new Map([['a', 29]]) }, [summary]],
    [
      'a kubelet that admits more pods',
      [node('a')],
      { podCapacity: new Map([['a', 110]]) },
      [
        ['warning', 'the kubelet of 1 node (a) admits 110 pods, although m5.large can hold 27 addresses'],
        summary,
      ],
    ],
    [
      'a kubelet that counts pods on the primary interface, where pods are in another network',
      [askingNode('a', { podNetworkId: 'vpc-9' })],
      { podCapacity: new Map([['a', 29]]), interfaces: new Map([['i-a', [eni(0, 1)]]]) },
      [
        ['warning', 'the kubelet of 1 node (a) admits 29 pods, although m5.large can hold 18 addresses'],
        summary,
      ],
    ],
    [
      'a kubelet that admits more pods than given interfaces can hold',
      [node('a'), node('b')],
      {
        podCapacity: new Map([['a', 300]]),
        traits: { limits: { addressesPerInterface: 256, prefixes: false }, poolRequests: true },
        interfaces: new Map([['i-a', [eni(0, 1)]]]),
      },
      [
        ['warning', 'the kubelet of 1 node (a) admits 300 pods, although m5.large can hold 255 addresses'],
        ['ok', expect.stringMatching(/^2 list the addresses in use/)],
      ],
    ],
    [
      'a type that is not known',
      [node('a')],
      { limits: new Map(), podCapacity: new Map([['a', 110]]) },
      [summary],
    ],
    [
      'limits that cannot be read',
      [node('a')],
      { limits: new Map([['m5.large', { problem: 'x' }]]), podCapacity: new Map([['a', 110]]) },
      [summary],
    ],
    [
      'an agent that needs more to start than its node can hold',
      [node('a', { minAllocate: 40 })],
      {},
      [
        [
          'problem',
          expect.stringMatching(
            /^those of 1 node \(a\) cannot start: lower ipam-min-allocate .* m5\.large.* 27$/,
          ),
        ],
        summary,
      ],
    ],
    [
      'an agent that needs more to start than it may have',
      [node('a', { maxAllocate: 4 })],
      {},
      [
        ['problem', expect.stringMatching(/raise ipam-max-allocate.*spec\.ipam\.max-allocate allows 4$/)],
        summary,
      ],
    ],
    [
      'agents of both protocols',
      [node('a'), node('b', { requested: [{ pool: 'default', ipv4: 9, ipv6: 0 }] })],
      {},
      [['ok', '1 list the addresses in use (up to 1.19), 1 request a pool (from 1.20 on)']],
    ],
    [
      'an agent of a protocol that none has on the cloud',
      [node('b', { requested: [{ pool: 'default', ipv4: 9, ipv6: 0 }] })],
      { traits: { limits: 'byType', poolRequests: false } },
      [
        ['warning', expect.stringMatching(/^1 node \(b\): the agent requests a count/)],
        ['ok', '1 request a pool (from 1.20 on)'],
      ],
    ],
    [
      'addresses beyond the watermarks, without releases',
      [node('a', { pool }, addresses.slice(0, 2))],
      {},
      [summary, ['warning', 'they are off: 1 node (a) keep 10 addresses beyond their watermarks']],
    ],
    ['the same with releases', [node('a', { pool })], { releaseOption: undefined }, [summary]],
  ])('say which hold less than is counted on: %s', (_, nodes, change, rows) => {
    const findings = capacityFindings({ ...asked, ...change, nodes });

    expect(findings.map(({ verdict, found }) => [verdict, found])).toEqual(rows);
  });
});
