// Describes, creates, modifies and deletes network interfaces.
import { setDeleteOnTermination } from '../../cloud/attachments.ts';
import type { Claim } from '../../cloud/claims.ts';
import type { Ipv6Claim } from '../../cloud/ipv6-claims.ts';
import {
  changeInterface,
  createInterface,
  deleteInterface,
  type InterfaceChange,
} from '../../cloud/network-interfaces.ts';
import type { InterfaceType, NetworkInterface } from '../../cloud/records.ts';
import { type Action, action } from '../action.ts';
import {
  invalidParameterCombination,
  invalidParameterValue,
  mismatch,
  missingParameter,
} from '../ec2-refusal.ts';
import type { FilterTable } from '../filters.ts';
import { InterfaceAnswers } from '../interface-answers.ts';
import { networkInterface } from '../interface-shapes.ts';
import { type Listing, listRecords, listRequest, pageFields } from '../listing.ts';
import { zoneIdOf } from '../names.ts';
import { as, flag, idOf, integer, list, type Members, oneOf, record, required, text } from '../shape.ts';
import { specifiedTags, tagSpecifications } from '../tag-shapes.ts';

const filters: FilterTable<NetworkInterface> = {
  'addresses.primary': ({ addresses, primaryAddress }) =>
    addresses.map((address) => String(address === primaryAddress)),
  'addresses.private-ip-address': ({ addresses }) => addresses,
  'attachment.attachment-id': ({ attachment }) => attachment?.id,
  'attachment.delete-on-termination': ({ attachment }) => attachment?.deleteOnTermination,
  'attachment.device-index': ({ attachment }) => attachment?.deviceIndex,
  'attachment.instance-id': ({ attachment }) => attachment?.instanceId,
  'attachment.network-card-index': ({ attachment }) => attachment?.cardIndex,
  'attachment.status': ({ attachment }) => attachment?.status,
  'availability-zone': ({ zone }) => zone,
  'availability-zone-id': ({ zone }) => zoneIdOf(zone),
  description: (record) => record.description,
  'group-id': ({ groupIds }) => groupIds,
  'group-name': ({ groupIds }, view) => groupIds.map((id) => view('groups').get(id)?.name),
  'interface-type': ({ type }) => type,
  'ipv4-prefix': ({ prefixes }) => prefixes,
  'ipv6-addresses.ipv6-address': ({ ipv6Addresses }) => ipv6Addresses,
  'mac-address': ({ mac }) => mac,
  'network-interface-id': ({ id }) => id,
  'private-ip-address': ({ addresses }) => addresses,
  'requester-managed': ({ requesterManaged }) => requesterManaged,
  'source-dest-check': ({ sourceDestCheck }) => sourceDestCheck,
  status: (record) => record.status,
  'subnet-id': ({ subnetId }) => subnetId,
  'vpc-id': ({ vpcId }) => vpcId,
};

const listing: Listing<'interfaces'> = {
  action: 'DescribeNetworkInterfaces',
  kind: 'interfaces',
  idParameter: 'networkInterfaceIdSet',
  filters,
  narrowing: ['group-id', 'mac-address', 'private-dns-name', 'private-ip-address', 'subnet-id', 'vpc-id'],
  index: {
    'network-interface-id': (id) => [id],
    'attachment.instance-id': (id, { view }) => view('instances').get(id)?.interfaceIds ?? [],
  },
};

const describeNetworkInterfaces = action({
  input: record({
    ...pageFields,
    NetworkInterfaceIds: as('NetworkInterfaceId', list(idOf('interfaces'))),
    IncludeManagedResources: flag,
  }),
  output: record({ NetworkInterfaces: as('networkInterfaceSet', list(networkInterface)), NextToken: text }),
  run: (input, context) => {
    const page = listRecords(listing, listRequest(input.NetworkInterfaceIds, input), context);
    const answers = new InterfaceAnswers(context);
    return { NetworkInterfaces: page.records.map((one) => answers.describe(one)), NextToken: page.nextToken };
  },
});

