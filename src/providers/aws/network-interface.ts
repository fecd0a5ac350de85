// Reads what EC2 shows of one network interface. What cannot be understood is named and set aside; it never spoils the
// answer that it came in.
import { oneCopy } from '../../memory/one-copy.ts';
import { parseAddress, parseBlock } from '../ipv4.ts';
import type { Attachment, NetworkInterface, Tags } from '../network-interface.ts';
import type { Observation } from '../observation.ts';
import type { Ec2Attachment, Ec2NetworkInterface, Tag } from './ec2-api.ts';

/** Undefined for an interface that no instance has and none of ours needs to know of. */
export function readInterface(shown: Ec2NetworkInterface): Observation | undefined {
  const instanceId = shown.Attachment?.InstanceId;
  if (instanceId === undefined) return undefined;
  const read = tryRead(shown);
  if ('interface' in read) return { kind: 'interface', interface: read.interface };
  return {
    kind: 'unreadableInterface',
    interface: {
      id: shown.NetworkInterfaceId ?? '(without an id)',
      instanceId,
      deviceIndex: shown.Attachment?.DeviceIndex,
      networkCard: shown.Attachment?.NetworkCardIndex ?? 0,
      problem: read.problem,
    },
  };
}

/** Reads an interface that need not be attached, as the answer to its creation shows it. */
export function tryRead(
  shown: Ec2NetworkInterface,
): { readonly interface: NetworkInterface } | { readonly problem: string } {
  const problem = problemOf(shown);
  if (problem !== undefined) return { problem };
  const primaryAddress = textOf(shown.PrivateIpAddress);
  const attachment = shown.Attachment === undefined ? undefined : readAttachment(shown.Attachment);
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
      addresses: addressesOf(shown).filter((address) => address !== primaryAddress),
      prefixes: (shown.Ipv4Prefixes ?? []).map((item) => textOf(item.Ipv4Prefix)),
      securityGroupIds: (shown.Groups ?? []).flatMap((group) => group.GroupId ?? []).sort(),
      tags: readTags(shown.TagSet),
      reservedFor: reservation(shown, attachment),
      attachment,
    },
  };
}

/** In order of their keys: EC2 shows them in any order, and the same tags must look the same. */
export function readTags(tags: readonly Tag[] | undefined): Tags {
  const entries = (tags ?? []).flatMap(({ Key, Value }) =>
    Key === undefined ? [] : [[Key, Value ?? ''] as const],
  );
  return Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : 1)));
}

const required = ['NetworkInterfaceId', 'VpcId', 'SubnetId', 'MacAddress'] as const;
const attachmentStates: readonly string[] = [
  'attaching',
  'attached',
  'detaching',
] satisfies Attachment['state'][];

function problemOf(shown: Ec2NetworkInterface): string | undefined {
  for (const member of required) {
    if (shown[member] === undefined || shown[member] === '') return `${member} is missing`;
  }
  if (shown.PrivateIpAddress === undefined) return 'it has no private IPv4 address';
  const addresses = [shown.PrivateIpAddress, ...addressesOf(shown)];
  const wrong = addresses.find((address) => parseAddress(address) === undefined);
  if (wrong !== undefined) return `${JSON.stringify(wrong)} is not an IPv4 address`;
  const prefix = shown.Ipv4Prefixes?.find((item) => parseBlock(item.Ipv4Prefix ?? '')?.length !== 28);
  if (prefix !== undefined) return `${JSON.stringify(prefix.Ipv4Prefix)} is not an IPv4 /28 prefix`;
  return shown.Attachment === undefined ? undefined : attachmentProblem(shown.Attachment);
}

function attachmentProblem(attachment: Ec2Attachment): string | undefined {
  if (attachment.AttachmentId === undefined) return 'Attachment.AttachmentId is missing';
  if (!Number.isInteger(attachment.DeviceIndex)) return 'Attachment.DeviceIndex is missing';
  if (!attachmentStates.includes(attachment.Status ?? '')) {
    return `its attachment state ${JSON.stringify(attachment.Status)} is unknown`;
  }
  return undefined;
}

function readAttachment(attachment: Ec2Attachment): Attachment | undefined {
  if (attachment.InstanceId === undefined) return undefined;
  return {
    id: attachment.AttachmentId ?? '',
    instanceId: attachment.InstanceId,
    deviceIndex: attachment.DeviceIndex ?? 0,
    networkCard: attachment.NetworkCardIndex ?? 0,
    state: attachment.Status as Attachment['state'],
    deleteOnTermination: attachment.DeleteOnTermination ?? false,
  };
}

function addressesOf(shown: Ec2NetworkInterface): string[] {
  return (shown.PrivateIpAddresses ?? []).map((item) => oneCopy(textOf(item.PrivateIpAddress)));
}

function textOf(value: string | undefined): string {
  return value ?? '';
}

/** Other kinds of interface, and those that AWS services made for themselves, are not ours to use. */
function reservation(shown: Ec2NetworkInterface, attachment: Attachment | undefined): string | undefined {
  if (shown.RequesterManaged === true) return 'requester-managed';
  if (shown.InterfaceType !== undefined && shown.InterfaceType !== 'interface') return shown.InterfaceType;
  if (attachment !== undefined && attachment.networkCard > 0) return `network card ${attachment.networkCard}`;
  return undefined;
}
