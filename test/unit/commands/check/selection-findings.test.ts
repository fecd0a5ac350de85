import { describe, expect, test } from '@jest/globals';
import { selectionFindings } from '../../../../src/commands/check/selection-findings.ts';
import type { AskingNode } from '../../../../src/commands/check/cloud-facts.ts';
import { awsSection } from '../../../../src/providers/aws/cilium-node-section.ts';
import type { CloudFailure } from '../../../../src/providers/contract/cloud-failure.ts';
import {
  emptyInfrastructure,
  type Infrastructure,
  type Subnet,
} from '../../../../src/providers/contract/infrastructure.ts';
import { askingNode } from './asking-node.ts';

const subnet: Subnet = {
  id: 'subnet-1',
  cidr: '10.0.0.0/24',
  networkId: 'vpc-1',
  zone: 'a',
  tags: { of: 'pods' },
  freeAddresses: 9,
  eligible: true,
};

const whole: Infrastructure = {
  ...emptyInfrastructure,
  networkIds: new Set(['vpc-1']),
  subnets: new Map([['subnet-1', subnet]]),
  securityGroups: [{ id: 'sg-1', networkId: 'vpc-1', tags: {} }],
};

const failure: CloudFailure = {
  kind: 'notAuthorized',
  action: 'X',
  code: 'Y',
  message: 'no',
  requestId: undefined,
};

type Asked = Partial<AskingNode['requirements']>;

describe('rows of what nodes name', () => {
  test.each<[string, Asked, Partial<Infrastructure>, readonly string[]]>([
    ['what exists', { subnetIds: ['subnet-1'], securityGroupIds: ['sg-1'] }, {}, []],
    ['tags that a subnet has', { subnetTags: { of: 'pods' } }, {}, []],
    [
      'a subnet that does not exist',
      { subnetIds: ['subnet-1', 'subnet-2'] },
      {},
      ['warning of 2 nodes (a, b), subnet-2 is not in vpc-1'],
    ],
    [
      'a security group that does not exist',
      { securityGroupIds: ['sg-2'] },
      {},
      ['problem of 2 nodes (a, b), sg-2 is not in vpc-1'],
    ],
    [
      'tags that no subnet has',
      { subnetTags: { of: 'nobody' } },
      {},
      [
        'warning of 2 nodes (a, b), of=nobody matches the tags of no subnet that may serve them, so others do',
      ],
    ],
    [
      'tags that no subnet has, where no other serves',
      { subnetTags: { of: 'nobody' }, strictSubnets: true },
      {},
      [],
    ],
    [
      'only subnets that do not exist, where no other serves',
      { subnetIds: ['x'], strictSubnets: true },
      {},
      [],
    ],
    [
      'a network that was not read',
      { networkId: 'vpc-2', subnetIds: ['x'], securityGroupIds: ['y'] },
      {},
      [],
    ],
    ['a zone that was not read', { subnetIds: ['x'] }, { unreadZones: new Map([['a', failure]]) }, []],
    [
      'groups that may not be read',
      { securityGroupIds: ['sg-2'] },
      { denied: { securityGroups: new Map([['vpc-1', failure]]) } },
      [],
    ],
  ])('say what is not there, of what was read whole: %s', (_, asked, change, rows) => {
    const nodes = [askingNode('a', asked), askingNode('b', asked)];

    const findings = selectionFindings({
      nodes,
      infrastructure: { ...whole, ...change },
      words: awsSection.words,
    });

    expect(findings.map(({ verdict, found }) => `${verdict} ${found}`)).toEqual(rows);
  });
});
