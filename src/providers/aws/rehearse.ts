// Asks EC2 by DryRun whether it would permit the changes that Headwater makes, and the read that few nodes need. An endpoint that does not know DryRun would make
// them, so that is asked first; and each question is one whose change would be refused, or do no harm.
import type { CallContext } from '../contract/cloud.ts';
import { CloudError, type CloudFailure } from '../contract/cloud-failure.ts';
import type { Rehearsal, RehearsalRefusal, Rehearsals, RehearsedNode } from '../contract/rehearsal.ts';
import { wouldSucceed } from './errors.ts';
import type { DryRunAction, Ec2Action, Ec2Input } from './ec2-api.ts';
import type { Ec2Client } from './ec2-client.ts';
import type { SharedSubnetTags } from './shared-subnet-tags.ts';

const witness = 'a dry run permits';

/** EC2 has no dry run of assignments; and a detachment has nothing to name whose detachment would be refused. */
const unasked: readonly Ec2Action[] = [
  'DetachNetworkInterface',
  'AssignPrivateIpAddresses',
  'UnassignPrivateIpAddresses',
];

export async function rehearse(
  client: Ec2Client,
  node: RehearsedNode,
  context: CallContext,
  sharedTags?: SharedSubnetTags,
): Promise<Rehearsals> {
  // The controller reads an instance itself only where its interfaces are not shown, or tags decide: no read here takes it.
  const reading = await ask(client, 'DescribeInstances', { MaxResults: 5 }, context);
  const knowsDryRun = reading === 'permitted' ? reading : await ask(client, 'DescribeVpcs', {}, context);
  if (knowsDryRun !== 'permitted')
    return { witness, answers: [{ action: 'DescribeVpcs', answer: knowsDryRun }] };
  const { own, subnetId, securityGroupIds, tags, instanceId } = node;
  const rehearsed = async <A extends DryRunAction>(
    action: A,
    input: Ec2Input<A> | undefined,
  ): Promise<Rehearsal> => {
    const answer = input === undefined ? 'unasked' : await ask(client, action, input, context);
    return { action, answer };
  };
  const attachment = own?.attachment;
  const creation = rehearsed('CreateNetworkInterface', {
    SubnetId: subnetId,
    Description: 'headwater check',
    Groups: securityGroupIds,
    ClientToken: 'headwater-check',
    TagSpecifications: [
      {
        ResourceType: 'network-interface',
        Tags: Object.entries(tags).map(([Key, Value]) => ({ Key, Value })),
      },
    ],
  });
  const attaching = rehearsed(
    'AttachNetworkInterface',
    attachment && {
      // It is attached already.
      NetworkInterfaceId: own.id,
      InstanceId: instanceId,
      DeviceIndex: attachment.deviceIndex,
      NetworkCardIndex: 0,
    },
  );
  const modification = rehearsed(
    'ModifyNetworkInterfaceAttribute',
    attachment && {
      NetworkInterfaceId: own.id,
      Attachment: { AttachmentId: attachment.id, DeleteOnTermination: attachment.deleteOnTermination },
    },
  );
  // An attached interface cannot be deleted.
  const deletion = rehearsed('DeleteNetworkInterface', attachment && { NetworkInterfaceId: own.id });
  const rehearsals = await Promise.all([creation, attaching, modification, deletion]);
  return {
    witness,
    ...unusedRole(sharedTags),
    answers: [
      { action: 'DescribeInstances', answer: reading },
      ...rehearsals,
      ...(await rehearseRole(sharedTags, context)),
      ...unasked.map((action) => ({ action, answer: 'unasked' as const })),
    ],
  };
}

/** The role may be one of the wrong account. A read with it has been made if there is a subnet for it. */
function unusedRole(sharedTags: SharedSubnetTags | undefined): Pick<Rehearsals, 'unshown'> {
  if (sharedTags?.lastRead !== 'none') return {};
  const { account } = sharedTags;
  return {
    unshown: `no subnet that was read and may be used is of account ${account}, which the role of --network-account-role-arn is for`,
  };
}

/** A read with the role shows what it may do, and one that fails is told as such: only without any is there a question. */
async function rehearseRole(
  sharedTags: SharedSubnetTags | undefined,
  context: CallContext,
): Promise<readonly Rehearsal[]> {
  if (sharedTags === undefined || sharedTags.lastRead === 'failed') return [];
  const { role, client, lastRead } = sharedTags;
  const answer = lastRead === 'answered' ? 'permitted' : await ask(client, 'DescribeSubnets', {}, context);
  return [{ action: `DescribeSubnets with ${role.arn}`, answer }];
}

async function ask<A extends DryRunAction>(
  client: Ec2Client,
  action: A,
  input: Ec2Input<A>,
  context: CallContext,
): Promise<'permitted' | RehearsalRefusal> {
  try {
    await client.dryRun(action, input, context);
  } catch (error) {
    if (!(error instanceof CloudError)) throw error;
    return wouldSucceed(error.failure) ? 'permitted' : refusal(error.failure);
  }
  return refusal({
    kind: 'invalid',
    action,
    code: 'DryRunIgnored',
    message: 'the endpoint answers as if it had not been asked by DryRun',
    requestId: undefined,
  });
}

function refusal(failure: CloudFailure): RehearsalRefusal {
  return { kind: failure.kind === 'notAuthorized' ? 'denied' : 'unanswered', failure };
}
