import { describe, expect, test } from '@jest/globals';
import {
  changingInterfaces,
  unreadableInterface,
  unseenInterfaces,
} from '../../../../src/node/conditions/interface-condition.ts';
import { ipv6Condition } from '../../../../src/node/conditions/ipv6-condition.ts';
import { obstacleCondition } from '../../../../src/node/conditions/plan-condition.ts';
import {
  capCondition,
  type NodeCondition,
  stoppedInstance,
  instanceCondition,
  outsideNetwork,
  presentable,
  unknownInstanceType,
  unmanagedInstance,
  unnamedInterface,
  unreadableLimits,
  wrongNetwork,
} from '../../../../src/node/conditions/node-condition.ts';
import {
  foreignAgent,
  unreachableStart,
  untakenCondition,
} from '../../../../src/node/conditions/agent-condition.ts';
import { missingStaticIp } from '../../../../src/node/conditions/static-ip-condition.ts';
import {
  claimCondition,
  duplicateInstance,
  unreadableNode,
} from '../../../../src/node/conditions/claim-condition.ts';
import type { Untaken } from '../../../../src/node/conditions/untaken-addresses.ts';
import type { InstanceView, Instance } from '../../../../src/providers/contract/facts.ts';
import { words } from '../../providers/scripted-implementation.ts';
import { eni, unreadable, view } from '../allocation-facts.ts';

const hiding = { ...words, remedies: { ...words.remedies, hiddenTags: 'name it by its id' } };

