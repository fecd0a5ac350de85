// Parses one network interface from an answer of ECS. An interface that cannot be parsed is reported and skipped; it does
// not invalidate the answer.
import { isOfHost } from '../contract/ipv4.ts';
import { holdingProblem } from '../reading/plausible.ts';
import {
  type Attachment,
  type NetworkInterface,
  sortedTags,
  type Tags,
} from '../contract/network-interface.ts';
import type { Observation } from '../contract/facts.ts';
import { intern } from '../../runtime/intern.ts';
import { isIdOf } from './ids.ts';
import type { RequestTag, ShownNetworkInterface, ShownTag } from './rpc-api.ts';

/** The tag by which agents know the index of an interface, which the cloud does not number. */
export const indexTag = 'cilium-eni-index';

/** Agents number interfaces from 1; the primary one is 0. */
export const maxIndex = 49;

const states: ReadonlyMap<string, Attachment['state']> = new Map([
  ['InUse', 'attached'],
  ['Attaching', 'attaching'],
  ['Detaching', 'detaching'],
]);

/** Types with states of their own, such as "Linked". */
const specialTypes: ReadonlySet<string> = new Set(['Trunk', 'Member']);

/** States of an interface without an instance. */
const detachedStates: ReadonlySet<string> = new Set(['Available', 'Creating', 'Deleting', 'CreateFailed']);

/** Undefined for an interface without an instance. */
export function readInterface(shown: ShownNetworkInterface): Observation | undefined {
  const instanceId = holderOf(shown);
  if (instanceId === undefined) return undefined;
  const read = tryRead(shown);
  if ('interface' in read) return { kind: 'interface', interface: read.interface };
  const id = shown.networkInterfaceId ?? '(without an id)';
  const slot = { id, instanceId, deviceIndex: indexOf(shown), networkCard: 0 };
  return { kind: 'unreadableInterface', interface: { ...slot, problem: read.problem } };
}

/** The instance that holds it. */
export function holderOf({ instanceId }: ShownNetworkInterface): string | undefined {
  return instanceId === '' ? undefined : instanceId;
}

export function tryRead(
  shown: ShownNetworkInterface,
): { readonly interface: NetworkInterface } | { readonly problem: string } {
  const problem = problemOf(shown);
  if (problem !== undefined) return { problem };
  const primaryAddress = primaryOf(shown);
  const associated = associatedOn(shown);
  return {
    interface: {
      id: textOf(shown.networkInterfaceId),
      description: textOf(shown.description),
      networkId: textOf(shown.vpcId),
      subnetId: textOf(shown.vSwitchId),
      zone: textOf(shown.zoneId),
      mac: textOf(shown.macAddress),
      primaryAddress,
      publicAddress: shown.associatedPublicIp?.publicIpAddress || undefined,
      addresses: addressesOf(shown).filter((address) => address !== primaryAddress),
      ...(associated.length > 0 && { associated }),
      prefixes: prefixesOf(shown),
      securityGroupIds: [...(shown.securityGroupIds?.securityGroupId ?? [])].sort(),
      tags: readTags(shown.tags?.tag),
      reservedFor: reservation(shown),
      ...placeOf(shown),
    },
  };
}

function placeOf(shown: ShownNetworkInterface): Pick<NetworkInterface, 'attachment' | 'slot'> {
  const attachment = attachmentOf(shown);
  const slot = slotIn(readTags(shown.tags?.tag));
  return { attachment, ...(attachment === undefined && slot !== undefined && { slot }) };
}

function attachmentOf(shown: ShownNetworkInterface): Attachment | undefined {
  const instanceId = holderOf(shown);
  if (instanceId === undefined) return undefined;
  return {
    id: attachmentIdOf(textOf(shown.networkInterfaceId), instanceId),
    instanceId,
    deviceIndex: indexOf(shown),
    networkCard: 0,
    state: states.get(textOf(shown.status)) ?? 'attached',
    deleteOnTermination: shown.deleteOnRelease ?? true,
  };
}

/** The cloud gives attachments no id. */
export function attachmentIdOf(interfaceId: string, instanceId: string): string {
  return `${interfaceId} on ${instanceId}`;
}

/** An interface without a place that agents know has none here either: it is served, and takes no index. */
function indexOf(shown: ShownNetworkInterface): number {
  if (shown.type === 'Primary') return 0;
  return slotIn(readTags(shown.tags?.tag)) ?? Infinity;
}

/** The index that a tag gives an interface; undefined if it is none that agents accept. */
export function slotIn(tags: Tags): number | undefined {
  const text = tags[indexTag] ?? '';
  const index = /^[1-9]\d?$/.test(text) ? Number(text) : Infinity;
  return index <= maxIndex ? index : undefined;
}

export function readTags(tags: readonly ShownTag[] = []): Tags {
  return sortedTags(tags.map(({ tagKey, tagValue }) => [tagKey, tagValue]));
}

