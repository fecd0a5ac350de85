// Reads the answers to DescribeNetworkInterfaces from their bytes: only what Headwater uses of them, into plain records that
// keep nothing of the page alive. A page of 1,000 interfaces takes the SDK's own reader far longer than others may be kept
// waiting, and its result several times the memory.
import type { Ec2Attachment, Ec2NetworkInterface, Ec2Output, Ec2PrivateAddress, Tag } from './ec2-api.ts';
import { nameHash, NotUnderstood, XmlCursor } from './xml-cursor.ts';

export type InterfacePage = Ec2Output<'DescribeNetworkInterfaces'>;

/** So many interfaces are read before others get a turn. */
const batch = 25;

/**
 * What the SDK would read of this answer, as far as `InterfacePage` has it; undefined for an answer that has anything in it
 * that this reader does not know, which must be left to the SDK. Pauses now and then, so that others can get a turn.
 */
export function* readInterfacePage(body: Buffer): Generator<undefined, InterfacePage | undefined> {
  const source = { cursor: new XmlCursor(body), known: new Map<string, string>() };
  try {
    source.cursor.enterRoot();
    return source.cursor.isNamed(root) ? yield* readMembers(source) : undefined;
  } catch (error) {
    if (error instanceof NotUnderstood) return undefined;
    throw error;
  }
}

function* readMembers(source: Source): Generator<undefined, InterfacePage> {
  const { cursor } = source;
  let interfaces: Ec2NetworkInterface[] | undefined;
  let token: string | undefined;
  while (cursor.enterChild()) {
    if (cursor.isNamed(interfaceSet) && interfaces === undefined) interfaces = yield* readInterfaces(source);
    else if (cursor.isNamed(nextToken) && token === undefined) token = text(source);
    else if (cursor.isNamed(interfaceSet) || cursor.isNamed(nextToken)) throw twice();
    else cursor.skip();
  }
  return {
    ...(interfaces === undefined ? {} : { NetworkInterfaces: interfaces }),
    ...(token === undefined ? {} : { NextToken: token }),
  };
}

function* readInterfaces(source: Source): Generator<undefined, Ec2NetworkInterface[]> {
  const { cursor } = source;
  const interfaces: Ec2NetworkInterface[] = [];
  while (cursor.enterChild()) {
    if (cursor.isNamed(item)) interfaces.push(networkInterface(source));
    else cursor.skip();
    if (interfaces.length % batch === batch - 1) yield;
  }
  return interfaces;
}

function twice(): NotUnderstood {
  return new NotUnderstood('an element that comes twice');
}

const root = bytesOf('DescribeNetworkInterfacesResponse');
const interfaceSet = bytesOf('networkInterfaceSet');
const nextToken = bytesOf('nextToken');
const item = bytesOf('item');

interface Source {
  readonly cursor: XmlCursor;
  /** Texts of this page that many interfaces have alike: one copy of each is kept. */
  readonly known: Map<string, string>;
}

/** Reads the element that the cursor has entered, and leaves it. */
type Read<T> = (source: Source) => T;

/** For every member of `T`, the element that it stands in. */
type Members<T> = { readonly [M in keyof T]-?: readonly [element: string, read: Read<NonNullable<T[M]>>] };

interface Member {
  readonly element: readonly number[];
  readonly name: string;
  readonly read: Read<unknown>;
}

const text: Read<string> = ({ cursor }) => cursor.text();
const number: Read<number> = ({ cursor }) => Number(cursor.text());
const flag: Read<boolean> = ({ cursor }) => cursor.text().toLowerCase() === 'true';

const shared: Read<string> = ({ cursor, known }) => {
  const value = cursor.text();
  const before = known.get(value);
  if (before === undefined) known.set(value, value);
  return before ?? value;
};

function record<T extends object>(members: Members<T>): Read<T> {
  const byHash = new Map<number, Member>();
  for (const [name, [element, read]] of Object.entries<readonly [string, Read<unknown>]>(members))
    byHash.set(nameHash(element), { element: bytesOf(element), name, read });
  return (source) => {
    const { cursor } = source;
    const result: Record<string, unknown> = {};
    while (cursor.enterChild()) {
      const member = byHash.get(cursor.hash);
      if (member === undefined || !cursor.isNamed(member.element)) cursor.skip();
      else if (member.name in result) throw twice();
      else result[member.name] = member.read(source);
    }
    // It has what `members` names, which is what `T` has.
    return result as T;
  };
}

function listOf<T>(read: Read<T>): Read<readonly T[]> {
  return (source) => {
    const { cursor } = source;
    const items: T[] = [];
    while (cursor.enterChild()) {
      if (cursor.isNamed(item)) items.push(read(source));
      else cursor.skip();
    }
    return items;
  };
}

const privateAddress = record<Ec2PrivateAddress>({
  PrivateIpAddress: ['privateIpAddress', text],
  Primary: ['primary', flag],
});

const attachment = record<Ec2Attachment>({
  AttachmentId: ['attachmentId', text],
  InstanceId: ['instanceId', text],
  DeviceIndex: ['deviceIndex', number],
  NetworkCardIndex: ['networkCardIndex', number],
  Status: ['status', shared],
  DeleteOnTermination: ['deleteOnTermination', flag],
});

const networkInterface = record<Ec2NetworkInterface>({
  NetworkInterfaceId: ['networkInterfaceId', text],
  Description: ['description', shared],
  VpcId: ['vpcId', shared],
  SubnetId: ['subnetId', shared],
  AvailabilityZone: ['availabilityZone', shared],
  MacAddress: ['macAddress', text],
  PrivateIpAddress: ['privateIpAddress', text],
  PrivateIpAddresses: ['privateIpAddressesSet', listOf(privateAddress)],
  Ipv4Prefixes: [
    'ipv4PrefixSet',
    listOf(record<{ readonly Ipv4Prefix?: string }>({ Ipv4Prefix: ['ipv4Prefix', text] })),
  ],
  Groups: ['groupSet', listOf(record<{ readonly GroupId?: string }>({ GroupId: ['groupId', shared] }))],
  TagSet: ['tagSet', listOf(record<Tag>({ Key: ['key', shared], Value: ['value', shared] }))],
  InterfaceType: ['interfaceType', shared],
  RequesterManaged: ['requesterManaged', flag],
  Association: ['association', record<{ readonly PublicIp?: string }>({ PublicIp: ['publicIp', text] })],
  Attachment: ['attachment', attachment],
});

function bytesOf(name: string): readonly number[] {
  return [...Buffer.from(name)];
}
