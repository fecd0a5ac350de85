// Subnets and their CIDR reservations.
import type { ReservationType } from '../../cloud/address-space.ts';
import type { CloudNetwork } from '../../cloud/cloud-network.ts';
import type { BlockReservation, Subnet } from '../../cloud/records.ts';
import {
  createReservation,
  createSubnet,
  deleteReservation,
  deleteSubnet,
  isOfIpv6,
} from '../../cloud/subnets.ts';
import { type Action, action } from '../action.ts';
import type { FilterTable } from '../filters.ts';
import { type Listing, listRecords, listRequest, pageFields } from '../listing.ts';
import { arnOf, zoneIdOf } from '../names.ts';
import { ownerOf } from '../sharing.ts';
import { as, flag, idOf, integer, list, oneOf, record, required, text, type Value } from '../shape.ts';
import { specifiedTags, tagSet, tagSpecifications, tagsOut } from '../tag-shapes.ts';

const subnetShape = record({
  SubnetId: text,
  SubnetArn: text,
  VpcId: text,
  OwnerId: text,
  State: text,
  CidrBlock: text,
  AvailableIpAddressCount: integer,
  AvailabilityZone: text,
  AvailabilityZoneId: text,
  OutpostArn: text,
  DefaultForAz: flag,
  MapPublicIpOnLaunch: flag,
  AssignIpv6AddressOnCreation: flag,
  Ipv6CidrBlockAssociationSet: list(
    record({ AssociationId: text, Ipv6CidrBlock: text, Ipv6CidrBlockState: record({ State: text }) }),
  ),
  Tags: tagSet,
});

const filters: FilterTable<Subnet> = {
  'availability-zone': ({ zone }) => zone,
  'availability-zone-id': ({ zone }) => zoneIdOf(zone),
  'available-ip-address-count': ({ available }) => available,
  cidr: ({ block }) => block,
  'cidr-block': ({ block }) => block,
  'ipv6-cidr-block-association.ipv6-cidr-block': ({ ipv6Block }) => ipv6Block?.block,
  state: () => 'available',
  'subnet-id': ({ id }) => id,
  'vpc-id': ({ vpcId }) => vpcId,
};

const listing: Listing<'subnets'> = {
  action: 'DescribeSubnets',
  kind: 'subnets',
  idParameter: 'subnetIds',
  filters,
};

const describeSubnets = action({
  input: record({ ...pageFields, SubnetIds: as('SubnetId', list(idOf('subnets'))) }),
  output: record({ Subnets: as('subnetSet', list(subnetShape)), NextToken: text }),
  run: (input, context) => {
    const page = listRecords(listing, listRequest(input.SubnetIds, input), context);
    return {
      Subnets: page.records.map((subnet) => subnetOut(subnet, context.network)),
      NextToken: page.nextToken,
    };
  },
});

const createSubnetAction = action({
  input: record({
    VpcId: required(idOf('vpcs')),
    CidrBlock: required(text),
    AvailabilityZone: text,
    Ipv6CidrBlock: text,
    TagSpecifications: tagSpecifications,
  }),
  output: record({ Subnet: subnetShape }),
  run: (input, { network }) => {
    const subnet = createSubnet(network, {
      vpcId: input.VpcId,
      zone: input.AvailabilityZone ?? `${network.region}a`,
      block: input.CidrBlock,
      ipv6Block: input.Ipv6CidrBlock,
      tags: specifiedTags(input.TagSpecifications, 'subnet'),
    });
    return { Subnet: subnetOut(subnet, network) };
  },
});

const deleteSubnetAction = action({
  input: record({ SubnetId: required(idOf('subnets')) }),
  output: record({}),
  run: ({ SubnetId }, { network }) => {
    deleteSubnet(network, SubnetId);
    return {};
  },
});

const reservationShape = record({
  SubnetCidrReservationId: text,
  SubnetId: text,
  Cidr: text,
  ReservationType: text,
  OwnerId: text,
  Description: text,
  Tags: tagSet,
});

const reservations: Listing<'reservations'> = {
  action: 'GetSubnetCidrReservations',
  kind: 'reservations',
  idParameter: 'subnetCidrReservationIds',
  filters: {
    reservationType: ({ type }) => type,
    'subnet-id': ({ subnetId }) => subnetId,
  },
};

