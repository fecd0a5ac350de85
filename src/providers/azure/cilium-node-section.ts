// The Azure section of the CiliumNode: `spec.azure`, which says little, and `status.azure`, whose interfaces are a list
// that Headwater keeps sorted. One malformed address breaks the decoding of the whole object in newer agents, so nothing
// is written that is not valid.
import { isAbsent, isObject, listAt, memberOf } from '../../runtime/json.ts';
import { isIPv4 } from 'node:net';
import * as z from 'zod';
import type {
  CiliumNodeSection,
  CloudWords,
  SectionReading,
  SectionRequirements,
  ShownInterface,
  ShownInterfaces,
  SkippedEntry,
  StatusContext,
  RestoredState,
} from '../contract/cilium-node-section.ts';
import type { KnownNetwork, Subnet } from '../contract/infrastructure.ts';
import { formatAddress, parseBlock } from '../contract/ipv4.ts';
import { type NetworkInterface, attachedTo, interfaceWith } from '../contract/network-interface.ts';
import { cloudName, noTags, noTexts, readFields } from '../section/section-fields.ts';
import {
  text,
  publishedAddresses,
  shownAddresses,
  withoutAddresses,
  withoutEmpty,
  byId,
  restoredSubnet,
} from '../section/published-status.ts';
import { prefixAround } from './subnets.ts';

const words: CloudWords = {
  publicAddress: 'public IP prefix',
  fields: {
    instanceType: 'the size of the VM',
    networkId: 'the virtual network of the VM',
    zone: 'the zone of the VM',
    interfaceName: 'spec.azure.interface-name',
    securityGroupIds: 'the network security group of the interface',
    securityGroupTags: 'the network security group of the interface',
  },
  remedies: {
    fullSubnets: 'free addresses there, or move the nodes to VMs whose interfaces are in a larger subnet',
    fullInstance: 'use more nodes, because Azure gives no VM more addresses',
    unseenInstance: "check that Headwater's role covers its resource group",
  },
  options: {
    networkId: '--azure-resource-group',
    exclusion: 'is outside what --azure-subscription-id and --azure-resource-group name',
  },
};

const addressFields = { list: 'addresses', address: 'ip' };

const fields = z.object({ 'instance-id': cloudName, 'interface-name': cloudName }, 'an object');

/** The spec of a node. A member that agents on Azure cannot say is empty, or has the value that changes nothing. */
const spec = fields.transform(
  (given): SectionRequirements => ({
    missing: noTexts,
    instanceId: given['instance-id'],
    interfaceName: given['interface-name'],
    firstInterfaceIndex: 0,
    securityGroupIds: noTexts,
    securityGroupTags: noTags,
    subnetIds: noTexts,
    subnetTags: noTags,
    excludeInterfaceTags: noTags,
    deleteOnTermination: true,
    usePrimaryAddress: false,
    disablePrefixDelegation: false,
  }),
);

/** `spellings` gives each id its one spelling: the published one, if a CiliumNode is restored before the cloud is read. */
export function azureSection(spellings: { readonly of: (id: string) => string }): CiliumNodeSection {
  return {
    key: 'azure',
    bounds: [
      { path: ['spec', 'azure'], characters: 4096 },
      { path: ['status', 'azure', 'interfaces'], entries: 64 },
      // Each address names its subnet by an id of some 200 characters.
      { path: ['status', 'azure'], characters: 1_048_576 },
    ],
    // Agents write the section only if they are told an interface.
    requirements: (given) => readFields(spec, given ?? {}),
    shown,
    status: (view, context) => ({
      interfaces: view.interfaces
        .filter(({ mac }) => mac !== '')
        .map((item) => statusOfInterface(item, context))
        .toSorted(by('id')),
    }),
    isShowable: ({ mac, subnetId }: NetworkInterface, { subnets }: KnownNetwork) =>
      mac !== '' && parseBlock(subnets.get(subnetId)?.cidr ?? '') !== undefined,
    without: statusWithout,
    restore: (instanceId, status) => restoreStatus(status, { instanceId, spellings }),
    keepSpelling: (status) => void restoreStatus(status, { instanceId: '', spellings }),
    layout: {
      interfaces: 'interfaces',
      addresses: 'addresses',
      identifiedBy: new Map([
        ['interfaces', 'id'],
        ['addresses', 'ip'],
      ]),
      owned: {
        id: 'whole',
        name: 'whole',
        mac: 'whole',
        state: 'whole',
        ip: 'whole',
        subnet: { id: 'whole', cidr: 'whole' },
        cidr: 'whole',
        gateway: 'whole',
        'security-group': 'whole',
        addresses: { ip: 'whole', subnet: 'whole', state: 'whole' },
      },
      // Agents before 1.20 know neither.
      droppable: new Set(['ip', 'subnet']),
      incidental: new Set(['name', 'state', 'security-group', 'ip']),
    },
    words,
  };
}

