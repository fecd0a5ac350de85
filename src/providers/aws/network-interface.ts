// Parses one network interface from an EC2 answer. An interface that cannot be parsed is reported and
// skipped; it does not invalidate the answer.
import { isIdOf } from './ids.ts';
import { intern } from '../../runtime/intern.ts';
import { isOfHost } from '../contract/ipv4.ts';
import { isIpv6Prefix } from '../contract/ipv6.ts';
import { holdingProblem } from '../reading/plausible.ts';
import {
  type Attachment,
  type NetworkInterface,
  sortedTags,
  type Tags,
} from '../contract/network-interface.ts';
import type { Observation } from '../contract/facts.ts';
import type { Ec2Association, Ec2Attachment, Ec2NetworkInterface, Tag } from './ec2-api.ts';

/** Undefined for an interface without an instance, which our instances do not need. */
export function readInterface(shown: Ec2NetworkInterface): Observation | undefined {
  const instanceId = holderOf(shown);
  if (instanceId === undefined) return undefined;
  const slot = {
    id: shown.NetworkInterfaceId ?? '(without an id)',
    instanceId,
    deviceIndex: shown.Attachment?.DeviceIndex,
    networkCard: shown.Attachment?.NetworkCardIndex ?? 0,
  };
  if (isAddressless(shown)) {
    const problem = spoilageOf(shown);
    if (problem === undefined) return { kind: 'addresslessInterface', interface: slot };
    return { kind: 'unreadableInterface', interface: { ...slot, problem } };
  }
  const read = tryRead(shown);
  if ('interface' in read) return { kind: 'interface', interface: read.interface };
  return { kind: 'unreadableInterface', interface: { ...slot, problem: read.problem } };
}

/** The instance that holds it. A detached attachment stays visible for a while but holds nothing. */
export function holderOf({ Attachment: attachment }: Ec2NetworkInterface): string | undefined {
  return hasEnded(attachment) ? undefined : attachment?.InstanceId;
}

function hasEnded(attachment: Ec2Attachment | undefined): boolean {
  return attachment?.Status === 'detached';
}

/**
 * Whether its kind has no IPv4 address: an EFA-only interface or one in an IPv6-native subnet
 * (https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/efa.html). EC2 shows no other interface without one.
 */
function isAddressless(shown: Ec2NetworkInterface): boolean {
  const isOfIpv6 = (shown.Ipv6Addresses ?? []).length > 0;
  return hasNoIpv4(shown) && (shown.InterfaceType === 'efa-only' || isOfIpv6);
}

function hasNoIpv4(shown: Ec2NetworkInterface): boolean {
  const { PrivateIpAddress, PrivateIpAddresses: addresses = [], Ipv4Prefixes: prefixes = [] } = shown;
  return PrivateIpAddress === undefined && addresses.length + prefixes.length === 0;
}

/** Parses an interface that may be unattached, as in the answer to its creation. */
export function tryRead(
  shown: Ec2NetworkInterface,
): { readonly interface: NetworkInterface } | { readonly problem: string } {
  const problem = problemOf(shown);
  if (problem !== undefined) return { problem };
  const primaryAddress = textOf(shown.PrivateIpAddress);
  const attachment = shown.Attachment === undefined ? undefined : readAttachment(shown.Attachment);
  const associated = associatedOn(shown);
  const ipv6 = ipv6On(shown);
  return {
    interface: {
      id: textOf(shown.NetworkInterfaceId),
      description: textOf(shown.Description),
      networkId: textOf(shown.VpcId),
      subnetId: textOf(shown.SubnetId),
      zone: textOf(shown.AvailabilityZone),
      mac: textOf(shown.MacAddress),
      primaryAddress,
      publicAddress: shown.Association?.PublicIp,
      addresses: secondaryAddresses(shown).filter((address) => address !== primaryAddress),
      ...(associated.length > 0 && { associated }),
      prefixes: prefixesOf(shown),
      ...ipv6,
      securityGroupIds: (shown.Groups ?? []).flatMap((group) => group.GroupId ?? []).sort(),
      tags: readTags(shown.TagSet),
      reservedFor: reservation(shown, attachment),
      attachment,
    },
  };
}

