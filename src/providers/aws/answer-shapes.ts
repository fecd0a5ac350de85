// The shapes of the EC2 answers that Headwater reads: which XML element holds which member (EC2's API model
// has both names).
import { answer, flag, listOf, number, record, shared, text } from './page-reader.ts';

export const tag = record({ Key: ['key', shared], Value: ['value', shared] });
const tags = listOf(tag);

const prefixes = listOf(record({ Ipv4Prefix: ['ipv4Prefix', text] }));

const groups = listOf(record({ GroupId: ['groupId', shared] }));

/** Some EC2 emulators show an empty one instead of none. In a Wavelength Zone it holds a carrier address. */
export const association = record({
  IpOwnerId: ['ipOwnerId', shared],
  PublicIp: ['publicIp', text],
  CarrierIp: ['carrierIp', text],
});

const privateAddress = record({
  PrivateIpAddress: ['privateIpAddress', text],
  Primary: ['primary', flag],
  Association: ['association', association],
});

export const attachment = record({
  AttachmentId: ['attachmentId', text],
  InstanceId: ['instanceId', text],
  DeviceIndex: ['deviceIndex', number],
  NetworkCardIndex: ['networkCardIndex', number],
  Status: ['status', shared],
  DeleteOnTermination: ['deleteOnTermination', flag],
});

export const networkInterface = record(
  {
    NetworkInterfaceId: ['networkInterfaceId', text],
    Description: ['description', shared],
    VpcId: ['vpcId', shared],
    SubnetId: ['subnetId', shared],
    AvailabilityZone: ['availabilityZone', shared],
    MacAddress: ['macAddress', text],
    PrivateIpAddress: ['privateIpAddress', text],
    PrivateIpAddresses: ['privateIpAddressesSet', listOf(privateAddress)],
    Ipv6Addresses: ['ipv6AddressesSet', listOf(record({ Ipv6Address: ['ipv6Address', text] }))],
    Ipv4Prefixes: ['ipv4PrefixSet', prefixes],
    Ipv6Prefixes: ['ipv6PrefixSet', listOf(record({ Ipv6Prefix: ['ipv6Prefix', text] }))],
    Groups: ['groupSet', groups],
    TagSet: ['tagSet', tags],
    InterfaceType: ['interfaceType', shared],
    RequesterManaged: ['requesterManaged', flag],
    Status: ['status', shared],
    Association: ['association', association],
    Attachment: ['attachment', attachment],
  },
  ['ipv4Prefix', 'privateIpAddress', 'groupId', 'key', 'publicIp', 'instanceId', 'attachmentId'],
);

export const subnet = record({
  SubnetId: ['subnetId', text],
  OwnerId: ['ownerId', shared],
  CidrBlock: ['cidrBlock', text],
  Ipv6Native: ['ipv6Native', flag],
  Ipv6CidrBlockAssociationSet: [
    'ipv6CidrBlockAssociationSet',
    listOf(
      record({
        Ipv6CidrBlock: ['ipv6CidrBlock', text],
        Ipv6CidrBlockState: ['ipv6CidrBlockState', record({ State: ['state', text] })],
      }),
    ),
  ],
  VpcId: ['vpcId', shared],
  AvailabilityZone: ['availabilityZone', shared],
  AvailableIpAddressCount: ['availableIpAddressCount', number],
  Tags: ['tagSet', tags],
});

export const vpc = record({
  VpcId: ['vpcId', text],
  CidrBlock: ['cidrBlock', text],
  CidrBlockAssociationSet: [
    'cidrBlockAssociationSet',
    listOf(
      record({
        CidrBlock: ['cidrBlock', text],
        CidrBlockState: ['cidrBlockState', record({ State: ['state', text] })],
      }),
    ),
  ],
});

export const routeTable = record({
  RouteTableId: ['routeTableId', text],
  VpcId: ['vpcId', shared],
  Associations: ['associationSet', listOf(record({ SubnetId: ['subnetId', text] }))],
});

export const securityGroup = record({
  GroupId: ['groupId', text],
  VpcId: ['vpcId', shared],
  Tags: ['tagSet', tags],
});

