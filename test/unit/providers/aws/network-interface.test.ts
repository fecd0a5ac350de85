import { describe, expect, test } from '@jest/globals';
import type { Ec2NetworkInterface } from '../../../../src/providers/aws/ec2-api.ts';
import { readInterface, readTags, tryRead } from '../../../../src/providers/aws/network-interface.ts';
import type { NetworkInterface } from '../../../../src/providers/network-interface.ts';
import { ec2Attachment, ec2Interface } from './ec2-shapes.ts';

function read(change: Partial<Ec2NetworkInterface>): NetworkInterface {
  const found = tryRead(ec2Interface(change));
  if ('problem' in found) throw new Error(found.problem);
  return found.interface;
}

describe('an interface that EC2 shows', () => {
  test('is read as a whole', () => {
    const found = readInterface(
      ec2Interface({
        Association: { PublicIp: '3.3.3.3' },
        Ipv4Prefixes: [{ Ipv4Prefix: '10.0.1.16/28' }],
      }),
    );

    expect(found).toEqual({
      kind: 'interface',
      interface: {
        id: 'eni-1',
        description: 'first',
        networkId: 'vpc-1',
        subnetId: 'subnet-1',
        zone: 'us-west-1a',
        mac: '02:00:00:00:00:01',
        primaryAddress: '10.0.0.4',
        publicAddress: '3.3.3.3',
        addresses: ['10.0.0.10'],
        prefixes: ['10.0.1.16/28'],
        securityGroupIds: ['sg-1', 'sg-2'],
        tags: { name: 'one' },
        reservedFor: undefined,
        attachment: {
          id: 'eni-attach-1',
          instanceId: 'i-1',
          deviceIndex: 0,
          networkCard: 0,
          state: 'attached',
          deleteOnTermination: true,
        },
      },
    });
  });

  test('may lack what is not always there', () => {
    const found = read({
      Description: undefined,
      AvailabilityZone: undefined,
      PrivateIpAddresses: undefined,
      Ipv4Prefixes: undefined,
      Groups: undefined,
      TagSet: undefined,
      InterfaceType: undefined,
      RequesterManaged: undefined,
      Attachment: undefined,
    });

    expect(found).toMatchObject({
      description: '',
      zone: '',
      addresses: [],
      prefixes: [],
      securityGroupIds: [],
      tags: {},
      reservedFor: undefined,
      attachment: undefined,
    });
  });

  test('may have an attachment that says no more than it must', () => {
    const { attachment } = read({
      Attachment: ec2Attachment({ NetworkCardIndex: undefined, DeleteOnTermination: undefined }),
    });

    expect(attachment).toMatchObject({ networkCard: 0, deleteOnTermination: false });
  });

  test.each(['attaching', 'attached', 'detaching'])('may be %s', (Status) => {
    expect(read({ Attachment: ec2Attachment({ Status }) }).attachment?.state).toBe(Status);
  });

  test('is nothing to us without an instance', () => {
    const shown = [
      ec2Interface({ Attachment: undefined }),
      ec2Interface({ Attachment: ec2Attachment({ InstanceId: undefined }) }),
    ];

    expect(shown.map(readInterface)).toEqual([undefined, undefined]);
  });
});

describe('an interface that pods must not use', () => {
  test.each<[string, Partial<Ec2NetworkInterface>, string | undefined]>([
    ['an ordinary one is not reserved', {}, undefined],
    ['of a service', { RequesterManaged: true }, 'requester-managed'],
    ['of another type', { InterfaceType: 'efa' }, 'efa'],
    ['of a type that is new', { InterfaceType: 'quantum' }, 'quantum'],
    ['on another card', { Attachment: ec2Attachment({ NetworkCardIndex: 2 }) }, 'network card 2'],
  ])('%s', (_, change, reservedFor) => {
    expect(read(change).reservedFor).toBe(reservedFor);
  });
});

describe('an interface that cannot be understood', () => {
  test.each<[string, Partial<Ec2NetworkInterface>]>([
    ['NetworkInterfaceId is missing', { NetworkInterfaceId: undefined }],
    ['VpcId is missing', { VpcId: '' }],
    ['SubnetId is missing', { SubnetId: undefined }],
    ['MacAddress is missing', { MacAddress: undefined }],
    ['it has no private IPv4 address', { PrivateIpAddress: undefined, PrivateIpAddresses: [] }],
    ['"10.0.0.400" is not an IPv4 address', { PrivateIpAddress: '10.0.0.400' }],
    ['"fd00::1" is not an IPv4 address', { PrivateIpAddresses: [{ PrivateIpAddress: 'fd00::1' }] }],
    ['"" is not an IPv4 address', { PrivateIpAddresses: [{ Primary: false }] }],
    ['"10.0.1.16/27" is not an IPv4 /28 prefix', { Ipv4Prefixes: [{ Ipv4Prefix: '10.0.1.16/27' }] }],
    ['"10.0.1.17/28" is not an IPv4 /28 prefix', { Ipv4Prefixes: [{ Ipv4Prefix: '10.0.1.17/28' }] }],
    ['undefined is not an IPv4 /28 prefix', { Ipv4Prefixes: [{}] }],
    ['Attachment.AttachmentId is missing', { Attachment: ec2Attachment({ AttachmentId: undefined }) }],
    ['Attachment.DeviceIndex is missing', { Attachment: ec2Attachment({ DeviceIndex: undefined }) }],
    ['Attachment.DeviceIndex is missing', { Attachment: ec2Attachment({ DeviceIndex: Number.NaN }) }],
    ['its attachment state "busy" is unknown', { Attachment: ec2Attachment({ Status: 'busy' }) }],
    ['its attachment state undefined is unknown', { Attachment: ec2Attachment({ Status: undefined }) }],
  ])('%s', (problem, change) => {
    const shown = ec2Interface(change);

    const found = readInterface(shown);

    expect(found).toEqual({
      kind: 'unreadableInterface',
      interface: {
        id: shown.NetworkInterfaceId ?? '(without an id)',
        instanceId: 'i-1',
        deviceIndex: shown.Attachment?.DeviceIndex,
        networkCard: 0,
        problem,
      },
    });
  });
});

describe('tags', () => {
  test('are the same whatever order EC2 shows them in', () => {
    const tags = [
      { Key: 'b', Value: '2' },
      { Key: 'a', Value: '1' },
    ];

    expect(JSON.stringify(readTags(tags))).toBe(JSON.stringify(readTags(tags.toReversed())));
  });

  test('may be empty, and one without a key is none', () => {
    expect(readTags([{ Key: 'a' }, { Value: 'x' }, { Key: '__proto__', Value: 'y' }])).toEqual(
      Object.fromEntries([
        ['a', ''],
        ['__proto__', 'y'],
      ]),
    );
    expect(readTags(undefined)).toEqual({});
  });
});
