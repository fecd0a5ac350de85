import { describe, expect, test } from '@jest/globals';
import { CallError } from '../../../../src/providers/gate/cloud-call.ts';
import { actionOf, perform } from '../../../../src/providers/aws/perform.ts';
import type { CreateInterface, Operation, Outcome } from '../../../../src/providers/contract/operations.ts';
import { ec2Interface } from './ec2-shapes.ts';
import { context, ec2ClientRig } from './ec2-client-rig.ts';

const create: CreateInterface = {
  kind: 'createInterface',
  instanceId: 'i-1',
  subnetId: 'subnet-1',
  securityGroupIds: ['sg-1'],
  addressCount: 9,
  prefixCount: 0,
  description: 'Cilium-CNI (i-1)',
  tags: { team: 'a', env: 'b' },
  deviceIndex: 2,
  token: 'token-1',
};
const attach: Operation = {
  kind: 'attachInterface',
  instanceId: 'i-1',
  interfaceId: 'eni-1',
  deviceIndex: 2,
};
const allocate: Operation = { kind: 'allocateIPs', instanceId: 'i-1', interfaceId: 'eni-1', count: 4 };
const delegate: Operation = { kind: 'allocatePrefixes', instanceId: 'i-1', interfaceId: 'eni-1', count: 2 };
const protect: Operation = {
  kind: 'setDeleteOnTermination',
  instanceId: 'i-1',
  interfaceId: 'eni-1',
  attachmentId: 'eni-attach-1',
};
const associate: Operation = {
  kind: 'associateStaticIP',
  instanceId: 'i-1',
  interfaceId: 'eni-1',
  addressId: 'eipalloc-1',
  publicAddress: '198.18.0.1',
};
const remove: Operation = { kind: 'deleteInterface', interfaceId: 'eni-1' };
const operations = [create, attach, allocate, delegate, associate, protect, remove];

async function performed(
  operation: Operation,
  answer: unknown,
): Promise<{ readonly outcome: Outcome; readonly action: string | undefined; readonly input: unknown }> {
  const { client, sent } = ec2ClientRig(() => answer);
  const outcome = await perform(client, operation, context);
  return { outcome, action: sent[0]?.action, input: sent[0]?.input };
}