const networkInfo = record({
  MaximumNetworkInterfaces: ['maximumNetworkInterfaces', number],
  Ipv4AddressesPerInterface: ['ipv4AddressesPerInterface', number],
  Ipv6AddressesPerInterface: ['ipv6AddressesPerInterface', number],
  Ipv6Supported: ['ipv6Supported', flag],
  DefaultNetworkCardIndex: ['defaultNetworkCardIndex', number],
  NetworkCards: [
    'networkCards',
    listOf(
      record({
        NetworkCardIndex: ['networkCardIndex', number],
        MaximumNetworkInterfaces: ['maximumNetworkInterfaces', number],
      }),
    ),
  ],
});

export const instanceType = record({
  InstanceType: ['instanceType', text],
  Hypervisor: ['hypervisor', shared],
  BareMetal: ['bareMetal', flag],
  NetworkInfo: ['networkInfo', networkInfo],
});

export const instance = record({
  InstanceId: ['instanceId', text],
  State: ['instanceState', record({ Code: ['code', number], Name: ['name', shared] })],
  Tags: ['tagSet', tags],
});

const reservation = record({ Instances: ['instancesSet', listOf(instance)] });

export const address = record({
  AllocationId: ['allocationId', text],
  AssociationId: ['associationId', text],
  PublicIp: ['publicIp', text],
  NetworkInterfaceId: ['networkInterfaceId', text],
  InstanceId: ['instanceId', text],
  Tags: ['tagSet', tags],
});

const cidrReservation = record({
  Cidr: ['cidr', text],
  ReservationType: ['reservationType', shared],
});

const token = ['nextToken', text] as const;
/** The answer of a call that only confirms success. */
const done = { Return: ['return', flag] } as const;

export const answerShapes = {
  DescribeNetworkInterfaces: answer('DescribeNetworkInterfaces', {
    NetworkInterfaces: ['networkInterfaceSet', listOf(networkInterface)],
    NextToken: token,
  }),
  DescribeAddresses: answer('DescribeAddresses', { Addresses: ['addressesSet', listOf(address)] }),
  DescribeSubnets: answer('DescribeSubnets', { Subnets: ['subnetSet', listOf(subnet)], NextToken: token }),
  DescribeVpcs: answer('DescribeVpcs', { Vpcs: ['vpcSet', listOf(vpc)], NextToken: token }),
  DescribeRouteTables: answer('DescribeRouteTables', {
    RouteTables: ['routeTableSet', listOf(routeTable)],
    NextToken: token,
  }),
  DescribeSecurityGroups: answer('DescribeSecurityGroups', {
    SecurityGroups: ['securityGroupInfo', listOf(securityGroup)],
    NextToken: token,
  }),
  DescribeInstanceTypes: answer('DescribeInstanceTypes', {
    InstanceTypes: ['instanceTypeSet', listOf(instanceType)],
    NextToken: token,
  }),
  DescribeInstances: answer('DescribeInstances', {
    Reservations: ['reservationSet', listOf(reservation)],
    NextToken: token,
  }),
  GetSubnetCidrReservations: answer('GetSubnetCidrReservations', {
    SubnetIpv4CidrReservations: ['subnetIpv4CidrReservationSet', listOf(cidrReservation)],
    NextToken: token,
  }),
  CreateNetworkInterface: answer('CreateNetworkInterface', {
    NetworkInterface: ['networkInterface', networkInterface],
  }),
  AttachNetworkInterface: answer('AttachNetworkInterface', { AttachmentId: ['attachmentId', text] }),
  AssignPrivateIpAddresses: answer('AssignPrivateIpAddresses', {
    NetworkInterfaceId: ['networkInterfaceId', text],
    AssignedPrivateIpAddresses: [
      'assignedPrivateIpAddressesSet',
      listOf(record({ PrivateIpAddress: ['privateIpAddress', text] })),
    ],
    AssignedIpv4Prefixes: ['assignedIpv4PrefixSet', prefixes],
  }),
  AssignIpv6Addresses: answer('AssignIpv6Addresses', {
    NetworkInterfaceId: ['networkInterfaceId', text],
    AssignedIpv6Prefixes: ['assignedIpv6PrefixSet', listOf(text)],
  }),
  UnassignPrivateIpAddresses: answer('UnassignPrivateIpAddresses', done),
  DetachNetworkInterface: answer('DetachNetworkInterface', done),
  AssociateAddress: answer('AssociateAddress', { AssociationId: ['associationId', text] }),
  ModifyNetworkInterfaceAttribute: answer('ModifyNetworkInterfaceAttribute', done),
  DeleteNetworkInterface: answer('DeleteNetworkInterface', done),
};
