// Parses subnets, VPCs, route tables and security groups from EC2 answers.
import type {
  Network,
  RouteTable,
  SecurityGroup,
  Subnet,
  UnreadablePart,
} from '../contract/infrastructure.ts';
import { unreadablePart } from '../reading/infrastructure-parts.ts';
import { parseBlock, sizeOf } from '../contract/ipv4.ts';
import { isIdOf } from './ids.ts';
import { carries } from '../contract/network-interface.ts';
import type { Ec2RouteTable, Ec2SecurityGroup, Ec2Subnet, Ec2Vpc } from './ec2-api.ts';
import { readTags } from './network-interface.ts';
import type { ReadOptions } from './read-list.ts';

/** Undefined for an IPv6-only subnet, which has no addresses for pods. */
export function readSubnet(
  shown: Ec2Subnet,
  options: Pick<ReadOptions, 'subnetIds' | 'subnetTags'>,
): Subnet | UnreadablePart | undefined {
  const problem = problemOfSubnet(shown);
  if (problem !== undefined) return unreadablePart('subnet', shown.SubnetId, problem);
  return isIpv6Native(shown) ? undefined : ipv4Subnet(shown, options);
}

function ipv4Subnet(shown: Ec2Subnet, options: Pick<ReadOptions, 'subnetIds' | 'subnetTags'>): Subnet {
  const {
    SubnetId: id = '',
    VpcId: networkId = '',
    CidrBlock: cidr = '',
    AvailabilityZone: zone = '',
  } = shown;
  const { AvailableIpAddressCount: freeAddresses = -1 } = shown;
  const tags = readTags(shown.Tags);
  const { subnetIds, subnetTags } = options;
  const eligible = (subnetIds.length === 0 || subnetIds.includes(id)) && carries(tags, subnetTags);
  const ipv6Cidr = ipv6BlockOf(shown);
  const subnet = {
    id,
    ...(tags['Name'] !== undefined && { name: tags['Name'] }),
    networkId,
    zone,
    cidr,
    tags,
    freeAddresses,
    eligible,
  };
  return ipv6Cidr === undefined ? subnet : { ...subnet, ipv6Cidr };
}

/** A subnet has at most one at a time. */
function ipv6BlockOf({ Ipv6CidrBlockAssociationSet: all = [] }: Ec2Subnet): string | undefined {
  return all.find(({ Ipv6CidrBlockState: state }) => state?.State === 'associated')?.Ipv6CidrBlock;
}

function problemOfSubnet(shown: Ec2Subnet): string | undefined {
  const missing = (['SubnetId', 'VpcId', 'AvailabilityZone'] as const).find(
    (member) => shown[member] === undefined,
  );
  if (missing !== undefined) return `${missing} is missing`;
  if (!isIdOf('subnet', shown.SubnetId)) return `SubnetId is ${JSON.stringify(shown.SubnetId)}`;
  if (!isIdOf('vpc', shown.VpcId)) return `VpcId is ${JSON.stringify(shown.VpcId)}`;
  return isIpv6Native(shown) ? undefined : addressProblemOf(shown);
}

/** The subnet says so and has no IPv4 CIDR (https://docs.aws.amazon.com/vpc/latest/userguide/subnet-basics.html). */
function isIpv6Native({ CidrBlock, Ipv6Native }: Ec2Subnet): boolean {
  return Ipv6Native === true && CidrBlock === undefined;
}

function addressProblemOf(shown: Ec2Subnet): string | undefined {
  const block = parseBlock(shown.CidrBlock ?? '');
  if (block === undefined) return `${JSON.stringify(shown.CidrBlock)} is not an IPv4 block`;
  const { AvailableIpAddressCount: free } = shown;
  if (!Number.isInteger(free)) return 'AvailableIpAddressCount is missing';
  return Number(free) >= 0 && Number(free) <= sizeOf(block) ? undefined : `it has ${free} free addresses`;
}

export function readNetwork(shown: Ec2Vpc): Network | UnreadablePart {
  const { VpcId: id, CidrBlock: primaryCidr } = shown;
  if (!isIdOf('vpc', id) || primaryCidr === undefined || parseBlock(primaryCidr) === undefined) {
    const problem = isIdOf('vpc', id)
      ? `${JSON.stringify(primaryCidr)} is not an IPv4 block`
      : 'VpcId is missing';
    return unreadablePart('network', id, problem);
  }
  const broken = shown.CidrBlockAssociationSet?.find(
    ({ CidrBlock }) => CidrBlock !== undefined && parseBlock(CidrBlock) === undefined,
  );
  if (broken !== undefined)
    return unreadablePart('network', id, `${JSON.stringify(broken.CidrBlock)} is not an IPv4 block`);
  const associated = (shown.CidrBlockAssociationSet ?? []).flatMap((item) =>
    item.CidrBlockState?.State === 'associated' && item.CidrBlock !== undefined ? [item.CidrBlock] : [],
  );
  return { id, primaryCidr, cidrs: associated.filter((cidr) => cidr !== primaryCidr) };
}

export function readRouteTable(shown: Ec2RouteTable): RouteTable | UnreadablePart {
  const { RouteTableId: id, VpcId: networkId } = shown;
  if (!isIdOf('rtb', id) || !isIdOf('vpc', networkId))
    return unreadablePart('route table', id, 'RouteTableId or VpcId is missing');
  return { id, networkId, subnetIds: (shown.Associations ?? []).flatMap((item) => item.SubnetId ?? []) };
}

export function readSecurityGroup(shown: Ec2SecurityGroup): SecurityGroup | UnreadablePart {
  const { GroupId: id, VpcId: networkId } = shown;
  if (!isIdOf('sg', id) || !isIdOf('vpc', networkId))
    return unreadablePart('security group', id, 'GroupId or VpcId is missing');
  return { id, networkId, tags: readTags(shown.Tags) };
}