describe('the text of a condition', () => {
  test.each<[string, NodeCondition | undefined, string, string]>([
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
      outsideNetwork({ named: 'vpc-2', option: words.options.networkId, allowed: 'vpc-1' }),
      'OutsideNetwork',
      'the node is in vpc-2 and --network restricts Headwater to vpc-1',
    ],
    [
      'of an instance that the cloud shows in another network',
      wrongNetwork('vpc-1', 'vpc-2', words),
      'NetworkMismatch',
      'section.network is vpc-1 and the cloud shows the instance in vpc-2: correct section.network',
    ],
    [
      'of a public address that does not exist',
      missingStaticIp('noneMatches', { a: '1', b: '2' }, words),
      'NoStaticIpMatches',
      "no floating address carries the tags a=1, b=2: tag one, or correct ipam-static-ip-tags of Cilium's agent, which writes spec.ipam.static-ip-tags",
    ],
    [
      'of public addresses that are all taken',
      missingStaticIp('noneFree', { a: '1' }, words),
      'StaticIpsTaken',
      'every floating address with the tags a=1 is in use: allocate and tag another, or free one',
    ],
    [
      'of an instance without the tags',
      unmanagedInstance('i-1', words.options),
      'InstanceNotManaged',
      'instance i-1 does not carry the tags of --instance-tags',
    ],
    [
      'of an interface that cannot be read',
      unreadableInterface(unreadable({ id: 'eni-7', problem: 'MacAddress is missing' })),
      'InterfaceUnreadable',
      'interface eni-7 cannot be read and is not used: MacAddress is missing',
    ],
    [
      'of an interface name that the instance does not have',
      unnamedInterface('i-1', { interfaceName: 'nic9', names: ['nic0', 'nic1'] }, words.fields),
      'InterfaceNameUnknown',
      'section.interface-name is nic9, and instance i-1 has no such interface: name one of nic0, nic1',
    ],
    [
      'of an interface whose update failed',
      obstacleCondition({ kind: 'interfacesFailed', interfaceIds: ['eni-7'] }, words),
      'InterfaceFailed',
      'the last update of eni-7 failed in the cloud: repair or update the interface there, which Headwater then uses again',
    ],
    [
      'of interfaces that are being detached',
      obstacleCondition({ kind: 'interfacesDetaching', interfaceIds: ['eni-7', 'eni-8'] }, words),
      'InterfaceChanging',
      'wait until eni-7, eni-8 are detached, or detach them by force if they are stuck: no other interface can serve the node',
    ],
    [
      'of the only interface for an IPv6 prefix, which is being detached',
      ipv6Condition(
        { kind: 'unmet', obstacle: { kind: 'interfacesDetaching', interfaceIds: ['eni-7'] }, refusals: [] },
        'm5.large',
        words,
      ),
      'InterfaceChanging',
      'wait until eni-7 is detached, or detach it by force if it is stuck: no other interface can have an IPv6 prefix, and its agent asks for IPv6 and does not get ready without an IPv6 prefix',
    ],
    [
      'of interfaces that cannot be read beside full ones',
      obstacleCondition(
        {
          kind: 'interfacesUnreadable',
          interfaces: [unreadable({ id: 'eni-7', problem: 'MacAddress is missing' })],
        },
        words,
      ),
      'InterfaceUnreadable',
      'repair eni-7 in the cloud, which cannot be read and gets no addresses, or free addresses on the others, which are full or excluded: MacAddress is missing',
    ],
    [
      'of a subnet that the cloud calls full while it counts free addresses',
      obstacleCondition({ kind: 'subnetsExhausted', subnetIds: ['s-1'] }, words, {
        ledger: { isGone: () => false, countedThoughFull: () => 4000, countAwaitedUntil: () => 0 },
        now: 0,
      }),
      'SubnetsRefused',
      'the cloud calls s-1 full, although it counts free addresses there: find what holds the free addresses back, such as a reservation',
    ],
    [
      'of such a subnet beside one in which it counts none',
      obstacleCondition({ kind: 'subnetsExhausted', subnetIds: ['s-1', 's-2'] }, words, {
        ledger: {
          isGone: () => false,
          countedThoughFull: (id) => (id === 's-1' ? 4000 : 0),
          countAwaitedUntil: () => 0,
        },
        now: 0,
      }),
      'SubnetsRefused',
      'no address is left in s-2, and the cloud calls s-1 full, although it counts free addresses there: find what holds the free addresses back, such as a reservation, or widen the subnet',
    ],
    [
      'of interfaces that something else keeps changing',
      changingInterfaces(['eni-7', 'eni-8']),
      'InterfaceChanging',
      'end or repair in the cloud what keeps changing eni-7, eni-8, such as an upgrade of the instance or a detachment: Headwater adds no address there until it has ended',
    ],
    [
      'of an interface that is not shown',
      unseenInterfaces(['eni-7'], 'i-1'),
      'InterfaceNotShown',
      'check in the cloud whether interface eni-7 is attached to instance i-1, and detach it if it is stuck: the cloud accepted the attachment, but no read shows it, and its addresses are offered once one does',
    ],
    [
      'of two interfaces that are not shown',
      unseenInterfaces(['eni-7', 'eni-8'], 'i-1'),
      'InterfaceNotShown',
      'check in the cloud whether interfaces eni-7, eni-8 are attached to instance i-1, and detach those that are stuck: the cloud accepted the attachment, but no read shows it, and its addresses are offered once one does',
    ],
    [
      'of an unknown type',
      unknownInstanceType('m5 large', words.fields),
      'InstanceTypeUnknown',
      'the cloud knows no instance type "m5 large": correct section.type',
    ],
    [
      'of a type that cannot be read',
      unreadableLimits('m5.large', 'MaximumNetworkInterfaces is -2'),
      'InstanceTypeUnreadable',
      'the limits of instance type m5.large cannot be read: MaximumNetworkInterfaces is -2; Headwater retries',
    ],
    [
      'of contested addresses',
      claimCondition({
        excluded: new Map([
          ['10.0.0.1', ['node-b', 'node-a']],
          ['10.0.0.2', ['node-b']],
        ]),
        shared: new Map([['10.0.0.3', ['node-c']]]),
        unasked: new Set(),
      }),
      'AddressesContested',
      'addresses of this node are still published on node-a, node-b and are withheld until they are removed there',
    ],
    [
      'of addresses that others show as well',
      claimCondition({
        excluded: new Map(),
        shared: new Map([['10.0.0.3', ['node-c']]]),
        unasked: new Set(),
      }),
      'AddressesContested',
      'addresses of this node are published on node-c as well: remove them there, or delete that CiliumNode if its node is gone',
    ],
    [
      'of full interfaces',
      obstacleCondition({ kind: 'noInterfaceSlots', interfaces: 3 }, words),
      'NoInterfaceSlots',
      "every one of the instance's 3 interfaces is full or excluded: use a larger machine, or fewer pods on the node",
    ],
    [
      'of interfaces that an index excludes',
      obstacleCondition(
        { kind: 'noInterfaceSlots', interfaces: 4, below: { count: 3, firstInterfaceIndex: 9 } },
        words,
      ),
      'NoInterfaceSlots',
      "every one of the instance's 4 interfaces is full or excluded, 3 of them because first-interface-index is 9: lower it, or use a larger machine, or fewer pods on the node",
    ],
    [
      'of an agent that needs more than the instance can have',
      unreachableStart(
        { field: 'pre-allocate', addresses: 12 },
        { maxAllocate: 12, instance: 9, instanceType: 't3.small' },
        words,
      ),
      'AgentCannotStart',
      "lower ipam-pre-allocate of Cilium's agent, which writes spec.ipam.pre-allocate, or use a larger machine: an agent up to 1.19 starts only with 12 addresses, and instance type t3.small can have 9",
    ],
    [
      'of an agent that needs more than max-allocate and the instance allow',
      unreachableStart(
        { field: 'min-allocate', addresses: 12 },
        { maxAllocate: 8, instance: 9, instanceType: 't3.small' },
        words,
      ),
      'AgentCannotStart',
      "lower ipam-min-allocate of Cilium's agent, which writes spec.ipam.min-allocate, or raise ipam-max-allocate and use a larger machine: an agent up to 1.19 starts only with 12 addresses, and spec.ipam.max-allocate allows 8, and instance type t3.small can have 9",
    ],
    [
      'of an agent whose protocol none has in this mode',
      foreignAgent(),
      'AgentProtocolUnsupported',
      'the agent requests a count in spec.ipam.pools.requested, which no known agent does in this mode: the node gets addresses, and none are released from it; run an agent that lists the addresses in use in status.ipam.used',
    ],
    [
      'of a full instance',
      capCondition('instance', { max: 27, instanceType: 'm5.large' }, words),
      'InstanceFull',
      'pods wait for addresses, and instance type m5.large can have no more than the 27 that the node has: use a larger machine, or fewer pods on the node',
    ],
    [
      'of a full instance whose type decides nothing',
      capCondition('instance', { max: 255, instanceType: '' }, words),
      'InstanceFull',
      'pods wait for addresses, and the instance can have no more than the 255 that the node has: use a larger machine, or fewer pods on the node',
    ],
    [
      'of a reached max-allocate',
      capCondition('maxAllocate', { max: 12, instanceType: 'm5.large' }, words),
      'MaxAllocateReached',
      "pods wait for addresses, and spec.ipam.max-allocate 12 allows no more: raise ipam-max-allocate of Cilium's agent, which writes it, or put fewer pods on the node",
    ],
    [
      'of exhausted subnets',
      obstacleCondition({ kind: 'subnetsExhausted', subnetIds: ['s-1', 's-2'] }, words),
      'SubnetsExhausted',
      'no address is left in s-1, s-2: widen the subnet',
    ],
    [
      'of exhausted subnets, and by what they were chosen',
      obstacleCondition(
        {
          kind: 'subnetsExhausted',
          subnetIds: ['s-1', 's-2'],
          selection: 'all in us-west-1a with the tags k=1',
        },
        words,
      ),
      'SubnetsExhausted',
      'no address is left in s-1, s-2 (all in us-west-1a with the tags k=1): widen the subnet',
    ],
    [
      'of exhausted subnets beside one whose tags another account may keep to itself',
      obstacleCondition({ kind: 'subnetsExhausted', subnetIds: ['s-1'], untagged: ['s-3'] }, hiding),
      'SubnetsExhausted',
      'no address is left in s-1: widen the subnet; no tags are shown of s-3: name it by its id',
    ],
    [
      'of no subnet that matches beside one whose tags another account may keep to itself',
      obstacleCondition({ kind: 'noSubnetMatches', wanted: 'a subnet', untagged: ['s-3'] }, hiding),
      'NoSubnetMatches',
      "nothing matches a subnet: create or tag a subnet, or correct the node's subnet selection and Headwater's subnet filters; no tags are shown of s-3: name it by its id",
    ],
    [
      'of such a subnet where the cloud shows all tags',
      obstacleCondition({ kind: 'subnetsExhausted', subnetIds: ['s-1'], untagged: ['s-3'] }, words),
      'SubnetsExhausted',
      'no address is left in s-1: widen the subnet',
    ],
    [
      'of a subnet that is gone',
      obstacleCondition({ kind: 'subnetsExhausted', subnetIds: ['s-1', 's-2'] }, words, {
        ledger: { isGone: (id) => id === 's-1', countedThoughFull: () => 0, countAwaitedUntil: () => 0 },
        now: 0,
      }),
      'SubnetsExhausted',
      'no address is left in s-2, and subnet s-1 does not exist: widen the subnet',
    ],
    [
      'of no subnet that matches',
      obstacleCondition({ kind: 'noSubnetMatches', wanted: 'a subnet of vpc-1 in us-west-1a' }, words),
      'NoSubnetMatches',
      "nothing matches a subnet of vpc-1 in us-west-1a: create or tag a subnet, or correct the node's subnet selection and Headwater's subnet filters",
    ],
    [
      'of no security group that matches',
      obstacleCondition({ kind: 'noSecurityGroupMatches', wanted: 'k=1' }, words),
      'NoSecurityGroupMatches',
      "no security group of the node's network carries the tags k=1: tag one, or correct section.group-tags",
    ],
    [
      'of unknown security groups',
      obstacleCondition({ kind: 'securityGroupsUnknown', networkId: 'net-1' }, words),
      'SecurityGroupsUnknown',
      'the node names no security groups, and its first interface shows none of net-1: set section.groups or section.group-tags',
    ],
  ])('says what to do: %s', (_, condition, reason, text) => {
    expect(condition).toEqual({ reason, message: text });
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
      'InstanceNotFound: instance i-1 is not found: check the access, and spec.instance-id; delete the CiliumNode only if the Kubernetes Node is gone too',
    ],
    [
      'that EC2 does not know',
      { presence: 'notFound', instance: of('unknown') },
      'InstanceNotFound: instance i-1 is not found: check the access, and spec.instance-id; delete the CiliumNode only if the Kubernetes Node is gone too',
    ],
    [
      'that is not found is not served by what its CiliumNode showed',
      { presence: 'notFound', interfaces: [eni(0)] },
      'InstanceNotFound: instance i-1 is not found: check the access, and spec.instance-id; delete the CiliumNode only if the Kubernetes Node is gone too',
    ],
    [
      'that is shown without any interface is not served by what its CiliumNode showed',
      {
        presence: 'withoutPrimary',
        instance: of('running'),
        interfaces: [eni(0)],
        possiblyGone: new Set([eni(0).id]),
      },
      'InstanceNotFound: instance i-1 is running and shows no interface: check the access, and spec.instance-id; delete the CiliumNode only if the Kubernetes Node is gone too',
    ],
    [
      'without its primary interface is served by what the cloud shows',
      { presence: 'withoutPrimary', interfaces: [eni(1)] },
      undefined,
    ],
    [
      'that is gone',
      { presence: 'terminated', instance: of('terminated') },
      'InstanceTerminated: instance i-1 is terminated: delete the Node and its CiliumNode, unless a new instance takes the name over',
    ],
  ])('%s', (_, change, expected) => {
    const condition = instanceCondition({ ...view([]), ...change }, words);

    expect(condition && `${condition.reason}: ${condition.message}`).toBe(expected);
  });
});