/** Parameters for the addresses of a new interface. */
export const newAddressFields = {
  PrivateIpAddress: text,
  PrivateIpAddresses: list(record({ PrivateIpAddress: text, Primary: flag })),
  SecondaryPrivateIpAddressCount: integer,
  Ipv4PrefixCount: integer,
  Ipv4Prefixes: as('Ipv4Prefix', list(record({ Ipv4Prefix: text }))),
  Ipv6AddressCount: integer,
  Ipv6Addresses: list(record({ Ipv6Address: text })),
  Ipv6PrefixCount: integer,
  Ipv6Prefixes: as('Ipv6Prefix', list(record({ Ipv6Prefix: text }))),
} as const;

type NewAddresses = Members<typeof newAddressFields>;

const createNetworkInterface = action({
  input: record({
    ...newAddressFields,
    SubnetId: required(idOf('subnets')),
    Description: text,
    Groups: as('SecurityGroupId', list(idOf('groups'))),
    InterfaceType: oneOf('interface', 'efa', 'efa-only', 'branch', 'trunk'),
    TagSpecifications: tagSpecifications,
    ClientToken: text,
  }),
  output: record({ NetworkInterface: networkInterface, ClientToken: text }),
  run: (input, { network, clientTokens, described }) => {
    const tags = specifiedTags(input.TagSpecifications, 'network-interface');
    refuseDescription(input.Description ?? '');
    const { primaryAddress, claim } = newAddresses(input);
    const request = {
      subnetId: input.SubnetId,
      primaryAddress,
      claim,
      ipv6: ipv6Claim(input),
      type: (input.InterfaceType ?? 'interface') as InterfaceType,
      groupIds: input.Groups ?? [],
      description: input.Description ?? '',
    };
    const parameters = { ...request, groupIds: request.groupIds.toSorted() };
    const made = clientTokens.once(
      { action: 'CreateNetworkInterface', token: input.ClientToken, parameters },
      () => createInterface(network, { ...request, tags }).id,
    );
    const result = network.interfaces.get(made.made);
    if (result === undefined) throw mismatch();
    const answer = new InterfaceAnswers({ network, view: network.view(0), described }).describe(result);
    return { NetworkInterface: { ...answer, Status: 'pending' }, ClientToken: input.ClientToken };
  },
});

/** Splits a request into the primary address and the rest; refuses conflicting parameters. */
export function newAddresses(input: NewAddresses): {
  readonly primaryAddress: string | undefined;
  readonly claim: Claim;
} {
  const given = input.PrivateIpAddresses ?? [];
  const primaries = [
    input.PrivateIpAddress,
    ...given.map((one) => (one.Primary === true ? one.PrivateIpAddress : undefined)),
  ];
  const [primaryAddress, second] = primaries.filter((address) => address !== undefined);
  if (second !== undefined) {
    throw invalidParameterValue('Only one primary private IP address can be specified.');
  }
  const secondaries = given.filter((one) => one.Primary !== true).map((one) => one.PrivateIpAddress ?? '');
  const prefixes = (input.Ipv4Prefixes ?? []).map((one) => one.Ipv4Prefix ?? '');
  const { SecondaryPrivateIpAddressCount: count, Ipv4PrefixCount: prefixCount } = input;
  refusePositive(count, 'secondaryPrivateIpAddressCount');
  refusePositive(prefixCount, 'ipv4PrefixCount');
  const ways = [secondaries.length > 0, prefixes.length > 0, count !== undefined, prefixCount !== undefined];
  if (ways.filter(Boolean).length > 1) {
    throw invalidParameterValue(
      'You can specify one and only one secondaryPrivateIpAddressCount or privateIpAddresses or ipv4Prefixes or ipv4PrefixCount.',
    );
  }
  const claim = { count: count ?? 0, addresses: secondaries, prefixCount: prefixCount ?? 0, prefixes };
  return { primaryAddress, claim };
}

