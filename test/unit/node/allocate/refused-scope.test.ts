import { describe, expect, test } from '@jest/globals';
import {
  allScopesOf,
  describeScope,
  isPerhapsOfAction,
  keyOf,
  blockedBy,
} from '../../../../src/node/allocate/refused-scope.ts';
import type { CloudFailure, CloudFailureKind } from '../../../../src/providers/contract/cloud-failure.ts';
import type { WhatIsBlocked } from '../../../../src/providers/contract/failure-policy.ts';
import { failure } from '../outcomes.ts';

const place = { instanceId: 'i-1', nodeSubnetId: 'subnet-0' };

function of(kind: CloudFailureKind, about?: CloudFailure['about']): CloudFailure {
  return { ...failure(kind), ...(about !== undefined && { about }) };
}

describe('the subject of a refusal', () => {
  test.each<[CloudFailureKind, CloudFailure['about'], WhatIsBlocked, WhatIsBlocked, WhatIsBlocked]>([
    ['limitReached', undefined, 'node', 'newInterfaces', 'interface'],
    ['limitReached', 'action', 'action', 'action', 'action'],
    ['notAuthorized', undefined, 'subnet', 'attachment', 'interface'],
    ['notAuthorized', 'action', 'action', 'action', 'action'],
    ['notAuthorized', 'subnet', 'subnet', 'attachment', 'assignmentsIn'],
    ['notAuthorized', 'securityGroups', 'securityGroups', 'attachment', 'interface'],
    ['notAuthorized', 'interface', 'subnet', 'attachment', 'interface'],
    ['notAuthorized', 'instance', 'node', 'newInterfaces', 'instance'],
    ['invalid', 'securityGroups', 'securityGroups', 'attachment', 'interface'],
    ['invalid', 'prefixes', 'prefixes', 'attachment', 'prefixes'],
  ])(
    'depends on the failure and on what it is about: %s, %s (create: %s, attach: %s, assign: %s)',
    (kind, about, create, attach, allocate) => {
      const found = (['create', 'attach', 'allocate'] as const).map((at) => blockedBy(of(kind, about), at));

      expect(found).toEqual([create, attach, allocate]);
    },
  );

  test.each<[CloudFailureKind, CloudFailure['about'], boolean]>([
    ['notAuthorized', undefined, true],
    ['notAuthorized', 'interface', true],
    ['invalid', undefined, true],
    ['unknown', undefined, true],
    ['invalid', 'securityGroups', false],
    ['invalid', 'prefixes', false],
    ['limitReached', undefined, false],
    ['interfaceGone', undefined, false],
  ])('may be the action as such, for %s about %s: %s', (kind, about, expected) => {
    expect(isPerhapsOfAction(of(kind, about))).toBe(expected);
  });
});

test('a step is checked for each subject of its calls', () => {
  const made = { securityGroupIds: ['sg-1', 'sg-2'], deviceIndex: 1, count: 0, prefixCount: 2 };

  const scopes = (
    [
      { kind: 'createInterface', subnetId: 'subnet-1', ...made },
      {
        kind: 'adoptInterface',
        subnetId: 'subnet-1',
        interfaceId: 'eni-1',
        deviceIndex: 1,
        count: 1,
        room: 0,
      },
      { kind: 'allocateIPs', subnetId: 'subnet-1', interfaceId: 'eni-1', count: 1 },
      { kind: 'allocatePrefixes', subnetId: 'subnet-1', interfaceId: 'eni-1', count: 1 },
    ] as const
  ).map((step) => allScopesOf(step, place));

  const attaching = ['action attach', 'attachment subnet-1 subnet-0', 'newInterfaces i-1'];
  expect(scopes.map((each) => each.map(keyOf))).toEqual([
    ['action create', 'subnet subnet-1', 'securityGroups sg-1,sg-2', 'prefixes i-1', ...attaching],
    attaching,
    ['action assign', 'interface eni-1', 'assignmentsIn subnet-1', 'instance i-1'],
    ['action assign', 'interface eni-1', 'assignmentsIn subnet-1', 'instance i-1', 'prefixes i-1'],
  ]);
  expect([...new Set(scopes.flat().map((scope) => describeScope(scope, [])))]).toEqual([
    '',
    'in subnet subnet-1 ',
    'with security groups sg-1, sg-2 ',
    'for prefixes on instance i-1 ',
    'for an interface in subnet subnet-1 ',
    'for instance i-1 ',
    'for interface eni-1 ',
  ]);
});
