// Limits of interfaces and instances, by instance type.
import type { CloudNetwork } from './cloud-network.ts';
import { refuse } from './cloud-refusal.ts';
import { carriesPrefixes, type InstanceType, interfacesOf } from './instance-types.ts';
import type { Instance, NetworkInterface } from './records.ts';

/** The type of an instance. */
export function typeOf(network: CloudNetwork, instance: Instance): InstanceType {
  return typeNamed(network, instance.type);
}

/** The type of that name; refuses an unknown one. */
export function typeNamed({ rules }: CloudNetwork, name: string): InstanceType {
  return rules.instanceTypes.get(name) ?? refuse({ kind: 'unknownInstanceType', type: name });
}

/** Address slots that an interface fills: its addresses and prefixes. */
export function filledSlots(record: Pick<NetworkInterface, 'addresses' | 'prefixes'>): number {
  return record.addresses.length + record.prefixes.length;
}

/** Refuses more slots than the instance type allows, or than any type allows for a detached interface. */
export function refuseBeyondSlots(network: CloudNetwork, record: NetworkInterface, more: number): void {
  const limit = hostOf(network, record)?.ipv4PerInterface ?? network.rules.ipv4PerDetachedInterface;
  if (filledSlots(record) + more > limit) refuse({ kind: 'addressLimit', interfaceId: record.id, limit });
}

/** The same for IPv6 addresses and prefixes together. */
export function refuseBeyondIpv6(network: CloudNetwork, record: NetworkInterface, more: number): void {
  const limit = hostOf(network, record)?.ipv6PerInterface ?? network.rules.ipv4PerDetachedInterface;
  const filled = record.ipv6Addresses.length + record.ipv6Prefixes.length;
  if (filled + more > limit) refuse({ kind: 'ipv6Limit', interfaceId: record.id, limit });
}

/** Refuses prefixes on an interface whose instance does not support them. */
export function refusePrefixesOnXen(network: CloudNetwork, record: NetworkInterface): void {
  const type = hostOf(network, record);
  if (type !== undefined && !carriesPrefixes(type)) refuse({ kind: 'prefixesUnsupported', type: type.name });
}

/** Refuses an interface that exceeds the limits of the type. */
export function refuseOverload(type: InstanceType, record: NetworkInterface): void {
  if (filledSlots(record) > type.ipv4PerInterface) {
    refuse({ kind: 'addressLimit', interfaceId: record.id, limit: type.ipv4PerInterface });
  }
  if (record.ipv6Addresses.length + record.ipv6Prefixes.length > type.ipv6PerInterface) {
    refuse({ kind: 'ipv6Limit', interfaceId: record.id, limit: type.ipv6PerInterface });
  }
  const prefixes = record.prefixes.length + record.ipv6Prefixes.length;
  if (prefixes > 0 && !carriesPrefixes(type)) refuse({ kind: 'prefixesUnsupported', type: type.name });
}

/** Refuses another interface on a missing or full network card. */
export function refuseBeyondInterfaces(
  type: InstanceType,
  attached: readonly NetworkInterface[],
  cardIndex: number,
): void {
  const room = type.cards[cardIndex];
  if (room === undefined) return refuse({ kind: 'noSuchCard', cardIndex, type: type.name });
  const onCard = attached.filter((other) => other.attachment?.cardIndex === cardIndex).length;
  if (attached.length >= interfacesOf(type) || onCard >= room) {
    refuse({ kind: 'interfaceLimit', count: attached.length + 1, type: type.name });
  }
}

/** The type of the instance that an interface is attached to. */
function hostOf(network: CloudNetwork, record: NetworkInterface): InstanceType | undefined {
  const instance = network.all('instances').get(record.instanceId ?? '');
  return instance && typeOf(network, instance);
}
