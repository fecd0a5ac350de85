import { describe, expect, test } from '@jest/globals';
import {
  rehearsalFindings,
  type RehearsalQuestion,
  rehearsedNodes,
  unrehearsed,
} from '../../../../src/commands/check/permission-findings.ts';
import { alibaba } from '../../../../src/config/clouds/alibaba.ts';
import type { CloudFailure } from '../../../../src/providers/contract/cloud-failure.ts';
import { emptyInfrastructure } from '../../../../src/providers/contract/infrastructure.ts';
import type { NetworkInterface } from '../../../../src/providers/contract/network-interface.ts';
import type { Rehearsal } from '../../../../src/providers/contract/rehearsal.ts';
import { ramPermissions } from '../../../support/ram-policy.ts';
import { askingNode } from './asking-node.ts';

function failure(change: Partial<CloudFailure>): CloudFailure {
  return { kind: 'unknown', action: 'X', code: 'Code', message: 'text', requestId: undefined, ...change };
}

describe('rows of what the cloud would permit', () => {
  test.each<[string, readonly Rehearsal[], readonly (readonly [string, RegExp])[]]>([
    [
      'everything that can be asked',
      [
        { action: 'Create', answer: 'permitted' },
        { action: 'Assign', answer: 'permitted' },
        { action: 'Detach', answer: 'unasked' },
      ],
      [['ok', /^a dry run permits Create, Assign; not asked, because it could change something: Detach$/]],
    ],
    [
      'a denial',
      [
        { action: 'Create', answer: { kind: 'denied', failure: failure({ permission: 'ec2:Create' }) } },
        { action: 'Assign', answer: 'permitted' },
      ],
      [
        ['problem', /^Create is denied: Code: text$/],
        ['ok', /^a dry run permits Assign$/],
      ],
    ],
    [
      'an endpoint that knows no dry run',
      [{ action: 'DescribeVpcs', answer: { kind: 'unanswered', failure: failure({ kind: 'invalid' }) } }],
      [['unknown', /^DescribeVpcs was not answered: Code: text$/]],
    ],
    [
      'a question that may not be asked is no denial',
      [
        {
          action: 'Create',
          answer: { kind: 'unanswered', failure: failure({ kind: 'notAuthorized', permission: 'Ask' }) },
        },
      ],
      [['warning', /^Create may not be asked about: Code: text$/]],
    ],
  ])('say what it denies: %s', (_, rehearsals, rows) => {
    const findings = rehearsalFindings({ witness: 'a dry run permits', answers: rehearsals });

    expect(findings.map(({ verdict, found }) => [verdict, found])).toEqual(
      rows.map(([verdict, found]) => [verdict, expect.stringMatching(found)]),
    );
  });

  test('say who permits it, and what no answer shows, in the words of the cloud', () => {
    const [row] = rehearsalFindings({
      witness: 'the roles permit',
      unshown: 'not shown: locks',
      answers: [{ action: 'Create', answer: 'permitted' }],
    });

    expect(row).toEqual({
      verdict: 'ok',
      what: expect.anything(),
      found: 'the roles permit Create; not shown: locks',
    });
  });

  const without = { policy: undefined, answered: new Set<string>(), failed: [], hasNodes: false };

  test('name the reads that were permitted, and what the policy permits besides where there is no such question', () => {
    const policy = {
      permissions: ['ecs:ReadA', 'ecs:ReadB', 'vpc:ReadC', 'ecs:Create'],
      file: 'docs/policy.json',
    };
    const answered = new Set(['ReadB', 'ReadA']);
    const why =
      'this cloud tells whether a change is permitted only by making it: compare the policy of its role with docs/policy.json';

    expect(unrehearsed({ ...without, policy, answered, failed: ['ReadC'], hasNodes: true })).toMatchObject({
      verdict: 'ok',
      found: `reads that are permitted: ReadA, ReadB; not asked: ecs:Create; ${why}`,
    });
    expect(unrehearsed({ ...without, policy }).found).toBe(
      `not asked: ecs:ReadA, ecs:ReadB, vpc:ReadC, ecs:Create; ${why}`,
    );
  });

  test('name the permissions of the shipped policy', () => {
    expect(alibaba.policy?.permissions).toEqual(ramPermissions);
  });

  test('say what was not asked where there is no node', () => {
    expect(unrehearsed({ ...without, answered: new Set(['DescribeA']) }).found).toMatch(
      /^reads that are permitted: DescribeA; changes are asked about once a CiliumNode names an instance/,
    );
  });

  test('do not call permitted what could not be read, and what was not asked for that reason', () => {
    const failed = ['DescribeSubnets', 'X'];

    expect(unrehearsed({ ...without, failed, hasNodes: true })).toMatchObject({
      verdict: 'unknown',
      found: 'changes were not asked about, because DescribeSubnets, X failed',
    });
    expect(unrehearsed({ ...without, hasNodes: true })).toMatchObject({
      verdict: 'unknown',
      found:
        'changes were not asked about: of each node, the primary interface or the security groups of a new one are not known',
    });
  });
});

function item(
  id: string,
  deviceIndex: number,
  tags: Readonly<Record<string, string>> = {},
): NetworkInterface {
  return {
    id,
    description: '',
    networkId: 'vpc-1',
    subnetId: 'subnet-1',
    zone: 'a',
    mac: '',
    primaryAddress: '10.0.0.4',
    publicAddress: undefined,
    addresses: [],
    prefixes: [],
    securityGroupIds: ['sg-1'],
    tags,
    reservedFor: undefined,
    attachment: {
      id: `attach-${id}`,
      instanceId: 'i-a',
      deviceIndex,
      networkCard: 0,
      state: 'attached',
      deleteOnTermination: true,
    },
  };
}

const question: RehearsalQuestion = {
  nodes: [askingNode('x'), askingNode('a')],
  observations: [item('eni-0', 0), item('eni-1', 1, { 'headwater/instance-id': 'i-a' })].map((each) => ({
    kind: 'interface',
    interface: each,
  })),
  infrastructure: emptyInfrastructure,
  tags: { cluster: 'mine' },
  traits: { interfaces: 'made' },
};

describe('the nodes that changes are asked about', () => {
  test('are those whose primary interface was read, with an interface of ours if there is one', () => {
    const nodes = rehearsedNodes(question);

    expect(nodes).toHaveLength(1);
    expect(nodes[0]).toMatchObject({
      instanceId: 'i-a',
      interfaces: [{ id: 'eni-0' }, { id: 'eni-1' }],
      own: { id: 'eni-1' },
      subnetId: 'subnet-1',
      securityGroupIds: ['sg-1'],
      tags: { cluster: 'mine', 'headwater/instance-id': 'i-a' },
    });
    const [without] = rehearsedNodes({ ...question, observations: question.observations.slice(0, 1) });
    expect(without?.own).toBeUndefined();
  });

  test('are none without a primary interface, or without security groups where interfaces are made', () => {
    const observations = question.observations.slice(1);
    const nodes = [askingNode('a', { securityGroupTags: { missing: 'yes' } })];

    expect(rehearsedNodes({ ...question, observations })).toEqual([]);
    expect(rehearsedNodes({ ...question, nodes })).toEqual([]);
    const traits = { interfaces: 'given' } as const;
    expect(rehearsedNodes({ ...question, nodes, traits })).toMatchObject([{ securityGroupIds: [] }]);
  });
});
