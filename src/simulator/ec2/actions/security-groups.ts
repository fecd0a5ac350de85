// Security groups.
import type { SecurityGroup } from '../../cloud/records.ts';
import { createGroup, deleteGroup } from '../../cloud/security-groups.ts';
import { type Action, action } from '../action.ts';
import type { FilterTable } from '../filters.ts';
import { type Listing, listRecords, listRequest, pageFields } from '../listing.ts';
import { arnOf } from '../names.ts';
import { as, flag, idOf, list, record, required, text, type Value } from '../shape.ts';
import { specifiedTags, tagSet, tagSpecifications, tagsOut } from '../tag-shapes.ts';

const groupShape = record({
  GroupId: text,
  GroupName: text,
  Description: as('groupDescription', text),
  OwnerId: text,
  VpcId: text,
  SecurityGroupArn: text,
  IpPermissions: list(record({ IpProtocol: text })),
  IpPermissionsEgress: list(record({ IpProtocol: text, IpRanges: list(record({ CidrIp: text })) })),
  Tags: tagSet,
});

const filters: FilterTable<SecurityGroup> = {
  description: (group) => group.description,
  'group-id': ({ id }) => id,
  'group-name': ({ name }) => name,
  'vpc-id': ({ vpcId }) => vpcId,
};

const listing: Listing<'groups'> = {
  action: 'DescribeSecurityGroups',
  kind: 'groups',
  idParameter: 'securityGroupIds',
  filters,
  narrowing: ['group-id', 'vpc-id'],
};

const describeSecurityGroups = action({
  input: record({ ...pageFields, GroupIds: as('GroupId', list(idOf('groups'))) }),
  output: record({ SecurityGroups: as('securityGroupInfo', list(groupShape)), NextToken: text }),
  run: (input, context) => {
    const page = listRecords(listing, listRequest(input.GroupIds, input), context);
    return {
      SecurityGroups: page.records.map((group) => groupOut(group, context.network)),
      NextToken: page.nextToken,
    };
  },
});

const getSecurityGroupsForVpc = action({
  input: record({ ...pageFields, VpcId: required(idOf('vpcs')) }),
  output: record({
    SecurityGroupForVpcs: as(
      'securityGroupForVpcSet',
      list(
        record({
          GroupId: text,
          GroupName: text,
          Description: text,
          OwnerId: text,
          PrimaryVpcId: text,
          Tags: tagSet,
        }),
      ),
    ),
    NextToken: text,
  }),
  run: (input, context) => {
    const { network } = context;
    const { id } = network.find('vpcs', input.VpcId);
    const inVpc: Listing<'groups'> = {
      ...listing,
      action: 'GetSecurityGroupsForVpc',
      filters: { ...filters, 'primary-vpc-id': ({ vpcId }) => vpcId, 'owner-id': () => network.account },
    };
    const Filters = [...(input.Filters ?? []), { Name: 'vpc-id', Values: [id] }];
    const page = listRecords(inVpc, listRequest([], { ...input, Filters }), context);
    return {
      SecurityGroupForVpcs: page.records.map((group) => ({
        GroupId: group.id,
        GroupName: group.name,
        Description: group.description,
        OwnerId: network.account,
        PrimaryVpcId: group.vpcId,
        Tags: tagsOut(group.tags),
      })),
      NextToken: page.nextToken,
    };
  },
});

const createSecurityGroup = action({
  input: record({
    GroupName: required(text),
    Description: required(as('GroupDescription', text)),
    VpcId: required(idOf('vpcs')),
    TagSpecifications: tagSpecifications,
  }),
  output: record({ GroupId: text, SecurityGroupArn: text, Tags: tagSet }),
  run: (input, { network }) => {
    const group = createGroup(network, {
      name: input.GroupName,
      description: input.Description,
      vpcId: input.VpcId,
      tags: specifiedTags(input.TagSpecifications, 'security-group'),
    });
    const { GroupId, SecurityGroupArn, Tags } = groupOut(group, network);
    return { GroupId, SecurityGroupArn, Tags };
  },
});

const deleteSecurityGroup = action({
  input: record({ GroupId: required(idOf('groups')) }),
  output: record({ Return: flag, GroupId: text }),
  run: ({ GroupId }, { network }) => {
    deleteGroup(network, GroupId);
    return { Return: true, GroupId };
  },
});

function groupOut(
  group: SecurityGroup,
  owner: { readonly account: string; readonly region: string },
): Value<typeof groupShape> {
  return {
    GroupId: group.id,
    GroupName: group.name,
    Description: group.description,
    OwnerId: owner.account,
    VpcId: group.vpcId,
    SecurityGroupArn: arnOf(owner, `security-group/${group.id}`),
    IpPermissions: [],
    IpPermissionsEgress: [{ IpProtocol: '-1', IpRanges: [{ CidrIp: '0.0.0.0/0' }] }],
    Tags: tagsOut(group.tags),
  };
}

export const securityGroupActions: Readonly<Record<string, Action>> = {
  DescribeSecurityGroups: describeSecurityGroups,
  GetSecurityGroupsForVpc: getSecurityGroupsForVpc,
  CreateSecurityGroup: createSecurityGroup,
  DeleteSecurityGroup: deleteSecurityGroup,
};
