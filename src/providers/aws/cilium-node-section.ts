// The AWS section of the CiliumNode: `spec.eni`, in which an agent says what its node needs, and `status.eni`, which agents
// read and Headwater restores after a restart. Empty fields are omitted as Go's omitempty does, so device index 0 is absent.
import { isIPv4 } from 'node:net';
import type {
  CiliumNodeSection,
  CloudWords,
  RestoredState,
  SectionBound,
  SectionReading,
  ShownInterfaces,
  SkippedEntry,
  StatusContext,
  SectionRequirements,
} from '../contract/cilium-node-section.ts';
import type { KnownNetwork } from '../contract/infrastructure.ts';
import type { InstanceView } from '../contract/facts.ts';
import { blockAround, expandBlock, parseBlock } from '../contract/ipv4.ts';
import { ipv6Wording, isIpv6Prefix } from '../contract/ipv6.ts';
import {
  attachedTo,
  expandHolding,
  interfaceWith,
  type NetworkInterface,
} from '../contract/network-interface.ts';
import { isAbsent, memberOf } from '../../runtime/json.ts';
import {
  restoreById,
  shownById,
  text,
  textsByName,
  textsIn,
  withoutById,
  withoutEmpty,
} from '../section/published-status.ts';
import {
  cidrWording,
  cloudName,
  flag,
  ipv4Wording,
  missingFields,
  requirementsBy,
  tags,
  texts,
  wholeNumber,
} from '../section/section-fields.ts';
import * as z from 'zod';

const words: CloudWords = {
  publicAddress: 'Elastic IP address',
  fields: {
    instanceType: 'spec.eni.instance-type',
    networkId: 'spec.eni.vpc-id',
    zone: 'spec.eni.availability-zone',
    securityGroupIds: 'spec.eni.security-groups',
    securityGroupTags: 'spec.eni.security-group-tags',
  },
  remedies: {
    fullSubnets: "add a subnet that the node's subnet selection matches, or free addresses there",
    hiddenTags:
      'if another account shares such a subnet (AWS RAM), only that account sees its tags: let Headwater read them by --network-account-role-arn, or name the subnet by its id in spec.eni.subnet-ids, or in --subnet-ids-filter instead of --subnet-tags-filter',
    fullInstance: 'use a larger instance type',
    unseenInstance: "check Headwater's region, account and role",
  },
  options: {
    networkId: '--vpc-id',
    podNetworkId: '--pod-vpc-id',
    exclusion: 'does not carry the tags of --instance-tags-filter',
  },
};

/** AWS allows 50 tags on any resource. */
const maxTags = 50;

/** Together they have as many addresses as are read of a pool. */
const maxPrefixes = 256;

const bounds: readonly SectionBound[] = [
  { path: ['spec', 'eni', 'security-groups'], entries: 64 },
  { path: ['spec', 'eni', 'subnet-ids'], entries: 1024 },
  { path: ['spec', 'eni', 'subnet-tags'], entries: maxTags },
  { path: ['spec', 'eni', 'security-group-tags'], entries: maxTags },
  { path: ['spec', 'eni', 'exclude-interface-tags'], entries: maxTags },
  { path: ['spec', 'eni'], characters: 32_768 },
  { path: ['status', 'eni', 'enis'], entries: 64 },
  { path: ['status', 'eni'], characters: 262_144 },
];

/** No instance has a higher device index, so a higher one would never yield an interface. */
const largestDeviceIndex = 255;

const fields = z.object(
  {
    'instance-id': cloudName,
    'instance-type': cloudName,
    'vpc-id': cloudName,
    'availability-zone': cloudName,
    'node-subnet-id': cloudName,
    'first-interface-index': wholeNumber(largestDeviceIndex),
    'security-groups': texts,
    'security-group-tags': tags,
    'subnet-ids': texts,
    'subnet-tags': tags,
    'exclude-interface-tags': tags,
    'delete-on-termination': flag(true),
    'use-primary-address': flag(false),
    'disable-prefix-delegation': flag(false),
  },
  'an object',
);

