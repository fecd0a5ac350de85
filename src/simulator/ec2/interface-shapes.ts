// Shapes of network interfaces in DescribeNetworkInterfaces and in DescribeInstances.
import { as, flag, integer, kept, list, record, text, time } from './shape.ts';
import { tagSet } from './tag-shapes.ts';

export const groupSet = as('groupSet', list(record({ GroupId: text, GroupName: text })));

const association = record({
  AllocationId: text,
  AssociationId: text,
  IpOwnerId: text,
  PublicDnsName: text,
  PublicIp: text,
});

const privateAddresses = as(
  'privateIpAddressesSet',
  list(record({ Association: association, Primary: flag, PrivateDnsName: text, PrivateIpAddress: text })),
);

const addressSets = {
  PrivateIpAddresses: privateAddresses,
  Ipv4Prefixes: as('ipv4PrefixSet', list(record({ Ipv4Prefix: text }))),
  Ipv6Addresses: as('ipv6AddressesSet', list(record({ Ipv6Address: text }))),
  Ipv6Prefixes: as('ipv6PrefixSet', list(record({ Ipv6Prefix: text }))),
};

const common = {
  Description: text,
  Groups: groupSet,
  InterfaceType: text,
  MacAddress: text,
  NetworkInterfaceId: text,
  OwnerId: text,
  PrivateDnsName: text,
  PrivateIpAddress: text,
  SourceDestCheck: flag,
  Status: text,
  SubnetId: text,
  VpcId: text,
  ...addressSets,
};

const attachment = {
  AttachTime: time,
  AttachmentId: text,
  DeleteOnTermination: flag,
  DeviceIndex: integer,
  NetworkCardIndex: integer,
  Status: text,
};

export const networkInterface = kept(
  record({
    ...common,
    Association: association,
    Attachment: record({ ...attachment, InstanceId: text, InstanceOwnerId: text }),
    AvailabilityZone: text,
    AvailabilityZoneId: text,
    RequesterId: text,
    RequesterManaged: flag,
    TagSet: tagSet,
  }),
);

/** The same interface inside an instance, without tags and zone. */
export const instanceNetworkInterface = record({
  ...common,
  PrivateIpAddresses: as(
    'privateIpAddressesSet',
    list(
      record({
        Association: record({ IpOwnerId: text, PublicDnsName: text, PublicIp: text }),
        Primary: flag,
        PrivateDnsName: text,
        PrivateIpAddress: text,
      }),
    ),
  ),
  Association: record({ IpOwnerId: text, PublicDnsName: text, PublicIp: text }),
  Attachment: record(attachment),
});
