// Creates, deletes and modifies interfaces. Other files have the rules for addresses and attachments.
import { claim, type Claim, release, slotsOf } from './claims.ts';
import type { CloudNetwork } from './cloud-network.ts';
import { refuse } from './cloud-refusal.ts';
import { claimIpv6, type Ipv6Claim, releaseIpv6 } from './ipv6-claims.ts';
import type { InterfaceLife, InterfaceType, NetworkInterface, Subnet, Tags } from './records.ts';
import { refuseTags } from './tags.ts';

/** Maximum security groups per interface (https://docs.aws.amazon.com/vpc/latest/userguide/amazon-vpc-limits.html). */
const groupsPerInterface = 5;

export interface InterfaceRequest {
  readonly subnetId: string;
  /** If absent, any free address becomes the primary one. */
  readonly primaryAddress?: string | undefined;
  /** In addition to the primary address. */
  readonly claim: Claim;
  readonly ipv6: Ipv6Claim;
  readonly type: InterfaceType;
  /** If empty, the VPC's default group. */
  readonly groupIds: readonly string[];
  readonly description: string;
  readonly requesterManaged?: boolean;
  readonly life?: InterfaceLife;
  readonly tags: Tags;
}

/** Creates a detached interface, or refuses and takes nothing. */
export function createInterface(network: CloudNetwork, request: InterfaceRequest): NetworkInterface {
  const subnet = network.find('subnets', request.subnetId);
  const groupIds = groupsFor(network, subnet, request.groupIds);
  refuseTags({}, request.tags);
  const id = network.newId('eni');
  const { ipv4PerDetachedInterface: limit } = network.rules;
  if (slotsOf(request.claim) + 1 > limit) {
    refuse({ kind: 'addressLimit', interfaceId: id, limit });
  }
  const { addresses, prefixes } = claim(network, subnet.id, withPrimary(request));
  const { primaryAddress = addresses.at(-1) ?? '' } = request;
  const record: NetworkInterface = {
    id,
    subnetId: subnet.id,
    vpcId: subnet.vpcId,
    zone: subnet.zone,
    type: request.type,
    status: 'available',
    primaryAddress,
    addresses: [primaryAddress, ...addresses.filter((address) => address !== primaryAddress)],
    prefixes,
    ...ipv6Of(network, request, { addresses, prefixes }),
    groupIds,
    description: request.description,
    mac: network.newMac(),
    sourceDestCheck: true,
    requesterManaged: request.requesterManaged ?? false,
    ...(request.life !== undefined && { life: request.life }),
    tags: request.tags,
  };
  network.put('interfaces', record);
  return record;
}

/** Deletes a detached interface. */
export function deleteInterface(network: CloudNetwork, id: string): void {
  const record = network.find('interfaces', id);
  if (record.requesterManaged) refuse({ kind: 'managedInterface', interfaceId: id });
  if (record.attachment !== undefined) refuse({ kind: 'inUse', what: 'interfaces', id });
  removeInterface(network, record);
}

/** Removes an interface from the network with everything it holds. */
export function removeInterface(network: CloudNetwork, record: NetworkInterface): void {
  release(network, record.subnetId, record);
  releaseIpv6(network, record.subnetId, record);
  dissociate(network, record.id, record.addresses);
  network.delete('interfaces', record.id);
}

export interface InterfaceChange {
  readonly groupIds?: readonly string[];
  readonly description?: string;
  readonly sourceDestCheck?: boolean;
}

/** Modifies the attributes of an interface that its owner may change. */
export function changeInterface(network: CloudNetwork, id: string, change: InterfaceChange): void {
  const record = network.find('interfaces', id);
  if (record.requesterManaged) refuse({ kind: 'managedInterface', interfaceId: id });
  const { groupIds } = change;
  const groups = groupIds && {
    groupIds: groupsFor(network, network.find('subnets', record.subnetId), groupIds),
  };
  network.put('interfaces', { ...record, ...change, ...groups });
}

/** Ends every public association of those addresses of an interface. */
export function dissociate(network: CloudNetwork, interfaceId: string, addresses: readonly string[]): void {
  for (const { association, ...rest } of network.all('publicAddresses').values()) {
    const affected =
      association?.interfaceId === interfaceId && addresses.includes(association.privateAddress);
    if (affected) network.put('publicAddresses', rest);
  }
}

function withPrimary({ claim: wanted, primaryAddress }: InterfaceRequest): Claim {
  return primaryAddress === undefined
    ? { ...wanted, count: wanted.count + 1 }
    : { ...wanted, addresses: [primaryAddress, ...wanted.addresses] };
}

function ipv6Of(
  network: CloudNetwork,
  request: InterfaceRequest,
  held: Pick<NetworkInterface, 'addresses' | 'prefixes'>,
): Pick<NetworkInterface, 'ipv6Addresses' | 'ipv6Prefixes'> {
  try {
    return claimIpv6(network, request.subnetId, request.ipv6);
  } catch (refusal) {
    release(network, request.subnetId, held);
    throw refusal;
  }
}

function groupsFor(network: CloudNetwork, subnet: Subnet, wanted: readonly string[]): readonly string[] {
  if (wanted.length > groupsPerInterface) refuse({ kind: 'tooManyGroups', limit: groupsPerInterface });
  if (wanted.length === 0) return [defaultGroupOf(network, subnet.vpcId)];
  for (const groupId of wanted) {
    const group = network.find('groups', groupId);
    if (group.vpcId !== subnet.vpcId) refuse({ kind: 'groupOfOtherNetwork', groupId, subnetId: subnet.id });
  }
  return [...new Set(wanted)];
}

function defaultGroupOf(network: CloudNetwork, vpcId: string): string {
  for (const group of network.all('groups').values()) {
    if (group.vpcId === vpcId && group.name === 'default') return group.id;
  }
  return refuse({ kind: 'notFound', what: 'groups', id: 'default' });
}