function shown(status: unknown, skip: SkippedEntry): SectionReading<ShownInterfaces> {
  if (isAbsent(status)) return { value: new Map() };
  if (!isObject(status)) return { problems: [{ path: [], accepted: 'an object' }] };
  const list = memberOf(status, 'interfaces');
  if (isAbsent(list)) return { value: new Map() };
  if (!Array.isArray(list)) return { problems: [{ path: ['interfaces'], accepted: 'a list' }] };
  const interfaces = new Map<string, ShownInterface>();
  for (const [index, item] of (list as readonly unknown[]).entries()) {
    const skipWithin: SkippedEntry = (path, ...said) => skip(['interfaces', index, ...path], ...said);
    if (!isObject(item)) {
      skipWithin([], item, 'an object');
      continue;
    }
    const id = text(item, 'id');
    if (id === '') skipWithin(['id'], memberOf(item, 'id'), 'a text that is not empty');
    // An interface that is listed twice shows the addresses of both, and one without an id still shows its addresses.
    const before = interfaces.get(id)?.addresses ?? noTexts;
    interfaces.set(id, {
      addresses: [...before, ...shownAddresses(item, addressFields, skipWithin)],
      prefixes: noTexts,
    });
  }
  return { value: interfaces };
}

/** Agents use nothing in another state, so what is shown has this one, whatever changes on the interface meanwhile. */
const usable = 'succeeded';

function statusOfInterface(item: NetworkInterface, context: StatusContext): Record<string, unknown> {
  const subnet = context.infrastructure.subnets.get(item.subnetId);
  const cidr = subnet === undefined ? '' : prefixAround(subnet, item.primaryAddress);
  const block = parseBlock(cidr);
  const valid = block === undefined ? '' : cidr;
  return withoutEmpty({
    id: item.id,
    name: item.name ?? '',
    mac: item.mac,
    state: item.condition === 'failed' ? 'failed' : usable,
    ip: isIPv4(item.primaryAddress) ? item.primaryAddress : '',
    subnet: withoutEmpty({ id: item.subnetId, cidr: valid }),
    cidr: valid,
    // Azure reserves the first address of each prefix of a subnet for its router.
    gateway: block === undefined ? '' : formatAddress(block.first + 1),
    'security-group': item.securityGroupIds[0] ?? '',
    addresses: publishedAddresses(item, context)
      .map((ip) => ({ ip, subnet: item.addressSubnets?.get(ip) ?? item.subnetId, state: usable }))
      .toSorted(by('ip')),
  });
}

function by(name: string): (a: object, b: object) => number {
  return (a, b) => (text(a, name) < text(b, name) ? -1 : 1);
}

/** A published `status.azure` without what is gone. */
function statusWithout(status: unknown, isGone: (id: string) => boolean): unknown {
  if (!isObject(status)) return {};
  const kept = listAt(status, 'interfaces').filter((item) => !isGone(text(item, 'id')));
  return { ...status, interfaces: kept.map((item) => withoutAddresses(item, addressFields, isGone)) };
}

interface Restoring {
  readonly instanceId: string;
  readonly spellings: { readonly of: (id: string) => string };
}

/**
 * Skips interfaces without what agents need, because a read of the instance shows them again. Older operators name a subnet
 * only with each address, and the primary address not at all.
 */
function restoreStatus(status: unknown, restoring: Restoring): RestoredState {
  const published = listAt(status, 'interfaces');
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
  const cidr = text(memberOf(item, 'subnet'), 'cidr') || text(item, 'cidr');
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
  const secondary = listAt(item, 'addresses')
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

/** Undefined if the subnet is unknown. */
function placeOf(item: unknown): Pick<NetworkInterface, 'subnetId' | 'networkId'> | undefined {
  const subnetId = text(memberOf(item, 'subnet'), 'id') || text(listAt(item, 'addresses')[0], 'subnet');
  const networkId = /^(\/subscriptions\/.+\/virtualnetworks\/[^/]+)\/subnets\/[^/]+$/i.exec(subnetId)?.[1];
  return networkId === undefined ? undefined : { subnetId, networkId };
}
