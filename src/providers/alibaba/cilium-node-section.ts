// The section of the CiliumNode on Alibaba Cloud: `spec.alibaba-cloud`, and `status.alibaba-cloud`, whose interfaces are a
// map by id. Empty fields are omitted as Go's omitempty does, so `primary: false` is absent.
import * as z from 'zod';
import type {
  CiliumNodeSection,
  CloudWords,
  SectionBound,
  SectionReading,
  SectionRequirements,
  ShownInterfaces,
  SkippedEntry,
  StatusContext,
  RestoredState,
} from '../contract/cilium-node-section.ts';
import type { KnownNetwork } from '../contract/infrastructure.ts';
import { type NetworkInterface, attachedTo, interfaceWith } from '../contract/network-interface.ts';
import { listAt } from '../../runtime/json.ts';
import {
  publishedAddresses,
  restoreById,
  shownAddresses,
  shownById,
  text,
  textsByName,
  textsIn,
  withoutAddresses,
  withoutById,
  withoutEmpty,
} from '../section/published-status.ts';
import {
  cloudName,
  missingFields,
  noTags,
  noTexts,
  requirementsBy,
  tags,
  texts,
} from '../section/section-fields.ts';
import { isIPv4 } from 'node:net';
import { attachmentIdOf, slotIn } from './network-interface.ts';

const words: CloudWords = {
  publicAddress: 'elastic IP address',
  fields: {
    instanceType: 'spec.alibaba-cloud.instance-type',
    networkId: 'spec.alibaba-cloud.vpc-id',
    zone: 'spec.alibaba-cloud.availability-zone',
    securityGroupIds: 'spec.alibaba-cloud.security-groups',
    securityGroupTags: 'spec.alibaba-cloud.security-group-tags',
  },
  remedies: {
    fullSubnets: "add a vSwitch that the node's selection matches, or free addresses there",
    fullInstance: 'use a larger instance type',
    unseenInstance: "check Headwater's region, account and role",
  },
  options: {
    networkId: '--alibaba-cloud-vpc-id',
    exclusion: 'does not carry the tags of --instance-tags-filter',
  },
};

/** A resource has 20 tags at most. */
const maxTags = 20;

const addressFields = { list: 'private-ipsets', address: 'private-ip-address' };

const bounds: readonly SectionBound[] = [
  { path: ['spec', 'alibaba-cloud', 'security-groups'], entries: 64 },
  { path: ['spec', 'alibaba-cloud', 'vswitches'], entries: 1024 },
  { path: ['spec', 'alibaba-cloud', 'vswitch-tags'], entries: maxTags },
  { path: ['spec', 'alibaba-cloud', 'security-group-tags'], entries: maxTags },
  { path: ['spec', 'alibaba-cloud'], characters: 32_768 },
  { path: ['status', 'alibaba-cloud', 'enis'], entries: 64 },
  { path: ['status', 'alibaba-cloud'], characters: 524_288 },
];

const fields = z.object(
  {
    'instance-type': cloudName,
    'availability-zone': cloudName,
    'vpc-id': cloudName,
    'cidr-block': cloudName,
    vswitches: texts,
    'vswitch-tags': tags,
    'security-groups': texts,
    'security-group-tags': tags,
  },
  'an object',
);

/** The spec of a node. A member that agents cannot say has the one value that works for them. */
const spec = fields.transform(
  (given): SectionRequirements => ({
    missing: missingFields('spec.alibaba-cloud', given),
    instanceType: given['instance-type'],
    networkId: given['vpc-id'],
    zone: given['availability-zone'],
    // The primary interface never carries pods.
    firstInterfaceIndex: 1,
    sparesPrimary: true,
    securityGroupIds: given['security-groups'],
    securityGroupTags: given['security-group-tags'],
    subnetIds: given.vswitches,
    subnetTags: given['vswitch-tags'],
    strictSubnets: true,
    excludeInterfaceTags: noTags,
    // Interfaces are created with it.
    deleteOnTermination: false,
    usePrimaryAddress: false,
    disablePrefixDelegation: true,
  }),
);