describe('an operation on EC2', () => {
  test('creates an interface', async () => {
    const unattached = ec2Interface({ Attachment: undefined });

    const { outcome, action, input } = await performed(create, { NetworkInterface: unattached });

    expect(action).toBe('CreateNetworkInterface');
    expect(input).toEqual({
      SubnetId: 'subnet-1',
      Description: 'Cilium-CNI (i-1)',
      Groups: ['sg-1'],
      SecondaryPrivateIpAddressCount: 9,
      ClientToken: 'token-1',
      TagSpecifications: [
        {
          ResourceType: 'network-interface',
          Tags: [
            { Key: 'team', Value: 'a' },
            { Key: 'env', Value: 'b' },
          ],
        },
      ],
    });
    expect(outcome).toMatchObject({
      kind: 'done',
      answer: {
        kind: 'created',
        interface: { id: 'eni-1', attachment: undefined, addresses: ['10.0.0.10'] },
      },
    });
  });

  test('creates an interface with only its primary address and without tags', async () => {
    const { input } = await performed(
      { ...create, addressCount: 0, tags: {} },
      { NetworkInterface: ec2Interface() },
    );

    expect(Object.keys(input as object).sort()).toEqual(['ClientToken', 'Description', 'Groups', 'SubnetId']);
  });

  test('attaches an interface to the default card', async () => {
    const { outcome, action, input } = await performed(attach, { AttachmentId: 'eni-attach-7' });

    expect(action).toBe('AttachNetworkInterface');
    expect(input).toEqual({
      NetworkInterfaceId: 'eni-1',
      InstanceId: 'i-1',
      DeviceIndex: 2,
      NetworkCardIndex: 0,
    });
    expect(outcome).toEqual({
      kind: 'done',
      answer: {
        kind: 'attached',
        interfaceId: 'eni-1',
        instanceId: 'i-1',
        deviceIndex: 2,
        attachmentId: 'eni-attach-7',
      },
    });
  });

  test('assigns addresses', async () => {
    const assigned = [{ PrivateIpAddress: '10.0.0.11' }, { PrivateIpAddress: '10.0.0.12' }];

    const { outcome, action, input } = await performed(allocate, { AssignedPrivateIpAddresses: assigned });

    expect(action).toBe('AssignPrivateIpAddresses');
    expect(input).toEqual({ NetworkInterfaceId: 'eni-1', SecondaryPrivateIpAddressCount: 4 });
    expect(outcome).toEqual({
      kind: 'done',
      answer: {
        kind: 'allocated',
        interfaceId: 'eni-1',
        instanceId: 'i-1',
        addresses: ['10.0.0.11', '10.0.0.12'],
        prefixes: [],
      },
    });
  });

  test('associates a public address without taking it from another interface', async () => {
    const { outcome, action, input } = await performed(associate, { AssociationId: 'eipassoc-1' });

    expect(action).toBe('AssociateAddress');
    expect(input).toEqual({
      AllocationId: 'eipalloc-1',
      NetworkInterfaceId: 'eni-1',
      AllowReassociation: false,
    });
    expect(outcome).toEqual({
      kind: 'done',
      answer: {
        kind: 'staticIPAssociated',
        interfaceId: 'eni-1',
        instanceId: 'i-1',
        publicAddress: '198.18.0.1',
      },
    });
  });

  test('creates an interface with prefixes', async () => {
    const shown = ec2Interface({
      Attachment: undefined,
      PrivateIpAddresses: [{ PrivateIpAddress: '10.0.0.4', Primary: true }],
      Ipv4Prefixes: [{ Ipv4Prefix: '10.0.9.0/28' }, { Ipv4Prefix: '10.0.9.16/28' }],
    });

    const { outcome, input } = await performed(
      { ...create, addressCount: 0, prefixCount: 2 },
      { NetworkInterface: shown },
    );

    expect(input).toMatchObject({ Ipv4PrefixCount: 2 });
    expect(input).not.toHaveProperty('SecondaryPrivateIpAddressCount');
    expect(outcome).toMatchObject({
      kind: 'done',
      answer: { kind: 'created', interface: { addresses: [], prefixes: ['10.0.9.0/28', '10.0.9.16/28'] } },
    });
  });

  test.each([
    ['prefixes', [], []],
    ['addresses beyond the request too', [{ PrivateIpAddress: '10.0.0.10' }], ['10.0.0.10']],
  ])('assigns prefixes and reads %s', async (_, AssignedPrivateIpAddresses, addresses) => {
    const AssignedIpv4Prefixes = [{ Ipv4Prefix: '10.0.9.0/28' }, { Ipv4Prefix: '10.0.9.16/28' }];

    const { outcome, action, input } = await performed(delegate, {
      AssignedPrivateIpAddresses,
      AssignedIpv4Prefixes,
    });

    expect(action).toBe('AssignPrivateIpAddresses');
    expect(input).toEqual({ NetworkInterfaceId: 'eni-1', Ipv4PrefixCount: 2 });
    expect(outcome).toEqual({
      kind: 'done',
      answer: {
        kind: 'allocated',
        interfaceId: 'eni-1',
        instanceId: 'i-1',
        addresses,
        prefixes: ['10.0.9.0/28', '10.0.9.16/28'],
      },
    });
  });

  test.each([
    ['no prefixes', {}, 'it names no prefixes'],
    [
      'only addresses',
      { AssignedPrivateIpAddresses: [{ PrivateIpAddress: '10.0.0.10' }] },
      'it names no prefixes',
    ],
    [
      'another size',
      { AssignedIpv4Prefixes: [{ Ipv4Prefix: '10.0.9.0/27' }] },
      '"10.0.9.0/27" is not an IPv4 /28 prefix',
    ],
    [
      'host bits',
      { AssignedIpv4Prefixes: [{ Ipv4Prefix: '10.0.9.1/28' }] },
      '"10.0.9.1/28" is not an IPv4 /28 prefix',
    ],
    ['an empty one', { AssignedIpv4Prefixes: [{}] }, '"" is not an IPv4 /28 prefix'],
  ])(
    'does not know the outcome of an assignment of prefixes whose answer names %s',
    async (_, answer, problem) => {
      const { outcome } = await performed(delegate, answer);

      expect(outcome).toMatchObject({ kind: 'ambiguous', failure: { kind: 'unreadable' } });
      expect(outcome.kind === 'ambiguous' && outcome.failure.message).toContain(problem);
    },
  );

  test('sets delete-on-termination', async () => {
    const { outcome, action, input } = await performed(protect, {});

    expect(action).toBe('ModifyNetworkInterfaceAttribute');
    expect(input).toEqual({
      NetworkInterfaceId: 'eni-1',
      Attachment: { AttachmentId: 'eni-attach-1', DeleteOnTermination: true },
    });
    expect(outcome).toEqual({
      kind: 'done',
      answer: { kind: 'deleteOnTerminationSet', interfaceId: 'eni-1', instanceId: 'i-1' },
    });
  });

  test('deletes an interface', async () => {
    const { outcome, action, input } = await performed(remove, {});

    expect(action).toBe('DeleteNetworkInterface');
    expect(input).toEqual({ NetworkInterfaceId: 'eni-1' });
    expect(outcome).toEqual({ kind: 'done', answer: { kind: 'deleted', interfaceId: 'eni-1' } });
  });

  test.each<[Operation, unknown, string]>([
    [create, {}, 'it holds no interface'],
    [create, { NetworkInterface: { NetworkInterfaceId: 'eni-1' } }, 'VpcId is missing'],
    [attach, {}, 'it names no attachment'],
    [associate, {}, 'it names no association'],
    [allocate, {}, 'it names no addresses'],
    [allocate, { AssignedPrivateIpAddresses: [] }, 'it names no addresses'],
    [allocate, { AssignedPrivateIpAddresses: [{}] }, '"" is not an IPv4 address'],
  ])(
    'may have taken effect when its answer cannot be read: %j is answered by %j',
    async (operation, answer, problem) => {
      const { outcome } = await performed(operation, answer);

      expect(outcome).toMatchObject({
        kind: 'ambiguous',
        failure: {
          kind: 'unreadable',
          action: actionOf[operation.kind],
          message: `cannot understand the answer: ${problem}`,
        },
      });
    },
  );

  test.each([
    ['refused', 'failed'],
    ['notSent', 'failed'],
    ['noAnswer', 'ambiguous'],
  ] as const)('ends as %s with the outcome %s, for each kind', async (result, kind) => {
    const { client } = ec2ClientRig(() => {
      throw new CallError({ result, code: 'InternalError', message: 'no' });
    });

    const outcomes = await Promise.all(operations.map((operation) => perform(client, operation, context)));

    expect(outcomes.map((outcome) => outcome.kind)).toEqual(operations.map(() => kind));
    expect(outcomes).toMatchObject(operations.map((item) => ({ failure: { action: actionOf[item.kind] } })));
  });

  test('is one call each, whatever the outcome', async () => {
    const { client, sent } = ec2ClientRig(() => {
      throw new CallError({ result: 'noAnswer', code: 'Timeout', message: 'no' });
    });

    for (const operation of operations) await perform(client, operation, context);

    expect(sent).toHaveLength(operations.length);
  });
});
