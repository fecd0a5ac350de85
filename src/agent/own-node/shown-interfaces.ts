// The interfaces that the status of a CiliumNode shows, as each cloud writes them: what a pod needs to know of the interface
// that has its address, and which addresses it has. Text that is no address or network counts as absent. Pure.
import {
  addressText,
  type Cidr,
  cidrText,
  type Family,
  network,
  only,
  parseAddress,
  cidrOf,
  widthOf,
} from '../../blocks/set/cidr.ts';
import type { CloudMode } from '../../config/clouds/clouds.ts';
import { type Json, type JsonObject, listAt, objectAt, textAt, valueAt } from '../../runtime/json.ts';
import type { ShownInterface } from '../allocators/crd-allocator.ts';

export interface CloudInterface extends ShownInterface {
  readonly id: string;
  /** Each address or prefix of addresses that pods may get, as a network. */
  readonly networks: readonly Cidr[];
  /** Whether the owner of the interface wants no pods on it. */
  readonly isExcluded: boolean;
}

/** In the order of their numbers, then of their ids. */
export function shownInterfaces(mode: CloudMode, raw: JsonObject): readonly CloudInterface[] {
  return clouds[mode](raw);
}

const clouds: Readonly<Record<CloudMode, (raw: JsonObject) => readonly CloudInterface[]>> = {
  eni: eniInterfaces,
  azure: (raw) => listAt(raw, 'status', 'azure', 'interfaces').map(azureInterface),
  alibabacloud: (raw) =>
    valuesAt(raw, 'status', 'alibaba-cloud', 'enis').map(alibabaInterface).toSorted(byNumber),
};

/** https://docs.cilium.io/en/stable/network/concepts/ipam/eni/ */
function eniInterfaces(raw: JsonObject): readonly CloudInterface[] {
  const first = valueAt(raw, 'spec', 'eni', 'first-interface-index');
  const excludedTags = Object.entries(objectAt(raw, 'spec', 'eni', 'exclude-interface-tags'));
  return valuesAt(raw, 'status', 'eni', 'enis')
    .map((entry) => {
      const number = numberAt(entry, 'number');
      const tags = objectAt(entry, 'tags');
      const hasTags = excludedTags.length > 0 && excludedTags.every(([name, value]) => tags[name] === value);
      return eniInterface(entry, number, (typeof first === 'number' && number < first) || hasTags);
    })
    .toSorted(byNumber);
}

function eniInterface(entry: Json, number: number, isExcluded: boolean): CloudInterface {
  const subnet = cidrOf(textAt(entry, 'subnet', 'cidr') ?? '');
  const primary = networkText(textAt(entry, 'vpc', 'primary-cidr'));
  const prefixes = textListAt(entry, 'prefixes').flatMap((text) => networkOf('ipv4', text));
  const ipv6Prefixes = textListAt(entry, 'ipv6-prefixes')
    .flatMap((text) => networkOf('ipv6', text))
    .filter(({ length }) => length === delegatedLength);
  const gateway = subnet && addressText({ family: subnet.family, value: subnet.base + 1n });
  return interfaceOf({
    id: textAt(entry, 'id') ?? '',
    mac: textAt(entry, 'mac'),
    number: String(number),
    gateway,
    subnet,
    cidrs: primary === undefined ? [] : [primary, ...textListAt(entry, 'vpc', 'cidrs')],
    needs: { 'subnet CIDR': subnet, 'primary VPC CIDR': primary },
    prefixes: [...prefixes, ...ipv6Prefixes],
    ipv6Gateway: ipv6Router,
    addresses: textListAt(entry, 'addresses'),
    isExcluded,
  });
}

/** The router of every subnet of a VPC, whatever its block of IPv6: https://docs.aws.amazon.com/vpc/latest/userguide/subnet-sizing.html */
const ipv6Router = 'fe80:ec2::1';

/** Length of an IPv6 prefix of an interface. */
const delegatedLength = 80;

function networkOf(family: Family, text: string): readonly Cidr[] {
  const cidr = cidrOf(text);
  return cidr?.family === family ? [cidr] : [];
}

/** https://docs.cilium.io/en/stable/network/concepts/ipam/azure/ */
function azureInterface(entry: Json): CloudInterface {
  const gateway = textAt(entry, 'gateway') ?? '';
  const cidr = networkText(textAt(entry, 'cidr')) ?? networkText(textAt(entry, 'subnet', 'cidr'));
  const succeeded = listAt(entry, 'addresses').filter((each) => textAt(each, 'state') === 'succeeded');
  const usable = parseAddress(gateway) === undefined ? undefined : gateway;
  return interfaceOf({
    id: textAt(entry, 'id') ?? '',
    mac: textAt(entry, 'mac'),
    number: '0',
    gateway: usable,
    subnet: cidrOf(cidr ?? ''),
    cidrs: cidr === undefined ? [] : [cidr],
    needs: { gateway: usable },
    prefixes: [],
    addresses: succeeded.map((each) => textAt(each, 'ip') ?? ''),
    isExcluded: false,
  });
}

