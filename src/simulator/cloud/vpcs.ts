// VPCs with their blocks, main route table and default security group.
import { readBlock, readIpv6Block } from './blocks.ts';
import type { CloudNetwork } from './cloud-network.ts';
import { refuse } from './cloud-refusal.ts';
import { formatIpv4Block, type Ipv4Block, overlap } from './ipv4.ts';
import { formatIpv6Block } from './ipv6.ts';
import type { RouteTable, Tags, Vpc } from './records.ts';
import { putGroup } from './security-groups.ts';
import { refuseTags } from './tags.ts';

/** Creates a VPC with its main route table and default security group. */
export function createVpc(
  network: CloudNetwork,
  request: {
    readonly id?: string | undefined;
    readonly owner?: string | undefined;
    readonly block: string;
    readonly tags: Tags;
  },
): Vpc {
  const block = readVpcBlock(request.block);
  refuseTags({}, request.tags);
  const id = request.id ?? network.newId('vpc');
  const blocks = [{ associationId: network.newId('vpc-cidr-assoc'), block: formatIpv4Block(block) }];
  const { owner, tags } = request;
  const vpc: Vpc = { id, ...(owner !== undefined && { owner }), blocks, ipv6Blocks: [], tags };
  network.put('vpcs', vpc);
  network.put('routeTables', {
    id: network.newId('rtb'),
    vpcId: id,
    associations: [{ id: network.newId('rtbassoc') }],
    tags: {},
  });
  putGroup(network, { name: 'default', description: 'default VPC security group', vpcId: id, tags: {} });
  return vpc;
}

/** Adds an IPv4 block to a VPC. */
export function addVpcBlock(network: CloudNetwork, vpcId: string, text: string): Vpc {
  const vpc = network.find('vpcs', vpcId);
  const block = readVpcBlock(text);
  const clash = vpc.blocks.some((other) => overlap(readBlock(other.block), block));
  if (clash) refuse({ kind: 'blockConflict', block: formatIpv4Block(block) });
  const added = { associationId: network.newId('vpc-cidr-assoc'), block: formatIpv4Block(block) };
  const changed = { ...vpc, blocks: [...vpc.blocks, added] };
  network.put('vpcs', changed);
  return changed;
}

/** Adds an IPv6 /56 block to a VPC; if none is given, the cloud picks one. */
export function addVpcIpv6Block(network: CloudNetwork, vpcId: string, wish?: string): Vpc {
  const vpc = network.find('vpcs', vpcId);
  const associationId = network.newId('vpc-cidr-assoc');
  const [high, low] = [associationId.slice(-4), associationId.slice(-6, -4)];
  const block = readIpv6Block(wish ?? `2600:1f00:${high}:${low}00::/56`);
  const ipv6Blocks = [...vpc.ipv6Blocks, { associationId, block: formatIpv6Block(block) }];
  const changed = { ...vpc, ipv6Blocks };
  network.put('vpcs', changed);
  return changed;
}

/** Deletes a VPC that contains only what it was created with. */
export function deleteVpc(network: CloudNetwork, id: string): void {
  network.find('vpcs', id);
  const owned = (record: { readonly vpcId: string }): boolean => record.vpcId === id;
  const tables = [...network.all('routeTables').values()].filter(owned);
  const groups = [...network.all('groups').values()].filter(owned);
  const dependents =
    [...network.subnets.values()].some(owned) ||
    groups.some((group) => group.name !== 'default') ||
    tables.some((table) => !isMain(table));
  if (dependents) refuse({ kind: 'dependency', what: 'vpcs', id });
  tables.forEach((table) => network.delete('routeTables', table.id));
  groups.forEach((group) => network.delete('groups', group.id));
  network.delete('vpcs', id);
}

function isMain(table: RouteTable): boolean {
  return table.associations.some((association) => association.subnetId === undefined);
}

function readVpcBlock(text: string): Ipv4Block {
  const block = readBlock(text);
  return block.length >= 16 && block.length <= 28
    ? block
    : refuse({ kind: 'vpcBlockRange', block: formatIpv4Block(block) });
}
