import { describe, expect, test } from '@jest/globals';
import type { PlanQuestion } from '../../../../src/commands/plan/chosen-kinds.ts';
import { planLines } from '../../../../src/commands/plan/plan-lines.ts';
import type { PlanningFacts } from '../../../../src/commands/plan/planning-facts.ts';
import type { NodeKind } from '../../../../src/controller/reporting/planning-report.ts';
import { requirements } from '../../node/allocation-facts.ts';
import { facts, kind, planned, subnet } from './planned-facts.ts';

function linesOf(asked: Partial<PlanQuestion>, known?: PlanningFacts): readonly string[] {
  return planLines(planned(asked, known), [], undefined).map(({ text }) => text);
}

function kindIn(letter: string, instanceType: string): NodeKind {
  return kind({
    nodes: 1,
    example: `node-${letter}`,
    requirements: requirements({ instanceType, zone: `us-west-1${letter}`, securityGroupIds: ['sg-1'] }),
    given: [{ subnet: `subnet-${letter}`, deviceIndex: 0, ofOthers: 0, secured: true }],
  });
}

function zones(types: Readonly<Record<string, string>>): PlanningFacts {
  const letters = Object.keys(types);
  return facts({
    subnets: letters.map((letter) => subnet(`subnet-${letter}`, 1000, { zone: `us-west-1${letter}` })),
    planning: { kinds: Object.entries(types).map(([letter, type]) => kindIn(letter, type)) },
  });
}

describe('the type of the nodes', () => {
  test('stands in the first line if all have it', () => {
    const [head, first] = linesOf({ add: 4, pods: 5 }, zones({ a: 'm5.large', b: 'm5.large' }));

    expect(head).toBe('4 nodes of m5.large: all fit');
    expect(first).toBe('like        2 nodes in us-west-1a like node-a, in subnet-a');
  });

  test('stands beside each kind if they differ', () => {
    const lines = linesOf({ add: 4, pods: 5 }, zones({ a: 'm5.large', b: 't3.small' }));

    expect(lines[0]).toBe('4 nodes: all fit');
    expect(lines).toEqual(
      expect.arrayContaining([
        'like        2 nodes of m5.large in us-west-1a like node-a, in subnet-a',
        'like        2 nodes of t3.small in us-west-1b like node-b, in subnet-b',
      ]),
    );
  });
});

test('a kind of which there is no node is not shown', () => {
  const lines = linesOf({ add: 1, pods: 5 }, zones({ a: 'm5.large', b: 't3.small' }));

  expect(lines[0]).toBe('1 node of m5.large: all fit');
  expect(lines.filter((line) => line.startsWith('like'))).toEqual([
    'like        all in us-west-1a like node-a, in subnet-a',
  ]);
});

test('a single node, pod and address are told as such', () => {
  const watermarks = { preAllocate: 1, minAllocate: 0, maxAllocate: 1, maxAboveWatermark: 0 };
  const few = facts({ planning: { kinds: [kind({ watermarks })] } });
  const full = facts({ subnets: [subnet('subnet-1', 12)] });

  expect(linesOf({ add: 1, pods: 1, agentAddresses: 1 }, few)).toContain(
    'problem     MaxAllocateReached on node 1, 1 pod without an address: max-allocate of the nodes is 1, for 1 pod: raise it, or place fewer pods on a node',
  );
  expect(linesOf({ add: 2, pods: 0 }, full)[0]).toBe('2 nodes of m5.large: 1 fits');
});

test('the first line is whole on a narrow terminal', () => {
  const texts = planLines(planned({ add: 300, pods: 5 }), [], 20).map(({ text }) => text);

  expect(texts.slice(0, 2)).toEqual(['300 nodes of', 'm5.large: all fit']);
});

test('calls are told in words', () => {
  const limits = { interfaces: 3, addressesPerInterface: 10, prefixes: true, ipv6PerInterface: 10 };
  const lines = linesOf(
    { add: 1, pods: 0 },
    facts({
      subnets: [subnet('subnet-1', 1000, { ipv6Cidr: '2001:db8::/64' })],
      planning: { kinds: [kind({ limits, ipv6: true })] },
    }),
  );

  expect(lines).toContain('calls       1 allocate IPs, 1 allocate IPv6 prefix');
});
