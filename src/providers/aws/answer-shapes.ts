// The shapes of the EC2 answers that Headwater reads: which XML element holds which member (EC2's API model
// has both names).
import type {
  Ec2Action,
  Ec2Address,
  Ec2Association,
  Ec2Attachment,
  Ec2Instance,
  Ec2InstanceType,
  Ec2NetworkInterface,
  Ec2Output,
  Ec2PrivateAddress,
  Ec2Reservation,
  Ec2RouteTable,
  Ec2SecurityGroup,
  Ec2Subnet,
  Ec2Vpc,
  Tag,
} from './ec2-api.ts';
import { answer, type AnswerShape, flag, listOf, number, record, shared, text } from './page-reader.ts';

type ItemOf<T> = NonNullable<T> extends readonly (infer I)[] ? I : never;

const tags = listOf(record<Tag>({ Key: ['key', shared], Value: ['value', shared] }));

const prefixes = listOf(record<{ readonly Ipv4Prefix?: string }>({ Ipv4Prefix: ['ipv4Prefix', text] }));

const groups = listOf(record<{ readonly GroupId?: string }>({ GroupId: ['groupId', shared] }));

const association = record<Ec2Association>({
  IpOwnerId: ['ipOwnerId', shared],
  PublicIp: ['publicIp', text],
  CarrierIp: ['carrierIp', text],
});

const privateAddress = record<Ec2PrivateAddress>({
  PrivateIpAddress: ['privateIpAddress', text],
  Primary: ['primary', flag],
  Association: ['association', association],
});

const attachment = record<Ec2Attachment>({
  AttachmentId: ['attachmentId', text],
  InstanceId: ['instanceId', text],
  DeviceIndex: ['deviceIndex', number],
  NetworkCardIndex: ['networkCardIndex', number],
  Status: ['status', shared],
  DeleteOnTermination: ['deleteOnTermination', flag],
});

const networkInterface = record<Ec2NetworkInterface>(
  {
    NetworkInterfaceId: ['networkInterfaceId', text],
    Description: ['description', shared],
    VpcId: ['vpcId', shared],
    SubnetId: ['subnetId', shared],
    AvailabilityZone: ['availabilityZone', shared],
    MacAddress: ['macAddress', text],
    PrivateIpAddress: ['privateIpAddress', text],
    PrivateIpAddresses: ['privateIpAddressesSet', listOf(privateAddress)],
    Ipv6Addresses: [
      'ipv6AddressesSet',
      listOf(record<{ readonly Ipv6Address?: string }>({ Ipv6Address: ['ipv6Address', text] })),
    ],
    Ipv4Prefixes: ['ipv4PrefixSet', prefixes],
    Ipv6Prefixes: [
      'ipv6PrefixSet',
      listOf(record<{ readonly Ipv6Prefix?: string }>({ Ipv6Prefix: ['ipv6Prefix', text] })),
    ],
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

const subnet = record<Ec2Subnet>({
  SubnetId: ['subnetId', text],
  CidrBlock: ['cidrBlock', text],
  Ipv6Native: ['ipv6Native', flag],
  VpcId: ['vpcId', shared],
  AvailabilityZone: ['availabilityZone', shared],
  AvailableIpAddressCount: ['availableIpAddressCount', number],
  Tags: ['tagSet', tags],
});

const vpc = record<Ec2Vpc>({
  VpcId: ['vpcId', text],
  CidrBlock: ['cidrBlock', text],
  CidrBlockAssociationSet: [
    'cidrBlockAssociationSet',
    listOf(
      record<ItemOf<Ec2Vpc['CidrBlockAssociationSet']>>({
        CidrBlock: ['cidrBlock', text],
        CidrBlockState: ['cidrBlockState', record<{ readonly State?: string }>({ State: ['state', text] })],
      }),
    ),
  ],
});

const routeTable = record<Ec2RouteTable>({
  RouteTableId: ['routeTableId', text],
  VpcId: ['vpcId', shared],
  Associations: [
    'associationSet',
    listOf(record<{ readonly SubnetId?: string }>({ SubnetId: ['subnetId', text] })),
  ],
});

const securityGroup = record<Ec2SecurityGroup>({
  GroupId: ['groupId', text],
  VpcId: ['vpcId', shared],
  Tags: ['tagSet', tags],
});

const networkInfo = record<NonNullable<Ec2InstanceType['NetworkInfo']>>({
  MaximumNetworkInterfaces: ['maximumNetworkInterfaces', number],
  Ipv4AddressesPerInterface: ['ipv4AddressesPerInterface', number],
  DefaultNetworkCardIndex: ['defaultNetworkCardIndex', number],
  NetworkCards: [
    'networkCards',
    listOf(
      record<ItemOf<NonNullable<Ec2InstanceType['NetworkInfo']>['NetworkCards']>>({
        NetworkCardIndex: ['networkCardIndex', number],
        MaximumNetworkInterfaces: ['maximumNetworkInterfaces', number],
      }),
    ),
  ],
});

const instanceType = record<Ec2InstanceType>({
  InstanceType: ['instanceType', text],
  Hypervisor: ['hypervisor', shared],
  BareMetal: ['bareMetal', flag],
  NetworkInfo: ['networkInfo', networkInfo],
});

const instance = record<Ec2Instance>({
  InstanceId: ['instanceId', text],
  State: [
    'instanceState',
    record<NonNullable<Ec2Instance['State']>>({ Code: ['code', number], Name: ['name', shared] }),
  ],
});

const reservation = record<Ec2Reservation>({ Instances: ['instancesSet', listOf(instance)] });

const address = record<Ec2Address>({
  AllocationId: ['allocationId', text],
  AssociationId: ['associationId', text],
  PublicIp: ['publicIp', text],
  NetworkInterfaceId: ['networkInterfaceId', text],
  InstanceId: ['instanceId', text],
  Tags: ['tagSet', tags],
});

const token: readonly ['nextToken', typeof text] = ['nextToken', text];
const done: { readonly Return: readonly ['return', typeof flag] } = { Return: ['return', flag] };

export const answerShapes: { readonly [A in Ec2Action]: AnswerShape<Ec2Output<A>> } = {
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
  CreateNetworkInterface: answer('CreateNetworkInterface', {
    NetworkInterface: ['networkInterface', networkInterface],
  }),
  AttachNetworkInterface: answer('AttachNetworkInterface', { AttachmentId: ['attachmentId', text] }),
  AssignPrivateIpAddresses: answer('AssignPrivateIpAddresses', {
    NetworkInterfaceId: ['networkInterfaceId', text],
    AssignedPrivateIpAddresses: [
      'assignedPrivateIpAddressesSet',
      listOf(
        record<{ readonly PrivateIpAddress?: string }>({ PrivateIpAddress: ['privateIpAddress', text] }),
      ),
    ],
    AssignedIpv4Prefixes: ['assignedIpv4PrefixSet', prefixes],
  }),
  UnassignPrivateIpAddresses: answer('UnassignPrivateIpAddresses', done),
  DetachNetworkInterface: answer('DetachNetworkInterface', done),
  AssociateAddress: answer('AssociateAddress', { AssociationId: ['associationId', text] }),
  ModifyNetworkInterfaceAttribute: answer('ModifyNetworkInterfaceAttribute', done),
  DeleteNetworkInterface: answer('DeleteNetworkInterface', done),
};
