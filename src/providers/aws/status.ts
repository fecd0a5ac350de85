// The AWS part of the CiliumNode status, `status.eni`: written for agents, and read back after a restart. Fields with
// nothing in them are left out, as Go's omitempty does; device index 0 is therefore absent.
import type { Recollection, StatusContext } from '../allocation-implementation.ts';
import type { Network, Subnet } from '../infrastructure.ts';
import type { InstanceView } from '../instance-view.ts';
import { addressesOf, parseAddress, parseBlock } from '../ipv4.ts';
import type { NetworkInterface } from '../network-interface.ts';

export function eniStatus(view: InstanceView, context: StatusContext): Record<string, unknown> {
  return {
    enis: Object.fromEntries(view.interfaces.map((item) => [item.id, statusOfInterface(item, context)])),
  };
}

function statusOfInterface(item: NetworkInterface, context: StatusContext): Record<string, unknown> {
  const network = context.infrastructure.networks.get(item.networkId);
  // Agents take every address that they are shown, and those of a reserved interface are for none of their pods.
  const shown = item.reservedFor === undefined;
  const primary = context.usePrimaryAddress ? [item.primaryAddress] : [];
  const addresses = shown ? [...primary, ...addressesOn(item)] : [];
  const prefixes = shown ? item.prefixes : [];
  const whole = (prefix: string): boolean =>
    !addressesOf(prefix).some((address) => context.withheld.has(address));
  return withoutEmpty({
    id: item.id,
    ip: item.primaryAddress,
    mac: item.mac,
    'availability-zone': item.zone,
    description: item.description,
    number: item.attachment?.deviceIndex,
    subnet: withoutEmpty({
      id: item.subnetId,
      cidr: context.infrastructure.subnets.get(item.subnetId)?.cidr,
    }),
    vpc: withoutEmpty({ id: item.networkId, 'primary-cidr': network?.primaryCidr, cidrs: network?.cidrs }),
    addresses: addresses.filter((address) => !context.withheld.has(address)),
    prefixes: prefixes.filter(whole),
    'security-groups': item.securityGroupIds,
    tags: item.tags,
    'public-ip': item.publicAddress,
  });
}

/** An address inside a prefix is shown with that alone. */
function addressesOn({ addresses, prefixes }: NetworkInterface): readonly string[] {
  if (prefixes.length === 0) return addresses;
  const members = prefixes.flatMap(addressesOf);
  return [...addresses.filter((address) => !members.includes(address)), ...members];
}

function withoutEmpty(value: Record<string, unknown>): Record<string, unknown> {
  const kept: Record<string, unknown> = {};
  for (const name of Object.keys(value)) if (!isEmpty(value[name])) kept[name] = value[name];
  return kept;
}

function isEmpty(item: unknown): boolean {
  if (item === undefined || item === '' || item === 0) return true;
  // The keys of a list of hundreds of addresses would be as many texts.
  if (Array.isArray(item)) return item.length === 0;
  return typeof item === 'object' && item !== null && Object.keys(item).length === 0;
}

/** Reads a published `status.eni` back. What is not as we write it is left out: a look at the instance shows it anew. */
export function recallStatus(instanceId: string, status: unknown): Recollection {
  const enis = Object.entries(member(status, 'enis') ?? {});
  return {
    interfaces: enis.flatMap(([id, eni]) => recallInterface(instanceId, id, eni) ?? []),
    subnets: byId(enis.flatMap(([, eni]) => recallSubnet(eni) ?? [])),
    networks: byId(enis.flatMap(([, eni]) => recallNetwork(eni) ?? [])),
  };
}

function recallSubnet(eni: unknown): Subnet | undefined {
  const subnet = member(eni, 'subnet');
  const [id, cidr, networkId] = [text(subnet, 'id'), text(subnet, 'cidr'), text(member(eni, 'vpc'), 'id')];
  if (id === '' || networkId === '' || parseBlock(cidr) === undefined) return undefined;
  return {
    id,
    cidr,
    networkId,
    zone: text(eni, 'availability-zone'),
    tags: {},
    freeAddresses: 0,
    eligible: false,
  };
}

function recallNetwork(eni: unknown): Network | undefined {
  const vpc = member(eni, 'vpc');
  const [id, primaryCidr] = [text(vpc, 'id'), text(vpc, 'primary-cidr')];
  if (id === '' || parseBlock(primaryCidr) === undefined) return undefined;
  return { id, primaryCidr, cidrs: texts(vpc, 'cidrs').filter((cidr) => parseBlock(cidr) !== undefined) };
}

function byId<T extends { readonly id: string }>(items: readonly T[]): ReadonlyMap<string, T> {
  return new Map(items.map((item) => [item.id, item]));
}

function recallInterface(instanceId: string, id: string, eni: unknown): NetworkInterface | undefined {
  const primaryAddress = text(eni, 'ip');
  const mac = text(eni, 'mac');
  const subnetId = text(member(eni, 'subnet'), 'id');
  const networkId = text(member(eni, 'vpc'), 'id');
  if (parseAddress(primaryAddress) === undefined || [mac, subnetId, networkId].includes('')) return undefined;
  const prefixes = texts(eni, 'prefixes').filter((prefix) => parseBlock(prefix)?.length === 28);
  const members = new Set(prefixes.flatMap(addressesOf));
  const index = member(eni, 'number');
  return {
    id,
    description: text(eni, 'description'),
    networkId,
    subnetId,
    zone: text(eni, 'availability-zone'),
    mac,
    primaryAddress,
    publicAddress: text(eni, 'public-ip') || undefined,
    addresses: texts(eni, 'addresses').filter(
      (address) => parseAddress(address) !== undefined && address !== primaryAddress && !members.has(address),
    ),
    prefixes,
    securityGroupIds: texts(eni, 'security-groups'),
    tags: Object.fromEntries(
      Object.entries(member(eni, 'tags') ?? {}).map(([key, value]) => [key, String(value)]),
    ),
    reservedFor: undefined,
    attachment: {
      id: '',
      instanceId,
      deviceIndex: typeof index === 'number' ? index : 0,
      networkCard: 0,
      state: 'attached',
      deleteOnTermination: true,
    },
  };
}

function member(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[name] : undefined;
}

function text(value: unknown, name: string): string {
  const found = member(value, name);
  return typeof found === 'string' ? found : '';
}

function texts(value: unknown, name: string): string[] {
  const found = member(value, name);
  return Array.isArray(found) ? found.filter((item) => typeof item === 'string') : [];
}
