// Reads a published `status.alibaba-cloud` back: the state known before a restart. Skips interfaces without what agents
// need, because a read of the instance shows them again.
import { isIPv4 } from 'node:net';
import type { RestoredState } from '../contract/cilium-node-section.ts';
import type { Network, Subnet } from '../contract/infrastructure.ts';
import { parseBlock } from '../contract/ipv4.ts';
import type { NetworkInterface } from '../contract/network-interface.ts';
import { items, member, text } from '../contract/published-json.ts';
import { byId } from '../contract/published-status.ts';
import { attachmentIdOf, slotIn } from './network-interface.ts';

export function restoreStatus(instanceId: string, status: unknown): RestoredState {
  const enis = Object.entries(member(status, 'enis') ?? {});
  return {
    interfaces: enis.flatMap(([id, eni]) => restoreInterface(instanceId, id, eni) ?? []),
    subnets: byId(enis.flatMap(([, eni]) => restoreSubnet(eni) ?? [])),
    networks: byId(enis.flatMap(([, eni]) => restoreNetwork(eni) ?? [])),
  };
}

function restoreSubnet(eni: unknown): Subnet | undefined {
  const vswitch = member(eni, 'vswitch');
  const [id, cidr] = [text(vswitch, 'vswitch-id'), text(vswitch, 'cidr')];
  const networkId = text(member(eni, 'vpc'), 'vpc-id');
  if (id === '' || networkId === '' || parseBlock(cidr) === undefined) return undefined;
  const zone = text(eni, 'zone-id');
  return { id, cidr, networkId, zone, tags: {}, freeAddresses: 0, eligible: false };
}

function restoreNetwork(eni: unknown): Network | undefined {
  const vpc = member(eni, 'vpc');
  const [id, primaryCidr] = [text(vpc, 'vpc-id'), text(vpc, 'cidr')];
  if (id === '' || parseBlock(primaryCidr) === undefined) return undefined;
  const cidrs = items(vpc, 'secondary-cidrs').filter((cidr) => typeof cidr === 'string');
  return { id, primaryCidr, cidrs: cidrs.filter((cidr) => parseBlock(cidr) !== undefined) };
}

function restoreInterface(instanceId: string, id: string, eni: unknown): NetworkInterface | undefined {
  const [mac, primaryAddress] = [text(eni, 'mac-address'), text(eni, 'primary-ip-address')];
  const [subnetId, networkId] = [
    text(member(eni, 'vswitch'), 'vswitch-id'),
    text(member(eni, 'vpc'), 'vpc-id'),
  ];
  if (!isIPv4(primaryAddress) || [mac, subnetId, networkId].includes('')) return undefined;
  const addresses = items(eni, 'private-ipsets').map((entry) => text(entry, 'private-ip-address'));
  const tags = Object.fromEntries(
    Object.entries(member(eni, 'tags') ?? {}).map(([key, value]) => [key, String(value)]),
  );
  const isPrimary = text(eni, 'type') === 'Primary';
  return {
    id,
    description: '',
    networkId,
    subnetId,
    zone: text(eni, 'zone-id'),
    mac,
    primaryAddress,
    publicAddress: undefined,
    addresses: addresses.filter((address) => isIPv4(address) && address !== primaryAddress),
    prefixes: [],
    securityGroupIds: items(eni, 'security-groupids').filter((group) => typeof group === 'string'),
    tags,
    reservedFor: undefined,
    attachment: {
      id: attachmentIdOf(id, instanceId),
      instanceId,
      deviceIndex: isPrimary ? 0 : (slotIn(tags) ?? Infinity),
      networkCard: 0,
      state: 'attached',
      deleteOnTermination: true,
    },
  };
}
