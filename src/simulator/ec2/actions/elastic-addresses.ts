// Elastic IP addresses.
import type { PublicAddress } from '../../cloud/records.ts';
import {
  allocateAddress,
  associate,
  disassociate,
  onlyInterface,
  releaseAddress,
} from '../../cloud/public-addresses.ts';
import type { CloudNetwork, NetworkView } from '../../cloud/cloud-network.ts';
import { type Action, action } from '../action.ts';
import { Ec2Refusal, missingParameter } from '../ec2-refusal.ts';
import { type FilterTable, filterShape } from '../filters.ts';
import { type Listing, listRecords, listRequest } from '../listing.ts';
import { as, flag, idOf, list, oneOf, record, required, text, type Value } from '../shape.ts';
import { specifiedTags, tagSet, tagSpecifications, tagsOut } from '../tag-shapes.ts';

const addressShape = record({
  AllocationId: text,
  AssociationId: text,
  Domain: text,
  InstanceId: text,
  NetworkBorderGroup: text,
  NetworkInterfaceId: text,
  NetworkInterfaceOwnerId: text,
  PrivateIpAddress: text,
  PublicIp: text,
  PublicIpv4Pool: text,
  Tags: tagSet,
});

const filters: FilterTable<PublicAddress> = {
  'allocation-id': ({ id }) => id,
  'association-id': ({ association }) => association?.id,
  'instance-id': ({ association }, view) =>
    view('interfaces').get(association?.interfaceId ?? '')?.instanceId,
  'network-interface-id': ({ association }) => association?.interfaceId,
  'private-ip-address': ({ association }) => association?.privateAddress,
  'public-ip': ({ address }) => address,
};

const listing: Listing<'publicAddresses'> = {
  action: 'DescribeAddresses',
  kind: 'publicAddresses',
  idParameter: 'allocationIds',
  filters,
};

const describeAddresses = action({
  input: record({
    Filters: as('Filter', filterShape),
    AllocationIds: as('AllocationId', list(idOf('publicAddresses'))),
    PublicIps: as('PublicIp', list(text)),
  }),
  output: record({ Addresses: as('addressesSet', list(addressShape)) }),
  run: ({ Filters = [], AllocationIds, PublicIps = [] }, context) => {
    const chosen = PublicIps.length > 0 ? [{ Name: 'public-ip', Values: PublicIps }] : [];
    const request = listRequest(AllocationIds, { Filters: [...Filters, ...chosen] });
    const { records } = listRecords(listing, request, { ...context, refuseUnpaginated: false });
    const missing = PublicIps.find((address) => !records.some((one) => one.address === address));
    if (missing !== undefined && Filters.length === 0) {
      throw new Ec2Refusal('InvalidAddress.NotFound', `Address '${missing}' not found.`);
    }
    return { Addresses: records.map((one) => addressOut(one, context.network, context.view)) };
  },
});

const allocateAddressAction = action({
  input: record({ Domain: oneOf('vpc', 'standard'), Address: text, TagSpecifications: tagSpecifications }),
  output: record({
    AllocationId: text,
    PublicIp: text,
    PublicIpv4Pool: text,
    NetworkBorderGroup: text,
    Domain: text,
  }),
  run: (input, { network }) => {
    const tags = specifiedTags(input.TagSpecifications, 'elastic-ip');
    const made = allocateAddress(network, { address: input.Address, tags });
    return {
      AllocationId: made.id,
      PublicIp: made.address,
      PublicIpv4Pool: 'amazon',
      NetworkBorderGroup: network.region,
      Domain: 'vpc',
    };
  },
});

const releaseAddressAction = action({
  input: record({ AllocationId: required(idOf('publicAddresses')) }),
  output: record({}),
  run: ({ AllocationId }, { network }) => {
    releaseAddress(network, AllocationId);
    return {};
  },
});

const associateAddress = action({
  input: record({
    AllocationId: required(idOf('publicAddresses')),
    NetworkInterfaceId: idOf('interfaces'),
    InstanceId: idOf('instances'),
    PrivateIpAddress: text,
    AllowReassociation: flag,
  }),
  output: record({ AssociationId: text }),
  run: (input, { network }) => {
    const { AllocationId, PrivateIpAddress, AllowReassociation = true } = input;
    const association = associate(network, {
      id: AllocationId,
      interfaceId: targetOf(network, input),
      privateAddress: PrivateIpAddress,
      reassociate: AllowReassociation,
    });
    return { AssociationId: association.id };
  },
});

function targetOf(
  network: CloudNetwork,
  target: { readonly NetworkInterfaceId?: string | undefined; readonly InstanceId?: string | undefined },
): string {
  if (target.NetworkInterfaceId !== undefined) return target.NetworkInterfaceId;
  if (target.InstanceId === undefined) throw missingParameter('instanceId');
  const only = onlyInterface(network, target.InstanceId);
  if (only !== undefined) return only.id;
  throw new Ec2Refusal(
    'InvalidInstanceID',
    `There are multiple interfaces attached to instance '${target.InstanceId}'. Please specify an interface ID for the operation instead.`,
  );
}

const disassociateAddress = action({
  input: record({ AssociationId: required(text) }),
  output: record({}),
  run: ({ AssociationId }, { network }) => {
    disassociate(network, AssociationId);
    return {};
  },
});

function addressOut(
  one: PublicAddress,
  network: CloudNetwork,
  view: NetworkView,
): Value<typeof addressShape> {
  const { association } = one;
  const target = view('interfaces').get(association?.interfaceId ?? '');
  return {
    AllocationId: one.id,
    PublicIp: one.address,
    Domain: 'vpc',
    PublicIpv4Pool: 'amazon',
    NetworkBorderGroup: network.region,
    ...(association !== undefined && {
      AssociationId: association.id,
      NetworkInterfaceId: association.interfaceId,
      NetworkInterfaceOwnerId: network.account,
      PrivateIpAddress: association.privateAddress,
      InstanceId: target?.instanceId,
    }),
    Tags: tagsOut(one.tags),
  };
}

export const elasticAddressActions: Readonly<Record<string, Action>> = {
  DescribeAddresses: describeAddresses,
  AllocateAddress: allocateAddressAction,
  ReleaseAddress: releaseAddressAction,
  AssociateAddress: associateAddress,
  DisassociateAddress: disassociateAddress,
};
