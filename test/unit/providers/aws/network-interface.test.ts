import { describe, expect, test } from '@jest/globals';
import type { Ec2NetworkInterface } from '../../../../src/providers/aws/ec2-api.ts';
import { readInterface, readTags, tryRead } from '../../../../src/providers/aws/network-interface.ts';
import type { NetworkInterface } from '../../../../src/providers/contract/network-interface.ts';
import { ec2Attachment, ec2Interface, efaOnly } from './ec2-shapes.ts';

function read(change: Partial<Ec2NetworkInterface>): NetworkInterface {
  const found = tryRead(ec2Interface(change));
  if ('problem' in found) throw new Error(found.problem);
  return found.interface;
}

describe('an interface in the answer of EC2', () => {
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
        networkId: 'vpc-00000001',
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
          instanceId: 'i-00000001',
          deviceIndex: 0,
          networkCard: 0,
          state: 'attached',
          deleteOnTermination: true,
        },
      },
    });
  });

  test('may lack optional parts', () => {
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

  test.each(['attaching', 'attached', 'detaching'])('may be %s', (Status) => {
    expect(read({ Attachment: ec2Attachment({ Status }) }).attachment?.state).toBe(Status);
  });

  test('is ignored when it has no instance', () => {
    const shown = [
      ec2Interface({ Attachment: undefined }),
      ec2Interface({ Attachment: ec2Attachment({ InstanceId: undefined }) }),
      ec2Interface({ Attachment: ec2Attachment({ Status: 'detached' }) }),
    ];

    expect(shown.map(readInterface)).toEqual([undefined, undefined, undefined]);
  });

  test('is detached once its attachment has ended', () => {
    const found = read({ Attachment: ec2Attachment({ Status: 'detached' }), Status: 'available' });

    expect(found.attachment).toBeUndefined();
  });
});

describe('an interface of a kind that has no IPv4 address', () => {
  const ofIpv6 = { InterfaceType: 'interface', Ipv6Addresses: [{ Ipv6Address: '2001:db8::4' }] };

  test.each<[string, Partial<Ec2NetworkInterface>]>([
    ['an EFA without IP', {}],
    ['whose list of addresses is left out', { PrivateIpAddresses: undefined }],
    ['an interface of an IPv6-native subnet', ofIpv6],
  ])('takes its slot and causes no warning: %s', (_, change) => {
    expect(readInterface(efaOnly(3, change))).toEqual({
      kind: 'addresslessInterface',
      interface: { id: 'eni-e3', instanceId: 'i-00000001', deviceIndex: 1, networkCard: 3 },
    });
  });

  test.each<[string, Partial<Ec2NetworkInterface>]>([
    ['MacAddress is missing', { MacAddress: undefined }],
    ['Attachment.DeviceIndex is missing', { Attachment: ec2Attachment({ DeviceIndex: undefined }) }],
    ['its attachment state "busy" is unknown', { Attachment: ec2Attachment({ Status: 'busy' }) }],
    ['it has no private IPv4 address', { PrivateIpAddresses: [{ PrivateIpAddress: '10.0.0.4' }] }],
    ['it has no private IPv4 address', { Ipv4Prefixes: [{ Ipv4Prefix: '10.0.1.16/28' }] }],
    ['it has no private IPv4 address', { InterfaceType: 'interface' }],
  ])('must still be complete: %s (case %#)', (problem, change) => {
    expect(readInterface(efaOnly(0, change))).toMatchObject({
      kind: 'unreadableInterface',
      interface: { problem },
    });
  });
});

describe('an interface that pods must not use', () => {
  const second = { Attachment: ec2Attachment({ DeviceIndex: 1 }) };

  test.each<[string, Partial<Ec2NetworkInterface>, string | undefined]>([
    ['an ordinary one is not reserved', {}, undefined],
    ['of a service', { RequesterManaged: true }, 'requester-managed'],
    ['of another type', { InterfaceType: 'efa', ...second }, 'efa'],
    ['of a type that is new', { InterfaceType: 'quantum', ...second }, 'quantum'],
    ['of another type, attached to nothing', { InterfaceType: 'efa', Attachment: undefined }, 'efa'],
    ['the primary one is not, whatever its type', { InterfaceType: 'efa' }, undefined],
    [
      'the first one of another card is no primary one',
      { InterfaceType: 'efa', Attachment: ec2Attachment({ DeviceIndex: 0, NetworkCardIndex: 1 }) },
      'efa',
    ],
    ['on another card', { Attachment: ec2Attachment({ NetworkCardIndex: 2 }) }, 'network card 2'],
  ])('has a reason: %s', (_, change, reservedFor) => {
    expect(read(change).reservedFor).toBe(reservedFor);
  });
});

test.each<[string, Partial<Ec2NetworkInterface>]>([
  ['that is empty, as some emulators of EC2 show it', { Association: {} }],
  ['of a Wavelength Zone', { Association: { IpOwnerId: 'amazon', CarrierIp: '3.3.3.3' } }],
])('an association %s is no public address', (_, change) => {
  expect(read(change).publicAddress).toBeUndefined();
});