test.each([
  [undefined, 'is not running'],
  ['running', 'is not running'],
  ['stopping', 'is stopping'],
  ['stopped', 'is stopped'],
])('the text about an instance seen as %s says that it %s', (state, found) => {
  expect(stoppedInstance('i-1', state)).toEqual({
    reason: 'InstanceNotRunning',
    message: `start instance i-1, or delete its Node: it ${found}, and gets no interface until it runs`,
  });
});

test.each<[string, string, string]>([
  ['as it is', 'nothing matches a subnet', 'nothing matches a subnet'],
  ['without control characters', 'a\nb\u001b[31mc', 'a\ufffdb\ufffd[31mc'],
  ['cut when it is long', 'x'.repeat(5000), `${'x'.repeat(1000)}…`],
])('an untrusted text is shown %s', (_, text, reported) => {
  expect(presentable({ reason: 'CallFailed', message: text })).toEqual({
    reason: 'CallFailed',
    message: reported,
  });
});

describe('the text about free addresses', () => {
  test.each<[string, Untaken['kind'], string]>([
    [
      'that the agent does not list',
      'unlisted',
      'restart the Cilium agent of this node: pods wait for addresses, and spec.ipam.pools.allocated does not list every CIDR that the status shows',
    ],
    [
      'beside pods that wait',
      'free',
      'restart the Cilium agent of this node, unless the Events of the waiting pods name another cause, such as a missing volume: pods wait, and the node has free addresses for them',
    ],
  ])('%s says what to do, without their number', (_, kind, message) => {
    const condition = untakenCondition({ kind, addresses: 16 });

    expect(condition).toEqual({ reason: 'FreeAddressesNotTaken', message, addresses: 16 });
  });
});
