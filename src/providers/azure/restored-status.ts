// Reads a published `status.azure` back: the state known before a restart. Skips interfaces without what agents need,
// because a read of the instance shows them again. Older operators name a subnet only with each address, and the primary
// address not at all.
import { isIPv4 } from 'node:net';
import type { RestoredState } from '../contract/cilium-node-section.ts';
import type { Subnet } from '../contract/infrastructure.ts';
import { parseBlock } from '../contract/ipv4.ts';
import type { Attachment, NetworkInterface } from '../contract/network-interface.ts';
import { items, member, text } from '../contract/published-json.ts';

interface Restoring {
  readonly instanceId: string;
  readonly spellings: { readonly of: (id: string) => string };
}

export function restoreStatus(status: unknown, restoring: Restoring): RestoredState {
  const published = items(status, 'interfaces');
  const subnets = published.flatMap((item) => restoreSubnet(item, restoring) ?? []);
  const networkIds = new Set(subnets.map(({ networkId }) => networkId));
  return {
    interfaces: published.flatMap((item) => restoreInterface(item, restoring) ?? []),
    subnets: new Map(subnets.map((subnet) => [subnet.id, subnet])),
    networks: new Map([...networkIds].map((id) => [id, { id, primaryCidr: '', cidrs: [] }])),
  };
}

function restoreSubnet(item: unknown, { spellings }: Restoring): Subnet | undefined {
  const place = placeOf(item);
  const cidr = text(member(item, 'subnet'), 'cidr') || text(item, 'cidr');
  if (place === undefined || parseBlock(cidr) === undefined) return undefined;
  return {
    id: spellings.of(place.subnetId),
    cidr,
    networkId: spellings.of(place.networkId),
    zone: '',
    tags: {},
    freeAddresses: 0,
    eligible: false,
  };
}

function restoreInterface(item: unknown, { instanceId, spellings }: Restoring): NetworkInterface | undefined {
  const [id, mac, ip, name] = [text(item, 'id'), text(item, 'mac'), text(item, 'ip'), text(item, 'name')];
  const place = placeOf(item);
  if (id === '' || mac === '' || place === undefined) return undefined;
  const primaryAddress = isIPv4(ip) ? ip : '';
  const secondary = items(item, 'addresses')
    .map((entry) => ({ ip: text(entry, 'ip'), subnetId: text(entry, 'subnet') }))
    .filter((entry) => isIPv4(entry.ip) && entry.ip !== primaryAddress);
  const elsewhere = secondary
    .filter(({ subnetId }) => subnetId !== '' && subnetId !== place.subnetId)
    .map((entry) => [entry.ip, spellings.of(entry.subnetId)] as const);
  const groupId = text(item, 'security-group');
  return {
    id: spellings.of(id),
    ...(name !== '' && { name }),
    description: '',
    networkId: spellings.of(place.networkId),
    subnetId: spellings.of(place.subnetId),
    zone: '',
    mac,
    primaryAddress,
    publicAddress: undefined,
    addresses: [...new Set(secondary.map((entry) => entry.ip))],
    prefixes: [],
    securityGroupIds: groupId === '' ? [] : [spellings.of(groupId)],
    tags: {},
    reservedFor: undefined,
    ...(elsewhere.length > 0 && { addressSubnets: new Map(elsewhere) }),
    attachment: attachedTo(instanceId),
  };
}

/** Which interface is the primary one is not published. */
function attachedTo(instanceId: string): Attachment {
  return {
    id: '',
    instanceId,
    deviceIndex: Infinity,
    networkCard: 0,
    state: 'attached',
    deleteOnTermination: true,
  };
}

interface Place {
  readonly subnetId: string;
  readonly networkId: string;
}

/** Undefined if the subnet is unknown. */
function placeOf(item: unknown): Place | undefined {
  const subnetId = text(member(item, 'subnet'), 'id') || text(items(item, 'addresses')[0], 'subnet');
  const networkId = /^(\/subscriptions\/.+\/virtualnetworks\/[^/]+)\/subnets\/[^/]+$/i.exec(subnetId)?.[1];
  return networkId === undefined ? undefined : { subnetId, networkId };
}
