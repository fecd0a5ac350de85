// Describes VPCs, vSwitches and security groups.
import type { SecurityGroup, Subnet, Vpc } from '../../cloud/records.ts';
import type { JsonObject } from '../../workload/json.ts';
import { numbered, pageOf, tokened } from '../paging.ts';
import { jsonTexts, requiredText, tags, text } from '../parameters.ts';
import { shownTags, shownVpcTags } from '../rendering.ts';
import { rpcAction, type RpcContext } from '../rpc-action.ts';
import { hasTags } from '../tags.ts';

const describeVpcs = rpcAction({
  product: 'vpc',
  parameters: { RegionId: requiredText, VpcId: text, VpcName: text, Tag: tags, ...numbered(50) },
  run: (input, context) => {
    const ids = input.VpcId?.split(',');
    const { items, about } = pageOf(input, context, {
      name: 'DescribeVpcs',
      moment: context.view('vpcs'),
      fits: ({ id, name, tags: own }) =>
        ids?.includes(id) !== false && hasTags(own, input.Tag) && (input.VpcName ?? name) === name,
    });
    return { ...withoutToken(about), Vpcs: { Vpc: items.map((vpc) => shownVpc(vpc, context)) } };
  },
});

const describeVSwitches = rpcAction({
  product: 'vpc',
  parameters: {
    RegionId: text,
    VpcId: text,
    VSwitchId: text,
    ZoneId: text,
    Tag: tags,
    ...numbered(50),
  },
  run: (input, context) => {
    const ids = input.VSwitchId?.split(',');
    const tests: ((subnet: Subnet) => boolean)[] = [
      ({ id }) => ids?.includes(id) !== false,
      ({ vpcId }) => (input.VpcId ?? vpcId) === vpcId,
      ({ zone }) => (input.ZoneId ?? zone) === zone,
      (subnet) => hasTags(subnet.tags, input.Tag),
    ];
    const { items, about } = pageOf(input, context, {
      name: 'DescribeVSwitches',
      moment: context.view('subnets'),
      fits: (subnet) => tests.every((test) => test(subnet)),
    });
    return { ...withoutToken(about), VSwitches: { VSwitch: items.map(shownVSwitch) } };
  },
});

const describeGroups = rpcAction({
  product: 'ecs',
  parameters: {
    RegionId: requiredText,
    VpcId: text,
    SecurityGroupId: text,
    SecurityGroupIds: jsonTexts(100),
    SecurityGroupName: text,
    Tag: tags,
    ...numbered(50),
    ...tokened(100),
  },
  run: (input, context) => {
    const ids = new Set([...input.SecurityGroupIds, ...(input.SecurityGroupId?.split(',') ?? [])]);
    const tests: ((group: SecurityGroup) => boolean)[] = [
      ({ id }) => ids.size === 0 || ids.has(id),
      ({ vpcId }) => (input.VpcId ?? vpcId) === vpcId,
      ({ name }) => (input.SecurityGroupName ?? name) === name,
      (group) => hasTags(group.tags, input.Tag),
    ];
    const { items, about } = pageOf(input, context, {
      name: 'DescribeSecurityGroups',
      moment: context.view('groups'),
      fits: (group) => tests.every((test) => test(group)),
    });
    return {
      ...about,
      RegionId: context.network.region,
      SecurityGroups: { SecurityGroup: items.map(shownGroup) },
    };
  },
});

function shownVpc({ id, name = '', blocks, tags: own }: Vpc, { network, view }: RpcContext): JsonObject {
  const [first, ...others] = blocks.map(({ block }) => block);
  const inside = [...view('subnets').after('')].filter(({ vpcId }) => vpcId === id);
  return {
    VpcId: id,
    VpcName: name,
    RegionId: network.region,
    Status: 'Available',
    CidrBlock: first ?? '',
    SecondaryCidrBlocks: { SecondaryCidrBlock: others },
    UserCidrs: { UserCidr: [] },
    VSwitchIds: { VSwitchId: inside.map((subnet) => subnet.id) },
    IsDefault: false,
    Tags: shownVpcTags(own),
  };
}

function shownVSwitch(subnet: Subnet): JsonObject {
  return {
    VSwitchId: subnet.id,
    VSwitchName: subnet.name ?? '',
    VpcId: subnet.vpcId,
    ZoneId: subnet.zone,
    CidrBlock: subnet.block,
    AvailableIpAddressCount: subnet.available,
    Status: 'Available',
    IsDefault: false,
    Tags: shownVpcTags(subnet.tags),
  };
}

function shownGroup({ id, name, description, vpcId, tags: own }: SecurityGroup): JsonObject {
  return {
    SecurityGroupId: id,
    SecurityGroupName: name,
    Description: description,
    VpcId: vpcId,
    SecurityGroupType: 'normal',
    Tags: shownTags(own),
  };
}

/** The API of VPCs knows pages by number only. */
function withoutToken(about: JsonObject): JsonObject {
  return { ...about, NextToken: undefined };
}

export const networkActions = {
  DescribeVpcs: describeVpcs,
  DescribeVSwitches: describeVSwitches,
  DescribeSecurityGroups: describeGroups,
};