/** The IPv6 part of a request; refuses counts that are not positive. */
export function ipv6Claim(input: NewAddresses): Ipv6Claim {
  refusePositive(input.Ipv6AddressCount, 'ipv6AddressCount');
  refusePositive(input.Ipv6PrefixCount, 'ipv6PrefixCount');
  return {
    count: input.Ipv6AddressCount ?? 0,
    addresses: (input.Ipv6Addresses ?? []).map((one) => one.Ipv6Address ?? ''),
    prefixCount: input.Ipv6PrefixCount ?? 0,
    prefixes: (input.Ipv6Prefixes ?? []).map((one) => one.Ipv6Prefix ?? ''),
  };
}

/** Refuses a given count that is not positive. */
export function refusePositive(count: number | undefined, parameter: string): void {
  if (count === undefined || count > 0) return;
  throw invalidParameterValue(
    `Value (${count}) for parameter ${parameter} is invalid. Value must be a positive number.`,
  );
}

const deleteNetworkInterface = action({
  input: record({ NetworkInterfaceId: required(idOf('interfaces')) }),
  output: record({}),
  run: ({ NetworkInterfaceId }, { network }) => {
    deleteInterface(network, NetworkInterfaceId);
    return {};
  },
});

const modifyNetworkInterfaceAttribute = action({
  input: record({
    NetworkInterfaceId: required(idOf('interfaces')),
    Attachment: record({ AttachmentId: text, DeleteOnTermination: flag }),
    Description: record({ Value: text }),
    Groups: as('SecurityGroupId', list(idOf('groups'))),
    SourceDestCheck: record({ Value: flag }),
  }),
  output: record({}),
  run: (input, { network }) => {
    const { NetworkInterfaceId, Attachment, Description, Groups, SourceDestCheck } = input;
    const given = Object.entries({
      attachment: Attachment,
      description: Description,
      groupSet: Groups,
      sourceDestCheck: SourceDestCheck,
    })
      .filter(([, value]) => value !== undefined)
      .map(([name]) => name);
    if (given.length === 0) throw invalidParameterCombination('No attributes specified.');
    if (given.length > 1) {
      throw invalidParameterCombination(`Fields for multiple attribute types specified: ${given.join(', ')}`);
    }
    if (Attachment === undefined) changeInterface(network, NetworkInterfaceId, changeOf(input));
    else {
      const { AttachmentId, DeleteOnTermination } = Attachment;
      if (AttachmentId === undefined) throw missingParameter('attachment.attachmentId');
      if (DeleteOnTermination === undefined) throw missingParameter('attachment.deleteOnTermination');
      setDeleteOnTermination(network, NetworkInterfaceId, AttachmentId, DeleteOnTermination);
    }
    return {};
  },
});

function changeOf(input: {
  readonly Description?: { readonly Value?: string | undefined } | undefined;
  readonly Groups?: readonly string[] | undefined;
  readonly SourceDestCheck?: { readonly Value?: boolean | undefined } | undefined;
}): InterfaceChange {
  const { Description, Groups, SourceDestCheck } = input;
  if (Groups !== undefined) return { groupIds: Groups };
  if (Description?.Value !== undefined) {
    refuseDescription(Description.Value);
    return { description: Description.Value };
  }
  if (SourceDestCheck?.Value !== undefined) return { sourceDestCheck: SourceDestCheck.Value };
  throw missingParameter('value');
}

function refuseDescription(description: string): void {
  if (/^[a-zA-Z0-9. _\-:/()#,@[\]+=&;{}!$*]{0,255}$/.test(description)) return;
  throw invalidParameterValue(
    'Invalid interface description. Valid descriptions are strings less than 256 characters from the following set:  a-zA-Z0-9. _-:/()#,@[]+=&;{}!$*',
  );
}

export const networkInterfaceActions: Readonly<Record<string, Action>> = {
  DescribeNetworkInterfaces: describeNetworkInterfaces,
  CreateNetworkInterface: createNetworkInterface,
  DeleteNetworkInterface: deleteNetworkInterface,
  ModifyNetworkInterfaceAttribute: modifyNetworkInterfaceAttribute,
};
