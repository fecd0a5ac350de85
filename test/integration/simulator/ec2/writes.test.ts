import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import {
  AssignIpv6AddressesCommand,
  AssignPrivateIpAddressesCommand,
  AssociateAddressCommand,
  AttachNetworkInterfaceCommand,
  CreateNetworkInterfaceCommand,
  type CreateNetworkInterfaceCommandInput,
  CreateTagsCommand,
  DeleteNetworkInterfaceCommand,
  DeleteTagsCommand,
  DescribeAddressesCommand,
  DetachNetworkInterfaceCommand,
  DisassociateAddressCommand,
  ModifyNetworkInterfaceAttributeCommand,
  RunInstancesCommand,
  TerminateInstancesCommand,
  UnassignIpv6AddressesCommand,
  UnassignPrivateIpAddressesCommand,
} from '@aws-sdk/client-ec2';
import { type Rig, refusalOf, startRig } from './ec2-rig.ts';

const SubnetId = 'subnet-0000000000000000a';
const InstanceId = 'i-00000000000000001';

let rig: Rig;
beforeEach(async () => {
  rig = await startRig();
});
afterEach(async () => {
  await rig.close();
});

async function create(change: Partial<CreateNetworkInterfaceCommandInput> = {}): Promise<string> {
  const { NetworkInterface } = await rig.client.send(
    new CreateNetworkInterfaceCommand({ SubnetId, ...change }),
  );
  return NetworkInterface?.NetworkInterfaceId ?? '';
}

async function attach(NetworkInterfaceId: string, DeviceIndex = 1): Promise<string> {
  const place = { NetworkInterfaceId, InstanceId, DeviceIndex, NetworkCardIndex: 0 };
  return (await rig.client.send(new AttachNetworkInterfaceCommand(place))).AttachmentId ?? '';
}

const recordOf = (id: string) => rig.network.interfaces.get(id);