const spec = fields.transform(
  (given): SectionRequirements => ({
    missing: missingFields('spec.eni', given),
    instanceId: given['instance-id'],
    instanceType: given['instance-type'],
    networkId: given['vpc-id'],
    zone: given['availability-zone'],
    nodeSubnetId: given['node-subnet-id'],
    firstInterfaceIndex: given['first-interface-index'],
    securityGroupIds: given['security-groups'],
    securityGroupTags: given['security-group-tags'],
    subnetIds: given['subnet-ids'],
    subnetTags: given['subnet-tags'],
    excludeInterfaceTags: given['exclude-interface-tags'],
    deleteOnTermination: given['delete-on-termination'],
    usePrimaryAddress: given['use-primary-address'],
    disablePrefixDelegation: given['disable-prefix-delegation'],
  }),
);

export const awsSection: CiliumNodeSection = {
  key: 'eni',
  bounds,
  requirements: requirementsBy('spec.eni', spec),
  shown,
  status: eniStatus,
  // While one shown interface lacks any of these, agents from 1.20 on set up no new interface of the node.
  isShowable: (item: NetworkInterface, { subnets, networks }: KnownNetwork) =>
    [item.primaryAddress, subnets.get(item.subnetId)?.cidr, networks.get(item.networkId)?.primaryCidr].every(
      (text) => text !== undefined && text !== '',
    ),
  without: statusWithout,
  restore: restoreStatus,
  layout: {
    interfaces: 'enis',
    addresses: 'addresses',
    ipv6Prefixes: 'ipv6-prefixes',
    identifiedBy: new Map(),
    owned: {
      id: 'whole',
      ip: 'whole',
      mac: 'whole',
      description: 'whole',
      number: 'whole',
      subnet: { id: 'whole', cidr: 'whole' },
      vpc: { id: 'whole', 'primary-cidr': 'whole', cidrs: 'whole' },
      addresses: 'whole',
      prefixes: 'whole',
      'ipv6-prefixes': 'whole',
      'security-groups': 'whole',
      tags: 'whole',
      'public-ip': 'whole',
    },
    droppable: new Set(['ipv6-prefixes', 'public-ip']),
    incidental: new Set(['description', 'public-ip', 'tags']),
  },
  words,
};

function shown(status: unknown, skip: SkippedEntry): SectionReading<ShownInterfaces> {
  const isBlock = (text: string): boolean => blockAround(text) !== undefined;
  const reading = shownById(status, skip, (eni, within) => {
    const ipv6 = { isValid: isIpv6Prefix, accepted: ipv6Wording, skip: within };
    const ipv6Prefixes = validTexts(eni, 'ipv6-prefixes', ipv6);
    return {
      addresses: validTexts(eni, 'addresses', { isValid: isIPv4, accepted: ipv4Wording, skip: within }),
      prefixes: validTexts(eni, 'prefixes', { isValid: isBlock, accepted: cidrWording, skip: within }),
      ...(ipv6Prefixes.length > 0 && { ipv6Prefixes }),
    };
  });
  if ('problems' in reading) return reading;
  const prefixes = [...reading.value.values()].reduce(
    (count, each) => count + each.prefixes.length + (each.ipv6Prefixes?.length ?? 0),
    0,
  );
  if (prefixes <= maxPrefixes) return reading;
  return { problems: [{ path: ['enis'], accepted: `a map with at most ${maxPrefixes} prefixes` }] };
}

interface Entries {
  readonly isValid: (text: string) => boolean;
  readonly accepted: string;
  readonly skip: SkippedEntry;
}

/** The valid entries of a list. A fully valid list is returned as is, so that memory holds it once. */
function validTexts(eni: object, name: string, { isValid, accepted, skip }: Entries): readonly string[] {
  const list = memberOf(eni, name);
  if (isAbsent(list)) return [];
  if (!Array.isArray(list)) {
    skip([name], list, 'a list');
    return [];
  }
  const isEntry = (entry: unknown): entry is string => typeof entry === 'string' && isValid(entry);
  if (list.every(isEntry)) return list;
  return list.filter((entry: unknown, index): entry is string => {
    if (isEntry(entry)) return true;
    skip([name, index], entry, accepted);
    return false;
  });
}

function eniStatus(view: InstanceView, context: StatusContext): Record<string, unknown> {
  return {
    enis: Object.fromEntries(view.interfaces.map((item) => [item.id, statusOfInterface(item, context)])),
  };
}