/**
 * The IPv6 part of an interface. A value that cannot be used says nothing about IPv4: EC2 delegates no other prefixes than
 * those of /80.
 */
function ipv6On({
  Ipv6Prefixes: shown = [],
  Ipv6Addresses: single = [],
}: Ec2NetworkInterface): Pick<NetworkInterface, 'ipv6Prefixes' | 'ipv6Addresses' | 'ipv6Problem'> {
  const texts = [...new Set(shown.map(({ Ipv6Prefix }) => textOf(Ipv6Prefix)))];
  const prefixes = texts.filter(isIpv6Prefix);
  const broken = texts.find((prefix) => !isIpv6Prefix(prefix));
  return {
    ...(prefixes.length > 0 && { ipv6Prefixes: prefixes }),
    ...(single.length > 0 && { ipv6Addresses: single.length }),
    ...(broken !== undefined && { ipv6Problem: `${JSON.stringify(broken)} is not an IPv6 /80 prefix` }),
  };
}

function associatedOn({
  PrivateIpAddress: primary,
  PrivateIpAddresses: all = [],
}: Ec2NetworkInterface): string[] {
  return all.flatMap(({ PrivateIpAddress: address, Association: association = {} }) => {
    const leadsHere = association.PublicIp !== undefined || association.CarrierIp !== undefined;
    return leadsHere && address !== undefined && address !== primary ? [address] : [];
  });
}

export function readTags(tags: readonly Tag[] = []): Tags {
  return sortedTags(tags.map(({ Key, Value }) => [Key, Value]));
}

const required = ['NetworkInterfaceId', 'VpcId', 'SubnetId', 'MacAddress'] as const;
const attachmentStates: readonly string[] = [
  'attaching',
  'attached',
  'detaching',
] satisfies Attachment['state'][];

/** EC2 shows all of these for an attached interface. */
const requiredWhenAttached = ['AvailabilityZone', 'Groups', 'InterfaceType', 'RequesterManaged'] as const;

const idKinds = { NetworkInterfaceId: 'eni', VpcId: 'vpc', SubnetId: 'subnet' } as const;

/** No instance has as many. EC2 sends no higher number. */
const maxDevices = 256;

/**
 * A defect that EC2 never sends, so the record proves nothing: missing parts may exist. Undefined for a
 * record that EC2 does send but Headwater cannot use, such as an interface without IPv4.
 */
export function spoilageOf(shown: Ec2NetworkInterface): string | undefined {
  if (isAddressless(shown)) return formProblem(shown) ?? attachmentProblem(shown);
  return hasNoIpv4(shown) ? formProblem(shown) : problemOf(shown);
}

function problemOf(shown: Ec2NetworkInterface): string | undefined {
  return formProblem(shown) ?? addressProblem(shown) ?? attachmentProblem(shown);
}

/** Checks members that every interface has. */
function formProblem(shown: Ec2NetworkInterface): string | undefined {
  const missing = required.find((member) => (shown[member] ?? '') === '');
  if (missing !== undefined) return `${missing} is missing`;
  for (const member of ['NetworkInterfaceId', 'VpcId', 'SubnetId'] as const)
    if (!isIdOf(idKinds[member], shown[member])) return `${member} is ${JSON.stringify(shown[member])}`;
  if (!/^[0-9a-f]{1,2}(:[0-9a-f]{1,2}){5}$/i.test(shown.MacAddress ?? ''))
    return `${JSON.stringify(shown.MacAddress)} is not a MAC address`;
  const group = shown.Groups?.find(({ GroupId }) => !isIdOf('sg', GroupId));
  return group === undefined ? undefined : `a security group is ${JSON.stringify(group.GroupId)}`;
}

function addressProblem(shown: Ec2NetworkInterface): string | undefined {
  if (shown.PrivateIpAddress === undefined) return 'it has no private IPv4 address';
  if (!isOfHost(shown.PrivateIpAddress))
    return `${JSON.stringify(shown.PrivateIpAddress)} is not an IPv4 address`;
  const problem = holdingProblem(secondaryAddresses(shown), prefixesOf(shown));
  return problem ?? associationProblem(shown.Association);
}

