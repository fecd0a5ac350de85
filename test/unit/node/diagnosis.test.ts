import { describe, expect, test } from '@jest/globals';
import {
  diagnoseCap,
  diagnoseClaim,
  type Diagnosis,
  diagnoseFailure,
  diagnoseInstance,
  diagnoseObstacle,
  duplicateInstance,
  outsideNetwork,
  unknownInstanceType,
  unmanagedInstance,
  unreadableInterface,
  unreadableLimits,
  unreadableNode,
} from '../../../src/node/diagnosis.ts';
import type { InstanceView } from '../../../src/providers/instance-view.ts';
import type { Instance } from '../../../src/providers/observation.ts';
import { eni, unreadable, view } from './allocation-facts.ts';
import { failure } from './outcomes.ts';

describe('a diagnosis says what to do', () => {
  test.each<[string, Diagnosis | undefined, string, string]>([
    [
      'of a node that cannot be read',
      unreadableNode(['spec.eni is missing', 'x is wrong']),
      'NodeUnreadable',
      'the CiliumNode cannot be read: spec.eni is missing; x is wrong',
    ],
    [
      'of an instance that two nodes name',
      duplicateInstance('i-1', 'node-a'),
      'DuplicateInstance',
      'instance i-1 is already served as CiliumNode node-a: delete the one whose node is gone',
    ],
    [
      'of a node in another network',
      outsideNetwork('vpc-2', 'vpc-1'),
      'OutsideNetwork',
      'the node is in vpc-2 and --vpc-id restricts Headwater to vpc-1',
    ],
    [
      'of an instance without the tags',
      unmanagedInstance('i-1'),
      'InstanceNotManaged',
      'instance i-1 does not carry the tags of --instance-tags-filter',
    ],
    [
      'of an interface that cannot be read',
      unreadableInterface(unreadable({ id: 'eni-7', problem: 'MacAddress is missing' })),
      'InterfaceUnreadable',
      'interface eni-7 cannot be read and is left alone: MacAddress is missing',
    ],
    [
      'of an unknown type',
      unknownInstanceType('m5 large'),
      'InstanceTypeUnknown',
      'the cloud knows no instance type "m5 large": correct spec.eni.instance-type',
    ],
    [
      'of a type that cannot be read',
      unreadableLimits('m5.large', 'MaximumNetworkInterfaces is -2'),
      'InstanceTypeUnreadable',
      'what the cloud says of instance type m5.large cannot be read: MaximumNetworkInterfaces is -2; it is asked again by itself',
    ],
    [
      'of contested addresses',
      diagnoseClaim({
        withheld: new Map([
          ['10.0.0.1', ['node-b', 'node-a']],
          ['10.0.0.2', ['node-b']],
        ]),
        shared: new Map([['10.0.0.3', ['node-c']]]),
      }),
      'AddressesContested',
      'addresses of this node are still published on node-a, node-b and are withheld until they are struck there',
    ],
    [
      'of addresses that others show as well',
      diagnoseClaim({ withheld: new Map(), shared: new Map([['10.0.0.3', ['node-c']]]) }),
      'AddressesContested',
      'addresses of this node are published on node-c as well: strike them there, or delete that CiliumNode if its node is gone',
    ],
    [
      'of full interfaces',
      diagnoseObstacle({ kind: 'noInterfaceSlots', interfaces: 3 }),
      'NoInterfaceSlots',
      "every one of the instance's 3 interfaces is full or excluded: use a larger instance type, or fewer pods on the node",
    ],
    [
      'of a full instance',
      diagnoseCap('instance', 27, 'm5.large'),
      'InstanceFull',
      'pods wait for addresses, and instance type m5.large can have no more than the 27 that the node has: use a larger instance type, or fewer pods on the node',
    ],
    [
      'of a reached max-allocate',
      diagnoseCap('maxAllocate', 12, 'm5.large'),
      'MaxAllocateReached',
      'pods wait for addresses, and spec.ipam.max-allocate 12 allows no more: raise it, or put fewer pods on the node',
    ],
    [
      'of exhausted subnets',
      diagnoseObstacle({ kind: 'subnetsExhausted', subnetIds: ['s-1', 's-2'] }),
      'SubnetsExhausted',
      "no address is left in s-1, s-2: add a subnet that the node's subnet selection matches, or free addresses there",
    ],
    [
      'of a subnet that is gone',
      diagnoseObstacle({ kind: 'subnetsExhausted', subnetIds: ['s-1', 's-2'] }, (id) => id === 's-1'),
      'SubnetsExhausted',
      "no address is left in s-2, and there is no subnet s-1 any more: add a subnet that the node's subnet selection matches, or free addresses there",
    ],
    [
      'of no subnet that matches',
      diagnoseObstacle({ kind: 'noSubnetMatches', wanted: 'a subnet of vpc-1 in us-west-1a' }),
      'NoSubnetMatches',
      "nothing matches a subnet of vpc-1 in us-west-1a: create or tag a subnet, or correct the node's subnet selection and Headwater's subnet filters",
    ],
    [
      'of no security group that matches',
      diagnoseObstacle({ kind: 'noSecurityGroupMatches', wanted: 'k=1' }),
      'NoSecurityGroupMatches',
      "no security group of the node's network carries the tags k=1: tag one, or correct spec.eni.security-group-tags",
    ],
    [
      'of unknown security groups',
      diagnoseObstacle({ kind: 'securityGroupsUnknown' }),
      'SecurityGroupsUnknown',
      'the node names no security groups and those of its first interface are not known: set spec.eni.security-groups',
    ],
  ])('%s', (_, diagnosis, reason, text) => {
    expect(diagnosis).toEqual({ reason, text });
  });
});