export const alibabaSection: CiliumNodeSection = {
  key: 'alibaba-cloud',
  bounds,
  requirements: requirementsBy('spec.alibaba-cloud', spec),
  shown,
  status: (view, context) => ({
    enis: Object.fromEntries(view.interfaces.map((item) => [item.id, statusOfInterface(item, context)])),
  }),
  isShowable: ({ mac, subnetId, networkId }: NetworkInterface, { subnets, networks }: KnownNetwork) =>
    mac !== '' && subnets.has(subnetId) && networks.has(networkId),
  without: statusWithout,
  restore: restoreStatus,
  layout: {
    interfaces: 'enis',
    addresses: 'private-ipsets',
    identifiedBy: new Map([['private-ipsets', 'private-ip-address']]),
    owned: {
      'network-interface-id': 'whole',
      'mac-address': 'whole',
      type: 'whole',
      'instance-id': 'whole',
      'security-groupids': 'whole',
      vpc: { 'vpc-id': 'whole', cidr: 'whole', 'secondary-cidrs': 'whole' },
      'zone-id': 'whole',
      vswitch: { 'vswitch-id': 'whole', cidr: 'whole' },
      'primary-ip-address': 'whole',
      'private-ipsets': { 'private-ip-address': 'whole', primary: 'whole' },
      tags: 'whole',
    },
    droppable: new Set(),
    // The tags hold the index of the interface, which agents need.
    incidental: new Set(['type', 'instance-id', 'security-groupids', 'zone-id', 'primary-ip-address']),
  },
  words,
};

function shown(status: unknown, skip: SkippedEntry): SectionReading<ShownInterfaces> {
  return shownById(status, skip, (eni, within) => ({
    addresses: shownAddresses(eni, addressFields, within),
    prefixes: noTexts,
  }));
}

function statusOfInterface(item: NetworkInterface, context: StatusContext): Record<string, unknown> {
  const { subnets, networks } = context.infrastructure;
  const network = networks.get(item.networkId);
  const { attachment } = item;
  // In one order, so that an unchanged interface has an unchanged status.
  const published = publishedAddresses(item, context).toSorted();
  return withoutEmpty({
    'network-interface-id': item.id,
    'mac-address': item.mac,
    type: attachment?.deviceIndex === 0 ? 'Primary' : 'Secondary',
    'instance-id': attachment?.instanceId,
    'security-groupids': item.securityGroupIds,
    vpc: withoutEmpty({
      'vpc-id': item.networkId,
      cidr: network?.primaryCidr,
      'secondary-cidrs': network?.cidrs,
    }),
    'zone-id': item.zone,
    vswitch: withoutEmpty({ 'vswitch-id': item.subnetId, cidr: subnets.get(item.subnetId)?.cidr }),
    'primary-ip-address': item.primaryAddress,
    'private-ipsets': published.map((address) => ({
      'private-ip-address': address,
      ...(address === item.primaryAddress && { primary: true }),
    })),
    tags: item.tags,
  });
}

/** A published `status.alibaba-cloud` without what is gone. */
function statusWithout(status: unknown, isGone: (id: string) => boolean): unknown {
  return withoutById(status, isGone, (eni) => withoutAddresses(eni, addressFields, isGone));
}

function restoreStatus(instanceId: string, status: unknown): RestoredState {
  return restoreById(status, {
    names: {
      subnet: ['vswitch', 'vswitch-id', 'cidr'],
      network: ['vpc', 'vpc-id', 'cidr', 'secondary-cidrs'],
    },
    zoneOf: (eni) => text(eni, 'zone-id'),
    restored: (id, eni, place) => {
      const [mac, primaryAddress] = [text(eni, 'mac-address'), text(eni, 'primary-ip-address')];
      if (!isIPv4(primaryAddress) || [mac, place.subnetId, place.networkId].includes('')) return undefined;
      const addresses = listAt(eni, 'private-ipsets').map((entry) => text(entry, 'private-ip-address'));
      const tags = textsByName(eni, 'tags');
      const index = text(eni, 'type') === 'Primary' ? 0 : slotIn(tags);
      return interfaceWith({
        id,
        ...place,
        zone: text(eni, 'zone-id'),
        mac,
        primaryAddress,
        addresses: addresses.filter((address) => isIPv4(address) && address !== primaryAddress),
        securityGroupIds: textsIn(eni, 'security-groupids'),
        tags,
        attachment: attachedTo(instanceId, index, attachmentIdOf(id, instanceId)),
      });
    },
  });
}
