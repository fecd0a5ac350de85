// ECS's refusal for each problem of the network. Codes follow its error centre
// (https://api.aliyun.com/document/Ecs/2014-05-26/errorCode) and clients that its vendor publishes.
import type { CloudProblem } from '../cloud/cloud-refusal.ts';
import type { RecordKind } from '../cloud/records.ts';
import { RpcRefusal } from './rpc-refusal.ts';

type Say = {
  readonly [K in CloudProblem['kind']]?: (problem: Extract<CloudProblem, { readonly kind: K }>) => RpcRefusal;
};

/** The refusal for a problem; undefined for one that no request can cause. */
export function refusalOf(problem: CloudProblem): RpcRefusal | undefined {
  const answer = say[problem.kind] as ((problem: CloudProblem) => RpcRefusal) | undefined;
  return answer?.(problem);
}

const unknown: Readonly<Partial<Record<RecordKind, readonly [code: string, what: string]>>> = {
  interfaces: ['InvalidEniId.NotFound', 'network interface'],
  instances: ['InvalidEcsId.NotFound', 'instance'],
  subnets: ['InvalidVSwitchId.NotFound', 'vSwitch'],
  groups: ['InvalidSecurityGroupId.NotFound', 'security group'],
  vpcs: ['InvalidVpcId.NotFound', 'VPC'],
};

const say: Say = {
  notFound: ({ what, id }) => {
    const [code, thing] = unknown[what] ?? ['InvalidResourceId.NotFound', 'resource'];
    return new RpcRefusal(code, `The specified ${thing} ${id} does not exist.`, 404);
  },
  noFreeAddress: ({ subnetId }) =>
    new RpcRefusal(
      'InvalidVSwitchId.IpNotEnough',
      `The specified VSwitch ${subnetId} has not enough IpAddress.`,
      403,
    ),
  addressMalformed: ({ address }) =>
    new RpcRefusal('InvalidIp.Address', `The specified IP ${address} is not valid.`),
  addressOutside: ({ address }) =>
    new RpcRefusal('InvalidIp.OutOfRange', `The specified IP ${address} is not in the range of the vSwitch.`),
  addressReserved: ({ address }) =>
    new RpcRefusal('InvalidIp.Reserved', `The specified IP ${address} is reserved by the system.`),
  addressHeld: ({ address }) =>
    new RpcRefusal('InvalidIp.IpAssigned', `The specified IP ${address} has been assigned.`, 403),
  addressRepeated: ({ address }) =>
    new RpcRefusal('InvalidIp.IpRepeated', `The specified IP ${address} is repeated.`),
  moveNotAllowed: ({ addresses }) =>
    new RpcRefusal(
      'InvalidIp.IpAssigned',
      `The specified IP ${addresses.join(', ')} has been assigned.`,
      403,
    ),
  notAssigned: () =>
    new RpcRefusal('InvalidIp.IpUnassigned', 'The specified IP is not assigned to the network interface.'),
  primaryNotReleasable: ({ address }) =>
    new RpcRefusal('InvalidIp.PrimaryIp', `The primary IP ${address} can not be unassigned.`),
  addressLimit: () =>
    new RpcRefusal(
      'InvalidOperation.Ipv4CountExceeded',
      'The number of IPv4 addresses of the network interface exceeds the limit.',
      403,
    ),
  interfaceLimit: () =>
    new RpcRefusal(
      'EniPerInstanceLimitExceeded',
      'The maximum number of network interfaces of the instance is exceeded.',
      403,
    ),
  otherZone: () =>
    new RpcRefusal(
      'InvalidOperation.AvailabilityZoneMismatch',
      'The specified network interface and the specified instance are not in one zone.',
      403,
    ),
  instanceState: ({ state }) =>
    new RpcRefusal(
      'InvalidOperation.InvalidEcsState',
      `The operation is not allowed in the current state of the instance: ${state}.`,
      403,
    ),
  groupOfOtherNetwork: ({ groupId }) =>
    new RpcRefusal(
      'InvalidSecurityGroupId.VpcMismatch',
      `The specified security group ${groupId} is not in the VPC of the vSwitch.`,
      403,
    ),
  tooManyGroups: () =>
    new RpcRefusal(
      'SecurityGroupPerNetworkInterfaceLimitExceed',
      'The maximum number of security groups of a network interface is exceeded.',
      403,
    ),
  managedInterface: () =>
    new RpcRefusal(
      'InvalidOperation.EniServiceManaged',
      'The network interface is managed by a service of Alibaba Cloud.',
      403,
    ),
};