describe('an interface that cannot be read', () => {
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
    ['"" is not an IPv4 /28 prefix', { Ipv4Prefixes: [{}] }],
    ['Attachment.AttachmentId is missing', { Attachment: ec2Attachment({ AttachmentId: undefined }) }],
    ['Attachment.DeviceIndex is missing', { Attachment: ec2Attachment({ DeviceIndex: undefined }) }],
    ['Attachment.DeviceIndex is missing', { Attachment: ec2Attachment({ DeviceIndex: Number.NaN }) }],
    ['its attachment state "busy" is unknown', { Attachment: ec2Attachment({ Status: 'busy' }) }],
    ['its attachment state undefined is unknown', { Attachment: ec2Attachment({ Status: undefined }) }],
    ['Attachment.DeviceIndex is missing', { Attachment: ec2Attachment({ DeviceIndex: 4_000_000_000 }) }],
    [
      'Attachment.DeleteOnTermination is missing',
      { Attachment: ec2Attachment({ DeleteOnTermination: undefined }) },
    ],
    ['NetworkInterfaceId is "vpc-1"', { NetworkInterfaceId: 'vpc-1' }],
    ['VpcId is "ENI-1"', { VpcId: 'ENI-1' }],
    ['SubnetId is "subnet-"', { SubnetId: 'subnet-' }],
    ['"10.0.0.4" is not a MAC address', { MacAddress: '10.0.0.4' }],
    ['a security group is "1"', { Groups: [{ GroupId: '1' }] }],
    ['a security group is undefined', { Groups: [{}] }],
    ['"0.0.0.0" is not an IPv4 address', { PrivateIpAddress: '0.0.0.0' }],
    ['"255.255.255.255" is not an IPv4 address', { PrivateIpAddress: '255.255.255.255' }],
    ['its association names no address', { Association: { IpOwnerId: 'amazon' } }],
    ['"" is not an IPv4 address', { Association: { PublicIp: '' } }],
    ['"0.0.0.0/28" is not an IPv4 /28 prefix', { Ipv4Prefixes: [{ Ipv4Prefix: '0.0.0.0/28' }] }],
    [
      'it has 10.0.0.4 twice',
      {
        PrivateIpAddresses: [
          { PrivateIpAddress: '10.0.0.4', Primary: true },
          { PrivateIpAddress: '10.0.0.4', Primary: false },
        ],
      },
    ],
    ...(
      ['AvailabilityZone', 'PrivateIpAddresses', 'Groups', 'InterfaceType', 'RequesterManaged'] as const
    ).map((member): [string, Partial<Ec2NetworkInterface>] => [
      `${member} is missing`,
      { [member]: undefined },
    ]),
    ['it is attached and said to be available', { Status: 'available' }],
    [
      'its primary address is not the one among its addresses',
      { PrivateIpAddresses: [{ PrivateIpAddress: '10.0.0.5', Primary: true }] },
    ],
    [
      'its primary address is not the one among its addresses',
      { PrivateIpAddresses: [{ PrivateIpAddress: '10.0.0.4', Primary: false }] },
    ],
  ])('names what is wrong: %s (case %#)', (problem, change) => {
    const shown = ec2Interface(change);

    const found = readInterface(shown);

    expect(found).toEqual({
      kind: 'unreadableInterface',
      interface: {
        id: shown.NetworkInterfaceId ?? '(without an id)',
        instanceId: 'i-00000001',
        deviceIndex: shown.Attachment?.DeviceIndex,
        networkCard: 0,
        problem,
      },
    });
  });
});

describe('the tags of an interface', () => {
  test('are the same in whatever order EC2 shows them', () => {
    const tags = [
      { Key: 'b', Value: '2' },
      { Key: 'a', Value: '1' },
    ];

    expect(JSON.stringify(readTags(tags))).toBe(JSON.stringify(readTags(tags.toReversed())));
  });

  test('may be empty, and a tag without a key is ignored', () => {
    expect(readTags([{ Key: 'a' }, { Value: 'x' }, { Key: '__proto__', Value: 'y' }])).toEqual(
      Object.fromEntries([
        ['a', ''],
        ['__proto__', 'y'],
      ]),
    );
    expect(readTags(undefined)).toEqual({});
  });
});

test('secondary addresses with a public address are recognized, whatever the name of the field', () => {
  const PrivateIpAddresses = [
    { PrivateIpAddress: '10.0.0.4', Primary: true, Association: { PublicIp: '3.3.3.1' } },
    { PrivateIpAddress: '10.0.0.5', Association: { PublicIp: '3.3.3.2' } },
    { PrivateIpAddress: '10.0.0.6', Association: { CarrierIp: '155.146.0.1' } },
    { PrivateIpAddress: '10.0.0.7', Association: {} },
    { PrivateIpAddress: '10.0.0.8' },
  ];

  expect(read({ PrivateIpAddress: '10.0.0.4', PrivateIpAddresses }).associated).toEqual([
    '10.0.0.5',
    '10.0.0.6',
  ]);
  expect(read({})).not.toHaveProperty('associated');
});