describe('an instance', () => {
  const of = (state: Instance['state']): Instance => ({ id: 'i-1', state, managed: true });

  test.each<[string, Partial<InstanceView>, string | undefined]>([
    ['with an interface can be served', { interfaces: [eni(0)] }, undefined],
    [
      'with an interface can be served, whatever its state',
      { interfaces: [eni(0)], instance: of('stopped') },
      undefined,
    ],
    [
      'with one interface that can be read and one that cannot can be served',
      { interfaces: [eni(0)], unreadable: [unreadable()] },
      undefined,
    ],
    [
      'none of whose interfaces can be read',
      { unreadable: [unreadable({ id: 'eni-7', problem: 'MacAddress is missing' }), unreadable()] },
      'InterfaceUnreadable: no interface of instance i-1 can be read; of eni-7: MacAddress is missing',
    ],
    [
      'of which nothing is known',
      {},
      'InstanceNotFound: instance i-1 is not found: correct spec.instance-id, or delete the CiliumNode if the node is gone',
    ],
    [
      'that EC2 does not know',
      { instance: of('unknown') },
      'InstanceNotFound: instance i-1 is not found: correct spec.instance-id, or delete the CiliumNode if the node is gone',
    ],
    [
      'that is gone',
      { instance: of('terminated') },
      'InstanceTerminated: instance i-1 is terminated: delete the Node and its CiliumNode, unless a new instance takes the name over',
    ],
  ])('%s', (_, change, expected) => {
    const diagnosis = diagnoseInstance({ ...view([]), ...change });

    expect(diagnosis && `${diagnosis.reason}: ${diagnosis.text}`).toBe(expected);
  });
});

describe('a failed call', () => {
  test.each([
    ['throttled', "(the account's rate limit for this call is spent; it is tried again by itself)"],
    ['limitReached', '(raise the quota, or wait until interfaces or addresses are given back)'],
    ['instanceNotRunning', '(the instance must be running to get interfaces)'],
    ['notAuthorized', '(check the credentials that Headwater uses)'],
    ['unreachable', '(check the network path and the endpoint)'],
  ] as const)('that is %s comes with a remedy', (kind, remedy) => {
    expect(diagnoseFailure(failure(kind))).toEqual({
      reason: 'CallFailed',
      text: `call answers code of ${kind}: message of ${kind} ${remedy}`,
    });
  });

  test('that is not permitted names what to allow', () => {
    const denied = { ...failure('notAuthorized'), permission: 'ec2:CreateTags' };

    expect(diagnoseFailure(denied).text).toMatch(/ \(allow ec2:CreateTags to Headwater's role\)$/);
  });

  test.each(['conflict', 'invalid', 'unknown', 'interfaceGone'] as const)(
    'that is %s says what the cloud says',
    (kind) => {
      expect(diagnoseFailure(failure(kind)).text).toBe(`call answers code of ${kind}: message of ${kind}`);
    },
  );
});
