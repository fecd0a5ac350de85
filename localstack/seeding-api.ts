// Creates the network and the instances that Headwater serves, through the AWS SDK.
import {
  AssociateVpcCidrBlockCommand,
  CreateSecurityGroupCommand,
  CreateSubnetCommand,
  CreateVpcCommand,
  type EC2Client,
  type ResourceType,
  RunInstancesCommand,
  type TagSpecification,
} from '@aws-sdk/client-ec2';
import {
  blocks,
  latePlan,
  type MachinePlan,
  nodePlans,
  type SubnetName,
  type SubnetPlan,
  subnetPlans,
} from './network-plan.ts';

export interface SeededNetwork {
  readonly vpcId: string;
  readonly subnets: ReadonlyMap<SubnetName, SubnetPlan & { readonly id: string }>;
  /** The security group of the instances. */
  readonly nodeGroup: string;
  /** The security group with the tag purpose=pods. */
  readonly podGroup: string;
  /** In the order of the plan, with the late instance last. */
  readonly instanceIds: readonly string[];
}

/** No server checks whether this image exists. */
const image = 'ami-0123456789abcdef0';

export async function seedNetwork(client: EC2Client): Promise<SeededNetwork> {
  const [primary, ...more] = blocks;
  const { Vpc } = await client.send(
    new CreateVpcCommand({ CidrBlock: primary, TagSpecifications: tagged('vpc', { Name: 'headwater' }) }),
  );
  const vpcId = known(Vpc?.VpcId);
  for (const block of more) {
    await client.send(new AssociateVpcCidrBlockCommand({ VpcId: vpcId, CidrBlock: block }));
  }
  const subnets: SeededNetwork['subnets'] = new Map(
    await Promise.all(
      subnetPlans.map(
        async (plan) => [plan.name, { ...plan, id: await seedSubnet(client, vpcId, plan) }] as const,
      ),
    ),
  );
  const nodeGroup = await seedGroup(client, vpcId, 'nodes');
  const podGroup = await seedGroup(client, vpcId, 'pods');
  const instanceIds: string[] = [];
  for (const machine of [...nodePlans, latePlan]) {
    const subnetId = known(subnets.get(machine.subnet)?.id);
    instanceIds.push(await seedInstance(client, machine, { subnetId, groupId: nodeGroup }));
  }
  return { vpcId, subnets, nodeGroup, podGroup, instanceIds };
}

async function seedSubnet(client: EC2Client, vpcId: string, plan: SubnetPlan): Promise<string> {
  const { name, zone, block, purpose } = plan;
  const { Subnet } = await client.send(
    new CreateSubnetCommand({
      VpcId: vpcId,
      AvailabilityZone: zone,
      CidrBlock: block,
      TagSpecifications: tagged('subnet', { Name: name, purpose }),
    }),
  );
  return known(Subnet?.SubnetId);
}

async function seedGroup(client: EC2Client, vpcId: string, purpose: string): Promise<string> {
  const { GroupId } = await client.send(
    new CreateSecurityGroupCommand({
      VpcId: vpcId,
      GroupName: purpose,
      Description: purpose,
      TagSpecifications: tagged('security-group', { purpose }),
    }),
  );
  return known(GroupId);
}

async function seedInstance(
  client: EC2Client,
  { instanceType }: MachinePlan,
  { subnetId, groupId }: { readonly subnetId: string; readonly groupId: string },
): Promise<string> {
  const { Instances } = await client.send(
    new RunInstancesCommand({
      ImageId: image,
      InstanceType: instanceType,
      SubnetId: subnetId,
      SecurityGroupIds: [groupId],
      MinCount: 1,
      MaxCount: 1,
    }),
  );
  return known(Instances?.[0]?.InstanceId);
}

function tagged(type: ResourceType, tags: Readonly<Record<string, string>>): TagSpecification[] {
  return [{ ResourceType: type, Tags: Object.entries(tags).map(([Key, Value]) => ({ Key, Value })) }];
}

function known(id: string | undefined): string {
  if (id === undefined) throw new Error('the server made something and does not say what');
  return id;
}