const getSubnetCidrReservations = action({
  input: record({ ...pageFields, SubnetId: required(idOf('subnets')) }),
  output: record({
    SubnetIpv4CidrReservations: as('subnetIpv4CidrReservationSet', list(reservationShape)),
    SubnetIpv6CidrReservations: as('subnetIpv6CidrReservationSet', list(reservationShape)),
    NextToken: text,
  }),
  run: (input, context) => {
    const { id } = context.network.find('subnets', input.SubnetId);
    const Filters = [...(input.Filters ?? []), { Name: 'subnet-id', Values: [id] }];
    const page = listRecords(reservations, listRequest([], { ...input, Filters }), context);
    const { account } = context.network;
    const shown = (records: readonly BlockReservation[]): Value<typeof reservationShape>[] =>
      records.map((one) => reservationOut(one, account));
    return {
      SubnetIpv4CidrReservations: shown(page.records.filter((one) => !isOfIpv6(one))),
      SubnetIpv6CidrReservations: shown(page.records.filter(isOfIpv6)),
      NextToken: page.nextToken,
    };
  },
});

const createSubnetCidrReservation = action({
  input: record({
    SubnetId: required(idOf('subnets')),
    Cidr: required(text),
    ReservationType: required(oneOf('prefix', 'explicit')),
    Description: text,
    TagSpecifications: tagSpecifications,
  }),
  output: record({ SubnetCidrReservation: reservationShape }),
  run: (input, { network }) => {
    const made = createReservation(network, {
      subnetId: input.SubnetId,
      block: input.Cidr,
      type: input.ReservationType as ReservationType,
      description: input.Description ?? '',
      tags: specifiedTags(input.TagSpecifications, 'subnet-cidr-reservation'),
    });
    return { SubnetCidrReservation: reservationOut(made, network.account) };
  },
});

const deleteSubnetCidrReservation = action({
  input: record({ SubnetCidrReservationId: required(idOf('reservations')) }),
  output: record({ DeletedSubnetCidrReservation: reservationShape }),
  run: ({ SubnetCidrReservationId }, { network }) => {
    const gone = deleteReservation(network, SubnetCidrReservationId);
    return { DeletedSubnetCidrReservation: reservationOut(gone, network.account) };
  },
});

function subnetOut(subnet: Subnet, network: CloudNetwork): Value<typeof subnetShape> {
  const { ipv6Block } = subnet;
  const owner = { account: ownerOf('subnets', subnet, network), region: network.region };
  return {
    SubnetId: subnet.id,
    SubnetArn: arnOf(owner, `subnet/${subnet.id}`),
    VpcId: subnet.vpcId,
    OwnerId: owner.account,
    State: 'available',
    CidrBlock: subnet.block,
    AvailableIpAddressCount: subnet.available,
    AvailabilityZone: subnet.zone,
    AvailabilityZoneId: zoneIdOf(subnet.zone),
    OutpostArn:
      subnet.outpost === undefined
        ? undefined
        : `arn:aws:outposts:${owner.region}:${owner.account}:outpost/${subnet.outpost}`,
    DefaultForAz: false,
    MapPublicIpOnLaunch: false,
    AssignIpv6AddressOnCreation: false,
    Ipv6CidrBlockAssociationSet:
      ipv6Block === undefined
        ? []
        : [
            {
              AssociationId: ipv6Block.associationId,
              Ipv6CidrBlock: ipv6Block.block,
              Ipv6CidrBlockState: { State: 'associated' },
            },
          ],
    Tags: tagsOut(subnet.tags),
  };
}

function reservationOut(reservation: BlockReservation, account: string): Value<typeof reservationShape> {
  return {
    SubnetCidrReservationId: reservation.id,
    SubnetId: reservation.subnetId,
    Cidr: reservation.block,
    ReservationType: reservation.type,
    OwnerId: account,
    Description: reservation.description,
    Tags: tagsOut(reservation.tags),
  };
}

export const subnetActions: Readonly<Record<string, Action>> = {
  DescribeSubnets: describeSubnets,
  CreateSubnet: createSubnetAction,
  DeleteSubnet: deleteSubnetAction,
  GetSubnetCidrReservations: getSubnetCidrReservations,
  CreateSubnetCidrReservation: createSubnetCidrReservation,
  DeleteSubnetCidrReservation: deleteSubnetCidrReservation,
};
