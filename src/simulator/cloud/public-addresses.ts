// Public addresses (Elastic IPs): allocates them to the account, associates them with an interface address,
// and releases them.
import { attachedTo } from './attachments.ts';
import type { CloudNetwork } from './cloud-network.ts';
import { refuse } from './cloud-refusal.ts';
import { formatIpv4 } from './ipv4.ts';
import type { NetworkInterface, PublicAddress, PublicAssociation, Tags } from './records.ts';
import { refuseTags } from './tags.ts';

/** The documentation block 198.18.0.0/15 represents the cloud's public addresses. */
const firstPublic = 0xc612_0000;
const publicAddresses = 2 ** 17;

/** Allocates a public address to the account, a given one or any. */
export function allocateAddress(
  network: CloudNetwork,
  request: { readonly address?: string | undefined; readonly tags: Tags },
): PublicAddress {
  refuseTags({}, request.tags);
  const taken = new Set([...network.all('publicAddresses').values()].map(({ address }) => address));
  const record: PublicAddress = {
    id: network.newId('eipalloc'),
    address: request.address ?? freeAddress(network, taken),
    tags: request.tags,
  };
  network.put('publicAddresses', record);
  return record;
}

/** Releases a public address without an association. */
export function releaseAddress(network: CloudNetwork, id: string): void {
  const record = network.find('publicAddresses', id);
  if (record.association !== undefined) refuse({ kind: 'inUse', what: 'publicAddresses', id });
  network.delete('publicAddresses', id);
}

export interface AssociationRequest {
  readonly id: string;
  readonly interfaceId: string;
  /** If absent, the primary address. */
  readonly privateAddress?: string | undefined;
  readonly reassociate: boolean;
}

/**
 * Associates a public address with an interface address. Repeating it changes nothing. An address with
 * another association moves only if allowed.
 */
export function associate(network: CloudNetwork, request: AssociationRequest): PublicAssociation {
  const record = network.find('publicAddresses', request.id);
  const target = network.find('interfaces', request.interfaceId);
  refusePending(network, target);
  const privateAddress = request.privateAddress ?? target.primaryAddress;
  if (!target.addresses.includes(privateAddress)) refuse({ kind: 'notAssigned', interfaceId: target.id });
  if (record.association !== undefined && !request.reassociate) {
    if (isSame(record.association, target, privateAddress)) return record.association;
    refuse({ kind: 'publicAddressTaken', id: record.id });
  }
  for (const { association, ...rest } of network.all('publicAddresses').values()) {
    if (association !== undefined && isSame(association, target, privateAddress)) {
      network.put('publicAddresses', rest);
    }
  }
  const association = { id: network.newId('eipassoc'), interfaceId: target.id, privateAddress };
  network.put('publicAddresses', { ...record, association });
  return association;
}

/** The only interface of an instance: the target of an association by instance. */
export function onlyInterface(network: CloudNetwork, instanceId: string): NetworkInterface | undefined {
  const attached = attachedTo(network, network.find('instances', instanceId));
  return attached.length === 1 ? attached[0] : undefined;
}

/** Ends an association. */
export function disassociate(network: CloudNetwork, associationId: string): void {
  for (const { association, ...rest } of network.all('publicAddresses').values()) {
    if (association?.id === associationId) return network.put('publicAddresses', rest);
  }
  return refuse({ kind: 'associationNotFound', id: associationId });
}

/** A pending instance accepts no public address. */
function refusePending(network: CloudNetwork, target: NetworkInterface): void {
  const instance = network.instances.get(target.instanceId ?? '');
  if (instance?.state !== 'pending') return;
  refuse({ kind: 'instanceState', instanceId: instance.id, state: instance.state });
}

function isSame(association: PublicAssociation, target: NetworkInterface, privateAddress: string): boolean {
  return association.interfaceId === target.id && association.privateAddress === privateAddress;
}

function freeAddress(network: CloudNetwork, taken: ReadonlySet<string>): string {
  const start = Math.floor(network.draw({ min: 0, max: publicAddresses - 1 }));
  for (let step = 0; step < publicAddresses; step++) {
    const address = formatIpv4(firstPublic + ((start + step) % publicAddresses));
    if (!taken.has(address)) return address;
  }
  throw new Error('every public address is allocated');
}
