import { describe, expect, test } from '@jest/globals';
import {
  rehearsalFindings,
  type RehearsalQuestion,
  rehearsedNode,
  unrehearsed,
} from '../../../../src/commands/check/permission-findings.ts';
import type { CloudFailure } from '../../../../src/providers/contract/cloud-failure.ts';
import { emptyInfrastructure } from '../../../../src/providers/contract/infrastructure.ts';
import type { NetworkInterface } from '../../../../src/providers/contract/network-interface.ts';
import type { Rehearsal } from '../../../../src/providers/contract/rehearsal.ts';
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
        { action: 'Create', answer: failure({ kind: 'notAuthorized', permission: 'ec2:Create' }) },
        { action: 'Assign', answer: 'permitted' },
      ],
      [
        ['problem', /^Create is denied: Code: text$/],
        ['ok', /^a dry run permits Assign$/],
      ],
    ],
    [
      'an endpoint that knows no dry run',
      [{ action: 'DescribeVpcs', answer: failure({ kind: 'invalid' }) }],
      [['unknown', /^DescribeVpcs was not answered: Code: text$/]],
    ],
  ])('say what it denies: %s', (_, rehearsals, rows) => {
    expect(rehearsalFindings(rehearsals).map(({ verdict, found }) => [verdict, found])).toEqual(
      rows.map(([verdict, found]) => [verdict, expect.stringMatching(found)]),
    );
  });

  test('say what was not asked where there is no such question, or no node', () => {
    const without = { isAskable: true, failed: [], hasNodes: false };
    expect(unrehearsed({ ...without, isAskable: false }).found).toMatch(
      /^what was read is permitted; this cloud does not say whether changes are/,
    );
    expect(unrehearsed(without).found).toMatch(/once a CiliumNode names an instance/);
  });

  test('do not call permitted what could not be read, and what was not asked for that reason', () => {
    const without = { isAskable: true, failed: ['DescribeSubnets', 'X'], hasNodes: true };
    expect(unrehearsed(without)).toMatchObject({
      verdict: 'unknown',
      found: 'changes were not asked about, because DescribeSubnets, X failed',
    });
    expect(unrehearsed({ ...without, isAskable: false }).found).toMatch(/^this cloud does not say/);
    expect(unrehearsed({ ...without, failed: [] })).toMatchObject({ verdict: 'unknown' });
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
};

describe('the node that changes are asked about', () => {
  test('is the first whose primary interface was read, with an interface of ours if there is one', () => {
    expect(rehearsedNode(question)).toMatchObject({
      instanceId: 'i-a',
      own: { id: 'eni-1' },
      subnetId: 'subnet-1',
      securityGroupIds: ['sg-1'],
      tags: { cluster: 'mine', 'headwater/instance-id': 'i-a' },
    });
    expect(
      rehearsedNode({ ...question, observations: question.observations.slice(0, 1) })?.own,
    ).toBeUndefined();
  });

  test('is none without a primary interface, or without security groups', () => {
    const observations = question.observations.slice(1);
    const nodes = [askingNode('a', { securityGroupTags: { missing: 'yes' } })];

    expect(rehearsedNode({ ...question, observations })).toBeUndefined();
    expect(rehearsedNode({ ...question, nodes })).toBeUndefined();
  });
});