function statusOfInterface(item: NetworkInterface, context: StatusContext): Record<string, unknown> {
  const network = context.infrastructure.networks.get(item.networkId);
  // Agents use every address that they are shown.
  const isFit = !context.unfit.has(item.id);
  const isShown = (address: string): boolean => isFit || context.retired.has(address);
  const isPrimaryShown = (isFit && context.usePrimaryAddress) || context.retired.has(item.primaryAddress);
  const primary = isPrimaryShown ? [item.primaryAddress] : [];
  const addresses = [...primary, ...statusAddresses(item).filter(isShown)];
  const prefixes = item.prefixes.filter((prefix) => isFit || expandBlock(prefix).every(isShown));
  const whole = (prefix: string): boolean =>
    !expandBlock(prefix).some((address) => context.excluded.has(address));
  return withoutEmpty({
    id: item.id,
    ip: item.primaryAddress,
    mac: item.mac,
    description: item.description,
    number: item.attachment?.deviceIndex,
    subnet: withoutEmpty({
      id: item.subnetId,
      cidr: context.infrastructure.subnets.get(item.subnetId)?.cidr,
    }),
    vpc: withoutEmpty({ id: item.networkId, 'primary-cidr': network?.primaryCidr, cidrs: network?.cidrs }),
    addresses: addresses.filter((address) => !context.excluded.has(address)),
    prefixes: prefixes.filter(whole),
    'ipv6-prefixes': item.ipv6Prefixes?.filter((prefix) => isShown(prefix) && !context.excluded.has(prefix)),
    'security-groups': item.securityGroupIds,
    tags: item.tags,
    'public-ip': item.publicAddress,
  });
}

/** An address inside a prefix appears only with the prefix. */
function statusAddresses({ addresses, prefixes }: NetworkInterface): readonly string[] {
  if (prefixes.length === 0) return addresses;
  const members = prefixes.flatMap(expandBlock);
  return [...addresses.filter((address) => !members.includes(address)), ...members];
}

/** A published `status.eni` without what is gone. A prefix that loses an address is replaced by its other addresses. */
function statusWithout(status: unknown, isGone: (id: string) => boolean): unknown {
  const isWhole = (prefix: unknown): boolean =>
    typeof prefix !== 'string' || !expandHolding(prefix).some(isGone);
  const isThere = (address: unknown): boolean => typeof address !== 'string' || !isGone(address);
  return withoutById(status, isGone, (eni) =>
    restricted(
      restricted(restricted(eni, 'addresses', isThere), 'prefixes', isWhole),
      'ipv6-prefixes',
      isThere,
    ),
  );
}

function restricted(eni: unknown, name: string, stays: (item: unknown) => boolean): unknown {
  const list = memberOf(eni, name);
  if (!Array.isArray(list) || list.every(stays)) return eni;
  return { ...(eni as object), [name]: list.filter(stays) };
}

/** Interfaces are in the zone of their instance. */
function restoreStatus(instanceId: string, status: unknown, zone: string): RestoredState {
  return restoreById(status, {
    names: { subnet: ['subnet', 'id', 'cidr'], network: ['vpc', 'id', 'primary-cidr', 'cidrs'] },
    zoneOf: () => zone,
    restored: (id, eni, place) => {
      const [mac, primaryAddress] = [text(eni, 'mac'), text(eni, 'ip')];
      if (!isIPv4(primaryAddress) || [mac, place.subnetId, place.networkId].includes('')) return undefined;
      const prefixes = textsIn(eni, 'prefixes').filter((prefix) => parseBlock(prefix)?.length === 28);
      const members = new Set(prefixes.flatMap(expandBlock));
      const ipv6Prefixes = textsIn(eni, 'ipv6-prefixes').filter(isIpv6Prefix);
      const index = memberOf(eni, 'number');
      return interfaceWith({
        id,
        description: text(eni, 'description'),
        ...place,
        zone,
        mac,
        primaryAddress,
        publicAddress: text(eni, 'public-ip') || undefined,
        addresses: textsIn(eni, 'addresses').filter(
          (address) => isIPv4(address) && address !== primaryAddress && !members.has(address),
        ),
        prefixes,
        ...(ipv6Prefixes.length > 0 && { ipv6Prefixes }),
        securityGroupIds: textsIn(eni, 'security-groups'),
        tags: textsByName(eni, 'tags'),
        attachment: attachedTo(instanceId, typeof index === 'number' ? index : 0),
      });
    },
  });
}