function associationProblem({ PublicIp, CarrierIp, IpOwnerId }: Ec2Association = {}): string | undefined {
  if (PublicIp !== undefined)
    return isOfHost(PublicIp) ? undefined : `${JSON.stringify(PublicIp)} is not an IPv4 address`;
  return IpOwnerId !== undefined && CarrierIp === undefined ? 'its association names no address' : undefined;
}

function attachmentProblem(shown: Ec2NetworkInterface): string | undefined {
  const { Attachment: attachment } = shown;
  if (attachment === undefined || hasEnded(attachment)) return undefined;
  if (!isIdOf('eni-attach', attachment.AttachmentId)) return 'Attachment.AttachmentId is missing';
  if (!isIndex(attachment.DeviceIndex)) return 'Attachment.DeviceIndex is missing';
  if (!attachmentStates.includes(attachment.Status ?? '')) {
    return `its attachment state ${JSON.stringify(attachment.Status)} is unknown`;
  }
  return attachment.InstanceId === undefined ? undefined : problemOnInstance(shown, attachment);
}

function problemOnInstance(shown: Ec2NetworkInterface, attachment: Ec2Attachment): string | undefined {
  if (!isIdOf('i', attachment.InstanceId)) return `its instance is ${JSON.stringify(attachment.InstanceId)}`;
  const missing = requiredWhenAttached.find((member) => shown[member] === undefined);
  if (missing !== undefined) return `${missing} is missing`;
  if (!isIndex(attachment.NetworkCardIndex)) return 'Attachment.NetworkCardIndex is missing';
  if (attachment.DeleteOnTermination === undefined) return 'Attachment.DeleteOnTermination is missing';
  if (shown.Status === 'available') return 'it is attached and said to be available';
  return isAddressless(shown) ? undefined : primaryProblem(shown);
}

function primaryProblem(shown: Ec2NetworkInterface): string | undefined {
  if (shown.PrivateIpAddresses === undefined) return 'PrivateIpAddresses is missing';
  const primary = shown.PrivateIpAddresses.filter(({ Primary }) => Primary === true);
  const isPrimary = primary.length === 1 && primary[0]?.PrivateIpAddress === shown.PrivateIpAddress;
  return isPrimary ? undefined : 'its primary address is not the one among its addresses';
}

function isIndex(value: number | undefined): boolean {
  return Number.isInteger(value) && Number(value) >= 0 && Number(value) < maxDevices;
}

function readAttachment(attachment: Ec2Attachment): Attachment | undefined {
  if (attachment.InstanceId === undefined || hasEnded(attachment)) return undefined;
  return {
    id: attachment.AttachmentId ?? '',
    instanceId: attachment.InstanceId,
    deviceIndex: attachment.DeviceIndex ?? 0,
    networkCard: attachment.NetworkCardIndex ?? 0,
    state: attachment.Status as Attachment['state'],
    deleteOnTermination: attachment.DeleteOnTermination ?? false,
  };
}

function secondaryAddresses(shown: Ec2NetworkInterface): string[] {
  return (shown.PrivateIpAddresses ?? []).map((item) => intern(textOf(item.PrivateIpAddress)));
}

function prefixesOf(shown: Ec2NetworkInterface): string[] {
  return (shown.Ipv4Prefixes ?? []).map((item) => textOf(item.Ipv4Prefix));
}

function textOf(value: string | undefined): string {
  return value ?? '';
}

/**
 * Headwater does not use special interface types or interfaces that AWS services created. The interface at
 * index 0 of card 0 has the node's primary address. It is the primary interface whatever its type, even an
 * EFA.
 */
function reservation(shown: Ec2NetworkInterface, attachment: Attachment | undefined): string | undefined {
  if (shown.RequesterManaged === true) return 'requester-managed';
  const { deviceIndex, networkCard = 0 } = attachment ?? {};
  const isPrimary = deviceIndex === 0 && networkCard === 0;
  const isPlain = shown.InterfaceType === undefined || shown.InterfaceType === 'interface';
  if (!isPlain && !isPrimary) return shown.InterfaceType;
  return networkCard > 0 ? `network card ${networkCard}` : undefined;
}