/** The gateway of a vSwitch is its third address from the end. */
const gatewayFromEnd = 3n;

/** https://docs.cilium.io/en/stable/network/concepts/ipam/alibabacloud/ */
function alibabaInterface(entry: Json): CloudInterface {
  const text = networkText(textAt(entry, 'vswitch', 'cidr'));
  const cidr = cidrOf(text ?? '');
  return interfaceOf({
    id: textAt(entry, 'network-interface-id') ?? '',
    mac: textAt(entry, 'mac-address'),
    number: textAt(entry, 'tags', 'cilium-eni-index') ?? '0',
    gateway: cidr && fromEnd(cidr, gatewayFromEnd),
    subnet: cidr,
    cidrs: text === undefined ? [] : [text],
    needs: { 'vSwitch CIDR': cidr },
    prefixes: [],
    addresses: listAt(entry, 'private-ipsets').map((each) => textAt(each, 'private-ip-address') ?? ''),
    isExcluded: false,
  });
}

function fromEnd({ family, base, length }: Cidr, count: bigint): string {
  return addressText({ family, value: base + (1n << BigInt(widthOf[family] - length)) - count });
}

interface Parts {
  readonly id: string;
  readonly mac: string | undefined;
  readonly number: string;
  readonly gateway: string | undefined;
  readonly ipv6Gateway?: string;
  /** The subnet that the gateway is in. */
  readonly subnet: Cidr | undefined;
  readonly cidrs: readonly string[];
  /** Values that pods with IPv4 need besides a MAC address, by name. */
  readonly needs: Readonly<Record<string, unknown>>;
  readonly prefixes: readonly Cidr[];
  readonly addresses: readonly string[];
  readonly isExcluded: boolean;
}

function interfaceOf(parts: Parts): CloudInterface {
  const { id, mac = '', number, gateway, ipv6Gateway, subnet, cidrs, prefixes, isExcluded } = parts;
  const ofBoth = { mac, interfaceNumber: number };
  const forBoth = { 'MAC address': mac === '' ? undefined : mac };
  return {
    id,
    // A rule with addresses of both families ends an agent that reads it: what a family is told is of that family.
    details: {
      ipv4: {
        ...ofBoth,
        cidrs,
        ...(gateway !== undefined && { gateway }),
        ...(subnet !== undefined && { subnet: cidrText(subnet) }),
      },
      ipv6: { ...ofBoth, ...(ipv6Gateway !== undefined && { gateway: ipv6Gateway }) },
    },
    prefixes,
    lacks: { ipv4: firstMissing({ ...forBoth, ...parts.needs }), ipv6: firstMissing(forBoth) },
    networks: [...prefixes, ...singles(parts.addresses, prefixes)],
    isExcluded,
  };
}

function firstMissing(needs: Readonly<Record<string, unknown>>): string | undefined {
  return Object.entries(needs).find(([, value]) => value === undefined)?.[0];
}

/** Addresses that no prefix has. */
function singles(texts: readonly string[], prefixes: readonly Cidr[]): readonly Cidr[] {
  const known = new Set(prefixes.map(({ family, base, length }) => keyOf(family, base, length)));
  const lengths = [...new Set(prefixes.map(({ length }) => length))];
  return texts.flatMap((text): readonly Cidr[] => {
    const address = parseAddress(text);
    if (address === undefined) return [];
    const { family, value } = address;
    const isInPrefix = lengths.some((length) =>
      known.has(
        keyOf(family, length > widthOf[family] ? value : network(family, value, length).base, length),
      ),
    );
    return isInPrefix ? [] : [only(address)];
  });
}

function keyOf(family: Family, base: bigint, length: number): string {
  return `${family} ${base}/${length}`;
}

function byNumber(a: CloudInterface, b: CloudInterface): number {
  const difference = Number(a.details.ipv4.interfaceNumber) - Number(b.details.ipv4.interfaceNumber);
  return difference || (a.id < b.id ? -1 : 1);
}

function networkText(text: string | undefined): string | undefined {
  return cidrOf(text ?? '') === undefined ? undefined : text;
}

function valuesAt(value: Json, ...path: readonly string[]): readonly Json[] {
  return Object.values(objectAt(value, ...path));
}

function textListAt(value: Json, ...path: readonly string[]): readonly string[] {
  return listAt(value, ...path).filter((item) => typeof item === 'string');
}

function numberAt(value: Json, ...path: readonly string[]): number {
  const found = valueAt(value, ...path);
  return typeof found === 'number' ? found : 0;
}
