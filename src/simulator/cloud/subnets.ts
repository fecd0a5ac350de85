// Subnets and their reservations.
import type { ReservationType } from './address-space.ts';
import { readBlock, readIpv6Block } from './blocks.ts';
import type { CloudNetwork } from './cloud-network.ts';
import { refuse } from './cloud-refusal.ts';
import { covers, formatIpv4Block, type Ipv4Block, overlap } from './ipv4.ts';
import { containsIpv6, formatIpv6Block, overlapIpv6 } from './ipv6.ts';
import type { BlockReservation, Subnet, Tags, Vpc } from './records.ts';
import { refuseTags } from './tags.ts';

export interface SubnetRequest {
  readonly id?: string | undefined;
  readonly vpcId: string;
  readonly zone: string;
  readonly block: string;
  readonly ipv6Block?: string | undefined;
  readonly outpost?: string | undefined;
  readonly tags: Tags;
}

/** Creates a subnet of /16 to /28 that overlaps no other. */
export function createSubnet(network: CloudNetwork, request: SubnetRequest): Subnet {
  const vpc = network.find('vpcs', request.vpcId);
  const block = readBlock(request.block);
  refuseTags({}, request.tags);
  refuseZone(network, request.zone);
  refuseBlock(vpc, block);
  const siblings = [...network.subnets.values()].filter((other) => other.vpcId === vpc.id);
  if (siblings.some((other) => overlap(readBlock(other.block), block))) {
    refuse({ kind: 'subnetConflict', block: formatIpv4Block(block) });
  }
  return network.addSubnet({
    id: request.id ?? network.newId('subnet'),
    vpcId: vpc.id,
    zone: request.zone,
    block: formatIpv4Block(block),
    ...ipv6OfSubnet(network, siblings, request.ipv6Block),
    ...(request.outpost !== undefined && { outpost: request.outpost }),
    tags: request.tags,
  });
}

/** Deletes a subnet without interfaces, including its reservations and associations. */
export function deleteSubnet(network: CloudNetwork, id: string): void {
  network.find('subnets', id);
  if ([...network.interfaces.values()].some((record) => record.subnetId === id)) {
    refuse({ kind: 'dependency', what: 'subnets', id });
  }
  for (const table of network.all('routeTables').values()) {
    const associations = table.associations.filter((association) => association.subnetId !== id);
    if (associations.length < table.associations.length)
      network.put('routeTables', { ...table, associations });
  }
  for (const reservation of network.all('reservations').values()) {
    if (reservation.subnetId === id) network.delete('reservations', reservation.id);
  }
  network.delete('subnets', id);
}

export interface ReservationRequest {
  readonly subnetId: string;
  readonly block: string;
  readonly type: ReservationType;
  readonly description: string;
  readonly tags: Tags;
}

/** Reserves a part of a subnet; held addresses in it stay held. */
export function createReservation(network: CloudNetwork, request: ReservationRequest): BlockReservation {
  const subnet = network.find('subnets', request.subnetId);
  if (request.block.includes(':')) return reserveIpv6(network, subnet, request);
  const block = readBlock(request.block);
  const written = formatIpv4Block(block);
  if (!covers(readBlock(subnet.block), block)) refuse({ kind: 'reservationRange', block: written });
  const clash = [...network.all('reservations').values()].some(
    (other) => other.subnetId === subnet.id && !isOfIpv6(other) && overlap(readBlock(other.block), block),
  );
  if (clash) refuse({ kind: 'reservationConflict', block: written });
  const record: BlockReservation = { ...request, id: network.newId('scr'), block: written };
  network.space(subnet.id).reserve(block, request.type);
  network.recount(subnet.id);
  network.put('reservations', record);
  return record;
}

/** Ends a reservation: its free addresses become available for all uses. */
export function deleteReservation(network: CloudNetwork, id: string): BlockReservation {
  const record = network.find('reservations', id);
  if (isOfIpv6(record)) network.ipv6Space(record.subnetId)?.open(readIpv6Block(record.block));
  else {
    network.space(record.subnetId).open(readBlock(record.block));
    network.recount(record.subnetId);
  }
  network.delete('reservations', id);
  return record;
}

/** Whether a reservation is one of the subnet's IPv6 block. */
export function isOfIpv6({ block }: Pick<BlockReservation, 'block'>): boolean {
  return block.includes(':');
}

function reserveIpv6(network: CloudNetwork, subnet: Subnet, request: ReservationRequest): BlockReservation {
  const block = readIpv6Block(request.block);
  const written = formatIpv6Block(block);
  const whole = subnet.ipv6Block && readIpv6Block(subnet.ipv6Block.block);
  if (whole === undefined || block.length < whole.length || !containsIpv6(whole, block.first))
    refuse({ kind: 'reservationRange', block: written });
  const clash = [...network.all('reservations').values()].some(
    (other) =>
      other.subnetId === subnet.id && isOfIpv6(other) && overlapIpv6(readIpv6Block(other.block), block),
  );
  if (clash) refuse({ kind: 'reservationConflict', block: written });
  const record: BlockReservation = { ...request, id: network.newId('scr'), block: written };
  if (request.type === 'explicit') network.ipv6Space(subnet.id)?.reserveExplicitly(block);
  network.put('reservations', record);
  return record;
}

/** A zone name is the region's name and a letter. */
function refuseZone(network: CloudNetwork, zone: string): void {
  if (!zone.startsWith(network.region) || !/^[a-z]$/.test(zone.slice(network.region.length))) {
    refuse({ kind: 'unknownZone', zone });
  }
}

function refuseBlock(vpc: Vpc, block: Ipv4Block): void {
  const inside = vpc.blocks.some((outer) => covers(readBlock(outer.block), block));
  if (!inside || block.length < 16 || block.length > 28) {
    refuse({ kind: 'subnetBlockRange', block: formatIpv4Block(block) });
  }
}

function ipv6OfSubnet(
  network: CloudNetwork,
  siblings: readonly Subnet[],
  text: string | undefined,
): Pick<Subnet, 'ipv6Block'> {
  if (text === undefined) return {};
  const block = readIpv6Block(text);
  if (block.length !== 64) refuse({ kind: 'subnetBlockRange', block: text });
  const clash = siblings.some(
    ({ ipv6Block }) => ipv6Block !== undefined && overlapIpv6(readIpv6Block(ipv6Block.block), block),
  );
  if (clash) refuse({ kind: 'subnetConflict', block: text });
  return { ipv6Block: { associationId: network.newId('subnet-cidr-assoc'), block: formatIpv6Block(block) } };
}
