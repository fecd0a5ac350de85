// EC2's refusal for each problem of the network. The texts follow its documentation
// (https://docs.aws.amazon.com/AWSEC2/latest/APIReference/errors-overview.html) and reports of its users.
import type { CloudProblem } from '../cloud/cloud-refusal.ts';
import type { RecordKind } from '../cloud/records.ts';
import { Ec2Refusal, invalidParameterCombination, invalidParameterValue } from './ec2-refusal.ts';
import { idNotFound } from './ids.ts';

type Say = {
  readonly [K in CloudProblem['kind']]: (
    problem: Extract<CloudProblem, { readonly kind: K }>,
    action: string,
  ) => Ec2Refusal;
};

/** EC2's refusal of `action` for a problem. */
export function refusalOf(problem: CloudProblem, action: string): Ec2Refusal {
  const answer = say[problem.kind] as (problem: CloudProblem, action: string) => Ec2Refusal;
  return answer(problem, action);
}

const refusal = (code: string, message: string): Ec2Refusal => new Ec2Refusal(code, message);

const addresses = {
  noFreeAddress: () =>
    refusal(
      'InsufficientFreeAddressesInSubnet',
      'The specified subnet does not have enough free addresses to satisfy the request.',
    ),
  noFreePrefixAddresses: () =>
    invalidParameterValue("There aren't sufficient free Ipv4 addresses or prefixes"),
  noFreeBlock: () =>
    refusal(
      'InsufficientCidrBlocks',
      'The specified subnet does not have enough free cidr blocks to satisfy the request.',
    ),
  addressMalformed: ({ address }) => invalidParameterValue(`invalid value for parameter address: ${address}`),
  addressOutside: ({ address }) =>
    invalidParameterValue(`Address ${address} does not fall within the subnet's address range`),
  addressReserved: ({ address }) =>
    invalidParameterValue(`Address ${address} is in subnet's reserved address range`),
  addressHeld: () => refusal('InvalidIPAddress.InUse', 'The specified address is already in use.'),
  prefixMalformed: ({ prefix }) =>
    invalidParameterValue(
      `Value (${prefix}) for parameter ipv4Prefix is invalid. This is not a valid prefix.`,
    ),
  prefixHeld: ({ prefix }) => invalidParameterValue(`The prefix ${prefix} is already in use.`),
  addressRepeated: () => invalidParameterValue('Duplicate private IP address.'),
  moveNotAllowed: (problem) =>
    invalidParameterValue(`[${problem.addresses.join(', ')}] assigned, but move is not allowed.`),
  moveOfPrimary: () => invalidParameterValue('secondary-addresses'),
  notAssigned: ({ interfaceId }) =>
    invalidParameterValue(`Some of the specified addresses are not assigned to interface ${interfaceId}`),
  primaryNotReleasable: ({ address }) =>
    invalidParameterValue(
      `Value (${address}) for parameter privateIpAddress is invalid. The primary IP address of an interface cannot be unassigned.`,
    ),
  addressLimit: () =>
    refusal('PrivateIpAddressLimitExceeded', 'Number of private addresses will exceed limit.'),
  launchAddressLimit: ({ type, limit }) =>
    refusal(
      'InvalidInterface.IpAddressLimitExceeded',
      `The number of private IP addresses exceeds the limit of ${limit} for ${type}`,
    ),
  ipv6Limit: () => refusal('PrivateIpAddressLimitExceeded', 'Number of IPv6 addresses will exceed limit.'),
  prefixesUnsupported: ({ type }) =>
    refusal('UnsupportedOperation', `The instance type ${type} does not support prefixes.`),
  noIpv6: ({ subnetId }) =>
    invalidParameterValue(`The subnet '${subnetId}' has no IPv6 CIDR block associated with it`),
} satisfies Partial<Say>;

const attachments = {
  attachmentNotFound: ({ id }) => idNotFound('attachment', id),
  interfaceLimit: ({ count, type }) =>
    refusal('AttachmentLimitExceeded', `Interface count ${count} exceeds the limit for ${type}`),
  indexTaken: ({ instanceId, deviceIndex }) =>
    invalidParameterValue(
      `Instance '${instanceId}' already has an interface attached at device index '${deviceIndex}'.`,
    ),
  noSuchCard: ({ cardIndex, type }) =>
    invalidParameterValue(`Value (${cardIndex}) for parameter networkCardIndex is invalid for ${type}.`),
  otherZone: () =>
    invalidParameterCombination(
      'You may not attach a network interface to an instance if they are not in the same availability zone',
    ),
  // Based on the text about zones: EC2's own is not documented.
  otherOutpost: () =>
    invalidParameterCombination(
      'You may not attach a network interface to an instance if they are not on the same Outpost',
    ),
  instanceState: ({ instanceId }, action) =>
    stateActions[action] === undefined
      ? refusal('IncorrectState', `Instance '${instanceId}' is not 'running'.`)
      : refusal(
          'IncorrectInstanceState',
          `The instance '${instanceId}' is not in a state from which it can be ${stateActions[action]}.`,
        ),
  attachmentState: ({ id, status }) =>
    refusal('IncorrectState', `The network interface attachment '${id}' is ${status}.`),
  primaryNotDetachable: () =>
    refusal('OperationNotPermitted', 'The network interface at device index 0 cannot be detached.'),
  managedAttachment: () =>
    refusal('OperationNotPermitted', "You are not allowed to manage 'ela-attach' attachments."),
  managedInterface: () =>
    refusal('AuthFailure', 'You do not have permission to access the specified resource.'),
  alreadyAttached: ({ interfaceId }) =>
    refusal('InvalidNetworkInterface.InUse', `Interface: [${interfaceId}] in use.`),
  notAttached: ({ interfaceId }) =>
    invalidParameterValue(`Network interface '${interfaceId}' is not currently attached.`),
  efaUnsupported: ({ type }) =>
    invalidParameterCombination(`${type} instances do not support Elastic Fabric Adapters.`),
} satisfies Partial<Say>;