export function requestTags(tags: Tags): readonly RequestTag[] {
  return Object.entries(tags).map(([key, value]) => ({ key, value }));
}

const required = ['networkInterfaceId', 'vpcId', 'vSwitchId', 'macAddress', 'status', 'type'] as const;
const idKinds = { networkInterfaceId: 'eni', vpcId: 'vpc', vSwitchId: 'vsw' } as const;

/** A defect that ECS never sends, so the record proves nothing. */
export function problemOf(shown: ShownNetworkInterface): string | undefined {
  return formProblem(shown) ?? addressProblem(shown) ?? stateProblem(shown);
}

function formProblem(shown: ShownNetworkInterface): string | undefined {
  const missing = required.find((member) => textOf(shown[member]) === '');
  if (missing !== undefined) return `${missing} is missing`;
  for (const member of ['networkInterfaceId', 'vpcId', 'vSwitchId'] as const)
    if (!isIdOf(idKinds[member], shown[member])) return `${member} is ${JSON.stringify(shown[member])}`;
  if (!/^[0-9a-f]{2}(:[0-9a-f]{2}){5}$/i.test(textOf(shown.macAddress)))
    return `${JSON.stringify(shown.macAddress)} is not a MAC address`;
  const group = shown.securityGroupIds?.securityGroupId?.find((id) => !isIdOf('sg', id));
  return group === undefined ? undefined : `a security group is ${JSON.stringify(group)}`;
}

function addressProblem(shown: ShownNetworkInterface): string | undefined {
  const primary = primaryOf(shown);
  if (primary === '') return 'it has no primary address';
  const addresses = addressesOf(shown);
  if (!isOfHost(primary)) return `${JSON.stringify(primary)} is not an IPv4 address`;
  if (shown.privateIpSets?.privateIpSet === undefined) return 'privateIpSets is missing';
  if (!addresses.includes(primary)) return 'its primary address is not among its addresses';
  return holdingProblem(addresses, prefixesOf(shown));
}

function stateProblem(shown: ShownNetworkInterface): string | undefined {
  const holder = holderOf(shown);
  const { status = '' } = shown;
  if (holder === undefined) return undefined;
  if (!isIdOf('i', holder)) return `its instance is ${JSON.stringify(holder)}`;
  if (detachedStates.has(status)) return `it has an instance and is ${status}`;
  return states.has(status) || isSpecial(shown)
    ? undefined
    : `its state ${JSON.stringify(status)} is unknown`;
}

/** Nothing is offered on such an interface, whatever its state. A type that is unknown, too, proves nothing. */
function isSpecial(shown: ShownNetworkInterface): boolean {
  const { type = '', serviceManaged } = shown;
  if (serviceManaged === true || specialTypes.has(type)) return true;
  return type === 'Secondary' && reservation(shown) !== undefined;
}

function primaryOf(shown: ShownNetworkInterface): string {
  const marked = shown.privateIpSets?.privateIpSet?.find(({ primary }) => primary === true);
  return textOf(shown.privateIpAddress) || textOf(marked?.privateIpAddress);
}

function addressesOf(shown: ShownNetworkInterface): string[] {
  return (shown.privateIpSets?.privateIpSet ?? []).map((item) => intern(textOf(item.privateIpAddress)));
}

export function prefixesOf(shown: ShownNetworkInterface): string[] {
  return (shown.ipv4PrefixSets?.ipv4PrefixSet ?? []).map((item) => textOf(item.ipv4Prefix));
}

function associatedOn(shown: ShownNetworkInterface): string[] {
  return (shown.privateIpSets?.privateIpSet ?? []).flatMap((item) => {
    const leadsHere = textOf(item.associatedPublicIp?.publicIpAddress) !== '' && item.primary !== true;
    return leadsHere && item.privateIpAddress !== undefined ? [item.privateIpAddress] : [];
  });
}

/** Tags by which others mark interfaces that are not for pods. */
const othersTags: ReadonlyMap<string | undefined, string> = new Map([
  ['leni_primary', 'true'],
  ['creator', 'alibabacloud-erdma-controller'],
  ['terway.alibabacloud.com/excluded', 'true'],
]);

/**
 * Headwater does not use special types of interfaces, those that services of the vendor made, those for RDMA, or those that
 * other controllers mark. The primary one is what it is.
 */
function reservation(shown: ShownNetworkInterface): string | undefined {
  const { type = '', serviceManaged, networkInterfaceTrafficMode: mode } = shown;
  if (serviceManaged === true) return 'service-managed';
  if (type === 'Primary') return undefined;
  if (type !== 'Secondary') return type.toLowerCase();
  if (mode === 'HighPerformance') return 'in high-performance traffic mode';
  const mark = shown.tags?.tag?.find(({ tagKey, tagValue = '' }) => othersTags.get(tagKey) === tagValue);
  return mark === undefined ? undefined : `tagged ${mark.tagKey}=${mark.tagValue}`;
}

function textOf(value: string | undefined): string {
  return value ?? '';
}
