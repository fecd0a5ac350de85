// Reads what EC2 shows of subnets, VPCs, route tables and security groups.
import type { Network, RouteTable, SecurityGroup, Subnet, UnreadablePart } from '../infrastructure.ts';
import { parseBlock } from '../ipv4.ts';
import { carries } from '../network-interface.ts';
import type { Ec2RouteTable, Ec2SecurityGroup, Ec2Subnet, Ec2Vpc } from './ec2-api.ts';
import { readTags } from './network-interface.ts';
import type { ReadOptions } from './read-options.ts';

export function isUnreadable(read: unknown): read is UnreadablePart {
  return typeof read === 'object' && read !== null && 'problem' in read;
}

export function readSubnet(
  shown: Ec2Subnet,
  options: Pick<ReadOptions, 'subnetIds' | 'subnetTags'>,
): Subnet | UnreadablePart {
  const {
    SubnetId: id = '',
    VpcId: networkId = '',
    CidrBlock: cidr = '',
    AvailabilityZone: zone = '',
  } = shown;
  const { AvailableIpAddressCount: freeAddresses = -1 } = shown;
  const problem = problemOfSubnet(shown);
  if (problem !== undefined) return { what: 'subnet', id: id || '(without an id)', problem };
  const tags = readTags(shown.Tags);
  const { subnetIds, subnetTags } = options;
  const eligible = (subnetIds.length === 0 || subnetIds.includes(id)) && carries(tags, subnetTags);
  return { id, networkId, zone, cidr, tags, freeAddresses, eligible };
}

function problemOfSubnet(shown: Ec2Subnet): string | undefined {
  const missing = (['SubnetId', 'VpcId', 'AvailabilityZone'] as const).find(
    (member) => shown[member] === undefined,
  );
  if (missing !== undefined) return `${missing} is missing`;
  if (parseBlock(shown.CidrBlock ?? '') === undefined)
    return `${JSON.stringify(shown.CidrBlock)} is not an IPv4 block`;
  return Number.isInteger(shown.AvailableIpAddressCount) ? undefined : 'AvailableIpAddressCount is missing';
}

export function readNetwork(shown: Ec2Vpc): Network | UnreadablePart {
  const { VpcId: id, CidrBlock: primaryCidr } = shown;
  if (id === undefined || primaryCidr === undefined || parseBlock(primaryCidr) === undefined) {
    const problem =
      id === undefined ? 'VpcId is missing' : `${JSON.stringify(primaryCidr)} is not an IPv4 block`;
    return { what: 'network', id: id ?? '(without an id)', problem };
  }
  const associated = (shown.CidrBlockAssociationSet ?? []).flatMap((item) =>
    item.CidrBlockState?.State === 'associated' && item.CidrBlock !== undefined ? [item.CidrBlock] : [],
  );
  return { id, primaryCidr, cidrs: associated.filter((cidr) => cidr !== primaryCidr) };
}

export function readRouteTable(shown: Ec2RouteTable): RouteTable | UnreadablePart {
  const { RouteTableId: id, VpcId: networkId } = shown;
  if (id === undefined || networkId === undefined) {
    return { what: 'route table', id: id ?? '(without an id)', problem: 'RouteTableId or VpcId is missing' };
  }
  return { id, networkId, subnetIds: (shown.Associations ?? []).flatMap((item) => item.SubnetId ?? []) };
}

export function readSecurityGroup(shown: Ec2SecurityGroup): SecurityGroup | UnreadablePart {
  const { GroupId: id, VpcId: networkId } = shown;
  if (id === undefined || networkId === undefined) {
    return { what: 'security group', id: id ?? '(without an id)', problem: 'GroupId or VpcId is missing' };
  }
  return { id, networkId, tags: readTags(shown.Tags) };
}