describe('the SDK', () => {
  test('creates an interface with everything that a controller sets', async () => {
    const id = await create({
      Description: 'Headwater (i-00000000000000001)',
      Groups: ['sg-00000000000000001'],
      SecondaryPrivateIpAddressCount: 4,
      TagSpecifications: [
        { ResourceType: 'network-interface', Tags: [{ Key: 'owner', Value: 'headwater' }] },
      ],
    });

    expect(recordOf(id)).toMatchObject({
      subnetId: SubnetId,
      description: 'Headwater (i-00000000000000001)',
      groupIds: ['sg-00000000000000001'],
      addresses: { length: 5 },
      tags: { owner: 'headwater' },
    });
  });

  test('creates one interface for one token, however often the request is repeated', async () => {
    const ClientToken = 'token-1';
    const first = await create({ ClientToken });

    const second = await create({ ClientToken });
    const other = await refusalOf(create({ ClientToken, Description: 'other' }));

    expect(second).toBe(first);
    expect(other).toMatchObject({ code: 'IdempotentParameterMismatch', status: 400 });
    expect(rig.network.interfaces.size).toBe(3);
  });

  test('attaches, sets delete-on-termination, detaches and deletes', async () => {
    const NetworkInterfaceId = await create();
    const AttachmentId = await attach(NetworkInterfaceId);
    const Attachment = { AttachmentId, DeleteOnTermination: true };
    await rig.client.send(new ModifyNetworkInterfaceAttributeCommand({ NetworkInterfaceId, Attachment }));
    const attached = recordOf(NetworkInterfaceId);

    const early = await refusalOf(rig.client.send(new DeleteNetworkInterfaceCommand({ NetworkInterfaceId })));
    await rig.client.send(new DetachNetworkInterfaceCommand({ AttachmentId, Force: true }));
    await rig.client.send(new DeleteNetworkInterfaceCommand({ NetworkInterfaceId }));

    expect(attached).toMatchObject({
      instanceId: InstanceId,
      deviceIndex: 1,
      attachment: { deleteOnTermination: true },
    });
    expect(early).toMatchObject({ code: 'InvalidParameterValue' });
    expect(recordOf(NetworkInterfaceId)).toBeUndefined();
  });

  test('is refused a device index that is taken', async () => {
    await attach(await create());

    const refused = await refusalOf(attach(await create()));

    expect(refused).toEqual({
      code: 'InvalidParameterValue',
      status: 400,
      message: "Instance 'i-00000000000000001' already has an interface attached at device index '1'.",
    });
  });

  test('assigns and unassigns addresses and prefixes', async () => {
    const NetworkInterfaceId = await create();
    const assign = (what: object) =>
      rig.client.send(new AssignPrivateIpAddressesCommand({ NetworkInterfaceId, ...what }));

    const { AssignedPrivateIpAddresses = [] } = await assign({ SecondaryPrivateIpAddressCount: 2 });
    const { AssignedIpv4Prefixes = [] } = await assign({ Ipv4PrefixCount: 1 });
    const PrivateIpAddresses = AssignedPrivateIpAddresses.map(
      ({ PrivateIpAddress = '' }) => PrivateIpAddress,
    );
    const Ipv4Prefixes = AssignedIpv4Prefixes.map(({ Ipv4Prefix = '' }) => Ipv4Prefix);
    const held = recordOf(NetworkInterfaceId);
    await rig.client.send(new UnassignPrivateIpAddressesCommand({ NetworkInterfaceId, PrivateIpAddresses }));
    await rig.client.send(new UnassignPrivateIpAddressesCommand({ NetworkInterfaceId, Ipv4Prefixes }));

    expect(held?.addresses.slice(1)).toEqual(PrivateIpAddresses);
    expect(held?.prefixes).toEqual(Ipv4Prefixes);
    expect(recordOf(NetworkInterfaceId)).toMatchObject({ addresses: [held?.primaryAddress], prefixes: [] });
  });

  test('assigns and unassigns IPv6 prefixes', async () => {
    const NetworkInterfaceId = await create();

    const { AssignedIpv6Prefixes = [] } = await rig.client.send(
      new AssignIpv6AddressesCommand({ NetworkInterfaceId, Ipv6PrefixCount: 1 }),
    );
    const held = recordOf(NetworkInterfaceId)?.ipv6Prefixes;
    await rig.client.send(
      new UnassignIpv6AddressesCommand({ NetworkInterfaceId, Ipv6Prefixes: AssignedIpv6Prefixes }),
    );

    expect(AssignedIpv6Prefixes).toEqual([expect.stringMatching(/^2001:db8:0:1:[0-9a-f]+::\/80$/)]);
    expect(held).toEqual(AssignedIpv6Prefixes);
    expect(recordOf(NetworkInterfaceId)?.ipv6Prefixes).toEqual([]);
  });

  test.each([
    ['PrivateIpAddressLimitExceeded', { SecondaryPrivateIpAddressCount: 10 }],
    ['InvalidParameterValue', { Ipv4PrefixCount: 0 }],
    ['InvalidParameterCombination', { Ipv4PrefixCount: 1, SecondaryPrivateIpAddressCount: 1 }],
  ])('is refused too much or too little with %s', async (code, what) => {
    const NetworkInterfaceId = await create();
    await attach(NetworkInterfaceId);

    const call = rig.client.send(new AssignPrivateIpAddressesCommand({ NetworkInterfaceId, ...what }));

    expect(await refusalOf(call)).toMatchObject({ code, status: 400 });
  });

  test('adds and removes tags', async () => {
    const id = await create();
    const Resources = [id];

    await rig.client.send(
      new CreateTagsCommand({
        Resources,
        Tags: [
          { Key: 'a', Value: '1' },
          { Key: 'b', Value: '2' },
        ],
      }),
    );
    await rig.client.send(new DeleteTagsCommand({ Resources, Tags: [{ Key: 'a' }] }));

    expect(recordOf(id)?.tags).toEqual({ b: '2' });
  });

  test('keeps the tags that only AWS sets', async () => {
    const own = { 'aws:eks:cluster-name': 'blue' };
    const instance = rig.network.find('instances', InstanceId);
    rig.network.put('instances', { ...instance, tags: { a: '1', ...own } });
    const Resources = [InstanceId];
    const refusal = { code: 'InvalidParameterValue', status: 400 };
    const Tags = [{ Key: 'aws:eks:cluster-name', Value: 'green' }];

    const refused = await Promise.all(
      [new CreateTagsCommand({ Resources, Tags }), new DeleteTagsCommand({ Resources, Tags })].map(
        (command) => refusalOf(rig.client.send(command as CreateTagsCommand)),
      ),
    );
    await rig.client.send(new DeleteTagsCommand({ Resources }));

    expect(refused).toMatchObject([refusal, refusal]);
    expect(rig.network.find('instances', InstanceId).tags).toEqual(own);
  });

  test('associates and disassociates a static address', async () => {
    const [NetworkInterfaceId = ''] = rig.network.instances.get(InstanceId)?.interfaceIds ?? [];
    const { Addresses = [] } = await rig.client.send(new DescribeAddressesCommand({}));
    const [free, taken] = Addresses.map(({ AllocationId }) => AllocationId);
    const associate = (AllocationId: string | undefined) =>
      rig.client.send(
        new AssociateAddressCommand({ AllocationId, NetworkInterfaceId, AllowReassociation: false }),
      );

    const { AssociationId = '' } = await associate(free);
    const again = await associate(free);
    const other = [...rig.network.instances.values()].find(({ id }) => id !== InstanceId)?.interfaceIds[0];
    await rig.client.send(new AssociateAddressCommand({ AllocationId: taken, NetworkInterfaceId: other }));
    const refused = await refusalOf(associate(taken));
    await rig.client.send(new DisassociateAddressCommand({ AssociationId }));

    expect(again.AssociationId).toBe(AssociationId);
    expect(refused).toMatchObject({ code: 'Resource.AlreadyAssociated' });
    expect(rig.network.all('publicAddresses').get(free ?? '')?.association).toBeUndefined();
  });

  test('launches and terminates instances', async () => {
    const { Instances = [] } = await rig.client.send(
      new RunInstancesCommand({
        ImageId: 'ami-0123456789abcdef0',
        InstanceType: 'c6i.large',
        SubnetId,
        MinCount: 2,
        MaxCount: 2,
      }),
    );
    const InstanceIds = Instances.map((instance) => instance.InstanceId ?? '');
    const during = rig.network.interfaces.size;

    await rig.client.send(new TerminateInstancesCommand({ InstanceIds }));

    expect(InstanceIds).toHaveLength(2);
    expect(during).toBe(4);
    expect(rig.network.interfaces.size).toBe(2);
    expect(InstanceIds.map((id) => rig.network.instances.get(id)?.state)).toEqual([
      'terminated',
      'terminated',
    ]);
  });
});
