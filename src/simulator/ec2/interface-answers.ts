// Converts the network's interface records to EC2's form.
import type { NetworkView } from '../cloud/cloud-network.ts';
import type { NetworkInterface, PublicAddress } from '../cloud/records.ts';
import type { instanceNetworkInterface, networkInterface } from './interface-shapes.ts';
import { privateDnsName, publicDnsName, zoneIdOf } from './names.ts';
import type { Value } from './shape.ts';
import { tagsOut } from './tag-shapes.ts';

export interface Owner {
  readonly account: string;
  readonly region: string;
}

/** Cached EC2 forms of immutable records that depend on nothing else. */
export type Described = WeakMap<NetworkInterface, Value<typeof networkInterface>>;

export interface AnswersContext {
  readonly network: Owner;
  readonly view: NetworkView;
  readonly described: Described;
}

/** Builds EC2's form of interfaces, all at one instant. */
export class InterfaceAnswers {
  readonly #owner: Owner;
  readonly #view: NetworkView;
  readonly #described: Described;
  readonly #publicAddresses: ReadonlyMap<string, PublicAddress>;

  constructor({ network, view, described }: AnswersContext) {
    this.#owner = network;
    this.#view = view;
    this.#described = described;
    this.#publicAddresses = new Map(
      [...view('publicAddresses').after('')].flatMap((record) =>
        record.association === undefined ? [] : [[keyOf(record.association), record] as const],
      ),
    );
  }

  describe(record: NetworkInterface): Value<typeof networkInterface> {
    // A view may lack a group of an interface created moments ago.
    const groups = this.#view('groups');
    if (this.#publicAddresses.size > 0 || record.groupIds.some((id) => groups.get(id) === undefined))
      return this.#describe(record);
    const known = this.#described.get(record) ?? this.#describe(record);
    this.#described.set(record, known);
    return known;
  }

  #describe(record: NetworkInterface): Value<typeof networkInterface> {
    const { attachment } = record;
    return {
      ...this.#common(record),
      ...(attachment === undefined ? {} : { Attachment: this.#attachment(attachment) }),
      ...this.#association(record, record.primaryAddress),
      PrivateIpAddresses: record.addresses.map((address) => ({
        ...this.#association(record, address),
        ...this.#address(record, address),
      })),
      AvailabilityZone: record.zone,
      AvailabilityZoneId: zoneIdOf(record.zone),
      RequesterManaged: record.requesterManaged,
      RequesterId: record.requesterManaged ? 'amazon-elb' : this.#owner.account,
      TagSet: tagsOut(record.tags),
    };
  }

  /** The form inside an instance. */
  describeInside(record: NetworkInterface): Value<typeof instanceNetworkInterface> {
    const { attachment } = record;
    return {
      ...this.#common(record),
      ...(attachment === undefined ? {} : { Attachment: attachmentFields(attachment) }),
      ...this.#shortAssociation(record, record.primaryAddress),
      PrivateIpAddresses: record.addresses.map((address) => ({
        ...this.#shortAssociation(record, address),
        ...this.#address(record, address),
      })),
    };
  }

  /** The public address of a private one. */
  publicAddressOf(record: NetworkInterface, address: string): PublicAddress | undefined {
    if (this.#publicAddresses.size === 0) return undefined;
    return this.#publicAddresses.get(keyOf({ interfaceId: record.id, privateAddress: address }));
  }

  #common(record: NetworkInterface) {
    return {
      NetworkInterfaceId: record.id,
      SubnetId: record.subnetId,
      VpcId: record.vpcId,
      Description: record.description,
      InterfaceType: record.type,
      MacAddress: record.mac,
      OwnerId: this.#owner.account,
      PrivateDnsName: privateDnsName(this.#owner.region, record.primaryAddress),
      PrivateIpAddress: record.primaryAddress,
      SourceDestCheck: record.sourceDestCheck,
      Status: record.status,
      Groups: record.groupIds.map((id) => {
        const name = this.#view('groups').get(id)?.name;
        return { GroupId: id, ...(name === undefined ? {} : { GroupName: name }) };
      }),
      Ipv4Prefixes: record.prefixes.map((prefix) => ({ Ipv4Prefix: prefix })),
      Ipv6Addresses: record.ipv6Addresses.map((address) => ({ Ipv6Address: address })),
      Ipv6Prefixes: record.ipv6Prefixes.map((prefix) => ({ Ipv6Prefix: prefix })),
    };
  }

  #address(record: NetworkInterface, address: string) {
    return {
      Primary: address === record.primaryAddress,
      PrivateDnsName: privateDnsName(this.#owner.region, address),
      PrivateIpAddress: address,
    };
  }

  #attachment(attachment: NonNullable<NetworkInterface['attachment']>) {
    return {
      ...attachmentFields(attachment),
      InstanceId: attachment.instanceId,
      InstanceOwnerId: this.#owner.account,
    };
  }

  #association(record: NetworkInterface, address: string) {
    const found = this.publicAddressOf(record, address);
    if (found?.association === undefined) return {};
    const ids = { AllocationId: found.id, AssociationId: found.association.id };
    return { Association: { ...ids, ...this.#publicFields(found) } };
  }

  #shortAssociation(record: NetworkInterface, address: string) {
    const found = this.publicAddressOf(record, address);
    return found === undefined ? {} : { Association: this.#publicFields(found) };
  }

  #publicFields(found: PublicAddress) {
    return {
      IpOwnerId: this.#owner.account,
      PublicDnsName: publicDnsName(this.#owner.region, found.address),
      PublicIp: found.address,
    };
  }
}

function attachmentFields(attachment: NonNullable<NetworkInterface['attachment']>) {
  return {
    AttachTime: new Date(attachment.attachTime),
    AttachmentId: attachment.id,
    DeleteOnTermination: attachment.deleteOnTermination,
    DeviceIndex: attachment.deviceIndex,
    NetworkCardIndex: attachment.cardIndex,
    Status: attachment.status,
  };
}

function keyOf(place: { readonly interfaceId: string; readonly privateAddress: string }): string {
  return `${place.interfaceId} ${place.privateAddress}`;
}