/** Words for actions that an instance in its state refuses; other actions need it to run. */
const stateActions: Readonly<Record<string, string>> = {
  StopInstances: 'stopped',
  StartInstances: 'started',
  AssociateAddress: 'associated with an address',
};

const say: Say = {
  ...addresses,
  ...attachments,
  notFound: ({ what, id }, action) =>
    what === 'groups' && action === 'CreateNetworkInterface'
      ? refusal('InvalidSecurityGroupID.NotFound', `The securityGroup ID '${id}' does not exist`)
      : idNotFound(what, id),
  inUse: ({ what, id }) =>
    what === 'interfaces'
      ? invalidParameterValue(`Network interface '${id}' is currently in use.`)
      : refusal('InvalidIPAddress.InUse', `Address ${id} is in use.`),
  associationNotFound: ({ id }) =>
    refusal('InvalidAssociationID.NotFound', `The association ID '${id}' does not exist`),
  unknownInstanceType: ({ type }) => invalidParameterValue(`Invalid value '${type}' for InstanceType.`),
  unknownZone: ({ zone }) =>
    invalidParameterValue(`Value (${zone}) for parameter availabilityZone is invalid.`),
  blockMalformed: ({ block }) =>
    invalidParameterValue(
      `Value (${block}) for parameter cidrBlock is invalid. This is not a valid CIDR block.`,
    ),
  vpcBlockRange: ({ block }) => refusal('InvalidVpc.Range', `The CIDR '${block}' is invalid.`),
  subnetBlockRange: ({ block }) => refusal('InvalidSubnet.Range', `The CIDR '${block}' is invalid.`),
  subnetConflict: ({ block }) =>
    refusal('InvalidSubnet.Conflict', `The CIDR '${block}' conflicts with another subnet`),
  blockConflict: ({ block }) =>
    refusal('InvalidVpc.Range', `The CIDR '${block}' overlaps with another one of the VPC.`),
  reservationRange: ({ block }) =>
    invalidParameterValue(`The CIDR '${block}' does not lie in the subnet's range.`),
  reservationConflict: ({ block }) =>
    invalidParameterValue(`The CIDR '${block}' conflicts with another subnet CIDR reservation.`),
  dependency: ({ what, id }) =>
    refusal(
      'DependencyViolation',
      what === 'groups'
        ? `resource ${id} has a dependent object`
        : `The ${dependents[what] ?? what} '${id}' has dependencies and cannot be deleted.`,
    ),
  groupOfOtherNetwork: ({ groupId, subnetId }, action) =>
    action === 'ModifyNetworkInterfaceAttribute'
      ? refusal(
          'InvalidGroup.NotFound',
          'You have specified two resources that belong to different networks.',
        )
      : invalidParameterValue(
          `Security group ${groupId} and subnet ${subnetId} belong to different networks.`,
        ),
  tooManyGroups: () =>
    refusal(
      'SecurityGroupsPerInterfaceLimitExceeded',
      'The maximum number of security groups per interface has been reached.',
    ),
  groupDuplicate: ({ name, vpcId }) =>
    refusal('InvalidGroup.Duplicate', `The security group '${name}' already exists for VPC '${vpcId}'`),
  groupReserved: ({ name }) =>
    refusal('InvalidGroup.Reserved', `Cannot use reserved security group name: ${name}`),
  defaultGroup: () => refusal('CannotDelete', 'the default security group cannot be deleted by a user'),
  tableAssociated: ({ subnetId }) =>
    refusal('Resource.AlreadyAssociated', `the subnet ${subnetId} is already associated with a route table`),
  mainTable: ({ id }) => invalidParameterValue(`cannot disassociate the main route table association ${id}`),
  tooManyTags: () =>
    refusal('TagLimitExceeded', 'The maximum number of Tags for a resource has been reached.'),
  reservedTag: () => invalidParameterValue("Tag keys starting with 'aws:' are reserved for internal use"),
  publicAddressTaken: ({ id }) =>
    refusal('Resource.AlreadyAssociated', `resource ${id} is already associated`),
};

const dependents: Readonly<Partial<Record<RecordKind, string>>> = {
  vpcs: 'vpc',
  subnets: 'subnet',
  routeTables: 'routeTable',
};
