// VPCs.
import type { Vpc } from '../../cloud/records.ts';
import { addVpcBlock, addVpcIpv6Block, createVpc, deleteVpc } from '../../cloud/vpcs.ts';
import { type Action, action } from '../action.ts';
import { missingParameter } from '../ec2-refusal.ts';
import type { FilterTable } from '../filters.ts';
import { type Listing, listRecords, listRequest, pageFields } from '../listing.ts';
import { as, flag, idOf, list, oneOf, record, required, text, type Value } from '../shape.ts';
import { specifiedTags, tagSet, tagSpecifications, tagsOut } from '../tag-shapes.ts';

const blockState = record({ State: text });
const blockAssociation = record({ AssociationId: text, CidrBlock: text, CidrBlockState: blockState });
const ipv6Association = record({
  AssociationId: text,
  Ipv6CidrBlock: text,
  Ipv6CidrBlockState: blockState,
});

const vpcShape = record({
  VpcId: text,
  OwnerId: text,
  State: text,
  CidrBlock: text,
  InstanceTenancy: text,
  IsDefault: flag,
  CidrBlockAssociationSet: list(blockAssociation),
  Ipv6CidrBlockAssociationSet: list(ipv6Association),
  Tags: tagSet,
});

const filters: FilterTable<Vpc> = {
  cidr: ({ blocks }) => blocks[0]?.block,
  'cidr-block-association.cidr-block': ({ blocks }) => blocks.map(({ block }) => block),
  'ipv6-cidr-block-association.ipv6-cidr-block': ({ ipv6Blocks }) => ipv6Blocks.map(({ block }) => block),
  'is-default': () => false,
  state: () => 'available',
  'vpc-id': ({ id }) => id,
};

const listing: Listing<'vpcs'> = { action: 'DescribeVpcs', kind: 'vpcs', idParameter: 'vpcIds', filters };

const describeVpcs = action({
  input: record({ ...pageFields, VpcIds: as('VpcId', list(idOf('vpcs'))) }),
  output: record({ Vpcs: as('vpcSet', list(vpcShape)), NextToken: text }),
  run: (input, context) => {
    const page = listRecords(listing, listRequest(input.VpcIds, input), context);
    const { account } = context.network;
    return { Vpcs: page.records.map((vpc) => vpcOut(vpc, account)), NextToken: page.nextToken };
  },
});

const createVpcAction = action({
  input: record({
    CidrBlock: required(text),
    InstanceTenancy: oneOf('default', 'dedicated'),
    AmazonProvidedIpv6CidrBlock: flag,
    TagSpecifications: tagSpecifications,
  }),
  output: record({ Vpc: vpcShape }),
  run: (input, { network }) => {
    const tags = specifiedTags(input.TagSpecifications, 'vpc');
    const made = createVpc(network, { block: input.CidrBlock, tags });
    if (input.AmazonProvidedIpv6CidrBlock === true) addVpcIpv6Block(network, made.id);
    const vpc = network.all('vpcs').get(made.id) ?? made;
    return { Vpc: { ...vpcOut(vpc, network.account), State: 'pending' } };
  },
});

const associateVpcCidrBlock = action({
  dryRun: false,
  input: record({
    VpcId: required(idOf('vpcs')),
    CidrBlock: text,
    Ipv6CidrBlock: text,
    AmazonProvidedIpv6CidrBlock: flag,
  }),
  output: record({
    VpcId: text,
    CidrBlockAssociation: blockAssociation,
    Ipv6CidrBlockAssociation: ipv6Association,
  }),
  run: ({ VpcId, CidrBlock, Ipv6CidrBlock, AmazonProvidedIpv6CidrBlock }, { network }) => {
    if (CidrBlock !== undefined) {
      const vpc = vpcOut(addVpcBlock(network, VpcId, CidrBlock), network.account);
      return { VpcId, CidrBlockAssociation: vpc.CidrBlockAssociationSet?.at(-1) };
    }
    if (Ipv6CidrBlock === undefined && AmazonProvidedIpv6CidrBlock !== true)
      throw missingParameter('cidrBlock');
    const vpc = vpcOut(addVpcIpv6Block(network, VpcId, Ipv6CidrBlock), network.account);
    return { VpcId, Ipv6CidrBlockAssociation: vpc.Ipv6CidrBlockAssociationSet?.at(-1) };
  },
});

const deleteVpcAction = action({
  input: record({ VpcId: required(idOf('vpcs')) }),
  output: record({}),
  run: ({ VpcId }, { network }) => {
    deleteVpc(network, VpcId);
    return {};
  },
});

function vpcOut(vpc: Vpc, account: string): Value<typeof vpcShape> {
  return {
    VpcId: vpc.id,
    OwnerId: vpc.owner ?? account,
    State: 'available',
    CidrBlock: vpc.blocks[0]?.block,
    InstanceTenancy: 'default',
    IsDefault: false,
    CidrBlockAssociationSet: vpc.blocks.map(({ associationId, block }) => ({
      AssociationId: associationId,
      CidrBlock: block,
      CidrBlockState: { State: 'associated' },
    })),
    Ipv6CidrBlockAssociationSet: vpc.ipv6Blocks.map(({ associationId, block }) => ({
      AssociationId: associationId,
      Ipv6CidrBlock: block,
      Ipv6CidrBlockState: { State: 'associated' },
    })),
    Tags: tagsOut(vpc.tags),
  };
}

export const vpcActions: Readonly<Record<string, Action>> = {
  DescribeVpcs: describeVpcs,
  CreateVpc: createVpcAction,
  AssociateVpcCidrBlock: associateVpcCidrBlock,
  DeleteVpc: deleteVpcAction,
};
