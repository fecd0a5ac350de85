import { describe, expect, test } from '@jest/globals';
import type { CreateNetworkInterfaceCommandInput } from '@aws-sdk/client-ec2';
import type {
  AttachNetworkInterfaceCommandInput,
  DeleteNetworkInterfaceCommandInput,
  DescribeVpcsCommandInput,
  ModifyNetworkInterfaceAttributeCommandInput,
} from '@aws-sdk/client-ec2';
import { SharedSubnetTags } from '../../../../src/providers/aws/shared-subnet-tags.ts';
import { rehearse } from '../../../../src/providers/aws/rehearse.ts';
import type { RehearsedNode } from '../../../../src/providers/contract/rehearsal.ts';
import { CallError } from '../../../../src/providers/gate/cloud-call.ts';
import { ec2Subnet } from './ec2-shapes.ts';
import { type Answering, context, ec2ClientRig } from './ec2-client-rig.ts';

/** Each of them takes it: where an input has no such member, the SDK would drop it, and the call would be carried out. */
type Asked =
  | CreateNetworkInterfaceCommandInput
  | AttachNetworkInterfaceCommandInput
  | DeleteNetworkInterfaceCommandInput
  | ModifyNetworkInterfaceAttributeCommandInput
  | DescribeVpcsCommandInput;
const dryRun: Required<Pick<Asked, 'DryRun'>> = { DryRun: true };

const node: RehearsedNode = {
  instanceId: 'i-1',
  interfaces: [],
  own: undefined,
  subnetId: 'subnet-1',
  securityGroupIds: ['sg-1'],
  tags: { 'headwater/instance-id': 'i-1' },
  publicAddressTags: {},
};

const own: RehearsedNode['own'] = {
  id: 'eni-1',
  description: '',
  networkId: 'vpc-1',
  subnetId: 'subnet-1',
  zone: 'a',
  mac: '',
  primaryAddress: '10.0.0.4',
  publicAddress: undefined,
  addresses: [],
  prefixes: [],
  securityGroupIds: [],
  tags: {},
  reservedFor: undefined,
  attachment: {
    id: 'eni-attach-1',
    instanceId: 'i-1',
    deviceIndex: 1,
    networkCard: 0,
    state: 'attached',
    deleteOnTermination: false,
  },
};

function refusal(code: string): CallError {
  return new CallError({ result: 'refused', code, message: `it says ${code}`, status: 412 });
}

const permits: Answering = () => {
  throw refusal('DryRunOperation');
};

const never = ['DetachNetworkInterface', 'AssignPrivateIpAddresses', 'UnassignPrivateIpAddresses'];

describe('a rehearsal on EC2', () => {
  test('asks by DryRun only, and only of an interface of ours what would be refused or do no harm', async () => {
    const { client, sent } = ec2ClientRig(permits);

    const { answers: rehearsals } = await rehearse(client, { ...node, own }, context);

    expect(sent.map(({ action }) => action)).toEqual([
      'DescribeInstances',
      'CreateNetworkInterface',
      'AttachNetworkInterface',
      'ModifyNetworkInterfaceAttribute',
      'DeleteNetworkInterface',
    ]);
    for (const { input } of sent) expect(input).toMatchObject(dryRun);
    expect(sent[3]?.input).toMatchObject({
      Attachment: { AttachmentId: 'eni-attach-1', DeleteOnTermination: false },
    });
    expect(rehearsals).toEqual([
      ...sent.map(({ action }) => ({ action, answer: 'permitted' })),
      ...never.map((action) => ({ action, answer: 'unasked' })),
    ]);
  });

  test('asks only for a creation before there is an interface of ours', async () => {
    const { client, sent } = ec2ClientRig(permits);

    const { answers: rehearsals } = await rehearse(client, node, context);

    expect(sent.map(({ action }) => action)).toEqual(['DescribeInstances', 'CreateNetworkInterface']);
    expect(rehearsals.filter(({ answer }) => answer === 'unasked')).toHaveLength(6);
  });

  test.each(['DescribeInstances', 'CreateNetworkInterface'])(
    'says which call is denied: %s',
    async (denied) => {
      const { client } = ec2ClientRig(({ action }) => {
        throw refusal(action === denied ? 'UnauthorizedOperation' : 'DryRunOperation');
      });

      const { answers: rehearsals } = await rehearse(client, node, context);

      expect(rehearsals.filter(({ answer }) => typeof answer !== 'string')).toMatchObject([
        { action: denied, answer: { kind: 'denied', failure: { code: 'UnauthorizedOperation' } } },
      ]);
    },
  );

  test('asks nothing of an endpoint that knows no DryRun: it would carry everything out', async () => {
    const { client, sent } = ec2ClientRig(() => ({ Vpcs: [] }));

    const { answers: rehearsals } = await rehearse(client, { ...node, own }, context);

    expect(sent.map(({ action }) => action)).toEqual(['DescribeInstances', 'DescribeVpcs']);
    expect(rehearsals).toMatchObject([
      { action: 'DescribeVpcs', answer: { kind: 'unanswered', failure: { code: 'DryRunIgnored' } } },
    ]);
  });
});

describe('a rehearsal with a role of another account', () => {
  const role = { arn: 'arn:aws:iam::444455556666:role/network' };
  const action = `DescribeSubnets with ${role.arn}`;
  const shared = [ec2Subnet({ OwnerId: '444455556666' })];

  /** How the role answers, and whether its account owns a subnet that was read before. */
  async function rehearsed(answering: Answering, wasRead: boolean) {
    const other = ec2ClientRig(answering);
    const sharedTags = new SharedSubnetTags(other.client, role, { pageSize: 1000, clock: other.clock });
    if (wasRead) await sharedTags.addTo(shared, context);
    const { client } = ec2ClientRig(permits);
    const { answers, unshown } = await rehearse(client, node, context, sharedTags);
    return { sent: other.sent, unshown, answers: answers.filter((each) => each.action === action) };
  }

  const denies: Answering = () => {
    throw refusal('UnauthorizedOperation');
  };

  test('asks by DryRun where it has read nothing, and says that it serves no subnet', async () => {
    const { sent, answers, unshown } = await rehearsed(permits, false);

    expect(sent.map(({ input }) => input)).toEqual([dryRun]);
    expect(answers).toEqual([{ action, answer: 'permitted' }]);
    expect(unshown).toBe(
      'no subnet that was read and may be used is of account 444455556666, which the role of --network-account-role-arn is for',
    );
  });

  test('says that it is denied', async () => {
    const { answers } = await rehearsed(denies, false);

    expect(answers).toMatchObject([
      { answer: { kind: 'denied', failure: { code: 'UnauthorizedOperation' } } },
    ]);
  });

  test('takes a read with it for the answer', async () => {
    const { sent, answers, unshown } = await rehearsed(() => ({ Subnets: shared }), true);

    expect(sent).toHaveLength(1);
    expect(answers).toEqual([{ action, answer: 'permitted' }]);
    expect(unshown).toBeUndefined();
  });

  test('leaves a read that failed to those who tell of it', async () => {
    const { sent, answers, unshown } = await rehearsed(denies, true);

    expect([sent.length, answers, unshown]).toEqual([1, [], undefined]);
  });
});
