// Reads a published `status.azure` back: the state known before a restart. Skips interfaces without what agents need,
// because a read of the instance shows them again. Older operators name a subnet only with each address, and the primary
// address not at all.
import { isIPv4 } from 'node:net';
import type { RestoredState } from '../contract/cilium-node-section.ts';
import type { Subnet } from '../contract/infrastructure.ts';
import { attachedTo, interfaceWith, type NetworkInterface } from '../contract/network-interface.ts';
import { items, member, text } from '../section/published-json.ts';
import { byId } from '../section/published-status.ts';
import { restoredSubnet } from '../section/restored-status.ts';

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
    subnets: byId([...Map.groupBy(subnets, ({ id }) => id).values()].flatMap(together)),
    networks: new Map([...networkIds].map((id) => [id, { id, primaryCidr: '', cidrs: [] }])),
  };
}

function restoreSubnet(item: unknown, { spellings }: Restoring): Subnet | undefined {
  const place = placeOf(item);
  const cidr = text(member(item, 'subnet'), 'cidr') || text(item, 'cidr');
  if (place === undefined) return undefined;
  const [id, networkId] = [spellings.of(place.subnetId), spellings.of(place.networkId)];
  return restoredSubnet({ id, cidr, networkId, zone: '' });
}

/** Each interface names the prefix that it is in, of those of its subnet. */
function together(all: readonly Subnet[]): readonly Subnet[] {
  const [cidr = '', ...otherCidrs] = new Set(all.map((each) => each.cidr));
  return all.slice(0, 1).map((first) => ({ ...first, cidr, ...(otherCidrs.length > 0 && { otherCidrs }) }));
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
  return interfaceWith({
    id: spellings.of(id),
    ...(name !== '' && { name }),
    networkId: spellings.of(place.networkId),
    subnetId: spellings.of(place.subnetId),
    mac,
    primaryAddress,
    addresses: [...new Set(secondary.map((entry) => entry.ip))],
    securityGroupIds: groupId === '' ? [] : [spellings.of(groupId)],
    ...(elsewhere.length > 0 && { addressSubnets: new Map(elsewhere) }),
    // Which interface is the primary one is not published.
    attachment: attachedTo(instanceId),
  });
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
