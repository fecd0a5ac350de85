// Route tables.
import type { RouteTable } from '../../cloud/records.ts';
import {
  associateRouteTable,
  createRouteTable,
  deleteRouteTable,
  disassociateRouteTable,
} from '../../cloud/route-tables.ts';
import { type Action, type ActionContext, action } from '../action.ts';
import type { FilterTable } from '../filters.ts';
import { type Listing, listRecords, listRequest, pageFields } from '../listing.ts';
import { as, flag, idOf, list, record, required, text, type Value } from '../shape.ts';
import { ownerOf } from '../sharing.ts';
import { specifiedTags, tagSet, tagSpecifications, tagsOut } from '../tag-shapes.ts';

const associationState = record({ State: text });

const tableShape = record({
  RouteTableId: text,
  VpcId: text,
  OwnerId: text,
  Associations: as(
    'associationSet',
    list(
      record({
        Main: flag,
        RouteTableAssociationId: text,
        RouteTableId: text,
        SubnetId: text,
        AssociationState: associationState,
      }),
    ),
  ),
  Routes: as(
    'routeSet',
    list(record({ DestinationCidrBlock: text, GatewayId: text, Origin: text, State: text })),
  ),
  Tags: tagSet,
});

const filters: FilterTable<RouteTable> = {
  'association.main': ({ associations }) =>
    associations.map(({ subnetId }) => String(subnetId === undefined)),
  'association.route-table-association-id': ({ associations }) => associations.map(({ id }) => id),
  'association.route-table-id': ({ id, associations }) => (associations.length > 0 ? id : undefined),
  'association.subnet-id': ({ associations }) => associations.map(({ subnetId }) => subnetId),
  'route-table-id': ({ id }) => id,
  'vpc-id': ({ vpcId }) => vpcId,
};

const listing: Listing<'routeTables'> = {
  action: 'DescribeRouteTables',
  kind: 'routeTables',
  idParameter: 'routeTableIds',
  filters,
  max: 100,
};

const describeRouteTables = action({
  input: record({ ...pageFields, RouteTableIds: as('RouteTableId', list(idOf('routeTables'))) }),
  output: record({ RouteTables: as('routeTableSet', list(tableShape)), NextToken: text }),
  run: (input, context) => {
    const page = listRecords(listing, listRequest(input.RouteTableIds, input), context);
    return { RouteTables: page.records.map((table) => tableOut(table, context)), NextToken: page.nextToken };
  },
});

const createRouteTableAction = action({
  input: record({
    VpcId: required(idOf('vpcs')),
    TagSpecifications: tagSpecifications,
    ClientToken: text,
  }),
  output: record({ RouteTable: tableShape, ClientToken: text }),
  run: (input, context) => {
    const { network, clientTokens } = context;
    const tags = specifiedTags(input.TagSpecifications, 'route-table');
    const { made } = clientTokens.once(
      { action: 'CreateRouteTable', token: input.ClientToken, parameters: input.VpcId },
      () => createRouteTable(network, { vpcId: input.VpcId, tags }).id,
    );
    const table = network.find('routeTables', made);
    return {
      RouteTable: tableOut(table, { network, view: network.view(0) }),
      ClientToken: input.ClientToken,
    };
  },
});

const deleteRouteTableAction = action({
  input: record({ RouteTableId: required(idOf('routeTables')) }),
  output: record({}),
  run: ({ RouteTableId }, { network }) => {
    deleteRouteTable(network, RouteTableId);
    return {};
  },
});

const associateRouteTableAction = action({
  input: record({ RouteTableId: required(idOf('routeTables')), SubnetId: required(idOf('subnets')) }),
  output: record({ AssociationId: text, AssociationState: associationState }),
  run: ({ RouteTableId, SubnetId }, { network }) => ({
    AssociationId: associateRouteTable(network, RouteTableId, SubnetId),
    AssociationState: { State: 'associated' },
  }),
});

const disassociateRouteTableAction = action({
  input: record({ AssociationId: required(text) }),
  output: record({}),
  run: ({ AssociationId }, { network }) => {
    disassociateRouteTable(network, AssociationId);
    return {};
  },
});

function tableOut(
  table: RouteTable,
  { network, view }: Pick<ActionContext, 'network' | 'view'>,
): Value<typeof tableShape> {
  return {
    RouteTableId: table.id,
    VpcId: table.vpcId,
    OwnerId: ownerOf('routeTables', table, network),
    Associations: table.associations.map(({ id, subnetId }) => ({
      Main: subnetId === undefined,
      RouteTableAssociationId: id,
      RouteTableId: table.id,
      ...(subnetId === undefined ? {} : { SubnetId: subnetId }),
      AssociationState: { State: 'associated' },
    })),
    Routes: (view('vpcs').get(table.vpcId)?.blocks ?? []).map(({ block }) => ({
      DestinationCidrBlock: block,
      GatewayId: 'local',
      Origin: 'CreateRouteTable',
      State: 'active',
    })),
    Tags: tagsOut(table.tags),
  };
}

export const routeTableActions: Readonly<Record<string, Action>> = {
  DescribeRouteTables: describeRouteTables,
  CreateRouteTable: createRouteTableAction,
  DeleteRouteTable: deleteRouteTableAction,
  AssociateRouteTable: associateRouteTableAction,
  DisassociateRouteTable: disassociateRouteTableAction,
};
