import { describe, expect, test } from '@jest/globals';
import { CallError } from '../../../../src/providers/gate/cloud-call.ts';
import type { Ec2Subnet } from '../../../../src/providers/aws/ec2-api.ts';
import { readInfrastructure } from '../../../../src/providers/aws/read-infrastructure.ts';
import {
  failureOfRole,
  SharedSubnetTags,
  type TaggedSubnets,
} from '../../../../src/providers/aws/shared-subnet-tags.ts';
import { remedyFor } from '../../../../src/node/conditions/call-condition.ts';
import { context, ec2ClientRig } from './ec2-client-rig.ts';
import { ec2Subnet } from './ec2-shapes.ts';
import { options } from './read-rig.ts';

const role = { arn: 'arn:aws:iam::444455556666:role/network' };
const ofOwner = { OwnerId: '444455556666', Tags: [] };
const ours = ec2Subnet({
  SubnetId: 'subnet-1',
  OwnerId: '111122223333',
  Tags: [{ Key: 'use', Value: 'nodes' }],
});
const shared = ec2Subnet({ SubnetId: 'subnet-2', ...ofOwner });
const other = ec2Subnet({ SubnetId: 'subnet-3', OwnerId: '777788889999', Tags: [] });
const use = (value: string): Pick<Ec2Subnet, 'Tags'> => ({ Tags: [{ Key: 'use', Value: value }] });

const denial = new CallError({
  result: 'refused',
  code: 'AccessDenied',
  message: 'User: arn:aws:iam::1:user/a is not authorized to perform: sts:AssumeRole',
  status: 403,
});

/** The answers of the owner's account in turn; an error is one. */
function tagsOf(...answers: readonly (readonly Ec2Subnet[] | CallError)[]) {
  const rig = ec2ClientRig((_, number) => {
    const answer = answers[number];
    if (answer instanceof CallError) throw answer;
    return { Subnets: answer };
  });
  return { ...rig, tags: new SharedSubnetTags(rig.client, role, { pageSize: 1000, clock: rig.clock }) };
}

async function usesOf(tags: SharedSubnetTags, shown: readonly Ec2Subnet[]): Promise<readonly string[]> {
  const { subnets } = await tags.addTo(shown, context);
  return subnets.map(({ Tags = [] }) => Tags.map(({ Key, Value }) => `${Key}=${Value}`).join());
}

describe('tags of shared subnets', () => {
  test('are those that their owner shows, and change nothing else', async () => {
    const elsewhere = {
      ...shared,
      ...use('pods'),
      AvailabilityZone: 'us-west-1c',
      AvailableIpAddressCount: 1,
    };
    const { tags, sent } = tagsOf([elsewhere, ec2Subnet({ SubnetId: 'subnet-9', ...ofOwner })]);

    const read = await tags.addTo([ours, shared, other], context);

    expect(read).toEqual({ subnets: [ours, { ...shared, ...use('pods') }, other], unread: new Map() });
    expect(sent.map(({ input }) => input)).toEqual([
      { Filters: [{ Name: 'vpc-id', Values: ['vpc-00000001'] }], MaxResults: 1000 },
    ]);
  });

  test('are not asked about where no subnet of that account is shown', async () => {
    const { tags, sent } = tagsOf();

    expect(await tags.addTo([ours, other], context)).toEqual({ subnets: [ours, other], unread: new Map() });
    expect(sent).toEqual([]);
  });

  test('yield to those that our own account shows', async () => {
    const { tags } = tagsOf([
      { ...shared, Tags: [...(use('pods').Tags ?? []), { Key: 'team', Value: 'net' }] },
    ]);

    expect(await usesOf(tags, [{ ...shared, ...use('other') }])).toEqual(['use=other,team=net']);
  });

  test.each<[string, readonly Ec2Subnet[] | CallError, string]>([
    ['cannot be read', denial, 'use=pods'],
    ['are not shown', [], 'use=pods'],
    ['are shown by an account that does not own it', [{ ...shared, OwnerId: '1', Tags: [] }], 'use=pods'],
    ['are gone by the word of the owner', [shared], ''],
    ['have changed', [{ ...shared, ...use('nodes') }], 'use=nodes'],
  ])('that %s the next time: %j', async (_, second, expected) => {
    const { tags } = tagsOf([{ ...shared, ...use('pods') }], second);
    await usesOf(tags, [shared]);

    expect(await usesOf(tags, [shared])).toEqual([expected]);
  });

  test('that were never read are said to be unread, and no others', async () => {
    const later = ec2Subnet({ SubnetId: 'subnet-4', ...ofOwner });
    const { tags } = tagsOf([shared], denial);
    await tags.addTo([shared], context);

    const { unread, failure } = await tags.addTo([shared, later, ours], context);

    expect([...unread.keys()]).toEqual(['subnet-4']);
    expect(failure?.permission).toBe('sts:AssumeRole');
  });

  test('that an answer has never shown are unread, although the read was answered', async () => {
    const later = ec2Subnet({ SubnetId: 'subnet-4', ...ofOwner });
    const { tags } = tagsOf([{ ...shared, ...use('pods') }], [later]);

    const [first, second] = [
      await tags.addTo([shared, later], context),
      await tags.addTo([shared, later], context),
    ];

    expect([...first.unread]).toMatchObject([
      ['subnet-4', { kind: 'unreadable', message: `the answer does not show subnet-4 (with ${role.arn})` }],
    ]);
    expect(first.failure).toEqual(first.unread.get('subnet-4'));
    expect([second.unread, second.failure]).toEqual([new Map(), undefined]);
  });

  test('are waited for no longer than 10 s where their account is to be left alone', async () => {
    const throttle = {
      result: 'refused',
      code: 'RequestLimitExceeded',
      message: 'slow',
      status: 503,
    } as const;
    const { tags, sent, clock } = tagsOf(new CallError({ ...throttle, retryAfter: 300_000 }), [
      { ...shared, ...use('pods') },
    ]);
    await tags.addTo([shared], context);
    const reads: TaggedSubnets[] = [];
    void tags.addTo([ours, shared], context).then((read) => reads.push(read));

    await clock.advance(10_000);

    expect(reads).toMatchObject([{ subnets: [ours, shared], failure: { kind: 'throttled' } }]);
    expect(reads.flatMap(({ unread }) => [...unread.keys()])).toEqual(['subnet-2']);
    await clock.advance(300_000);
    expect(await usesOf(tags, [shared])).toEqual(['use=pods']);
    expect(sent).toHaveLength(2);
  });

  test('decide which subnets the options allow', async () => {
    const { tags } = tagsOf([{ ...shared, ...use('pods') }], denial);
    const { client } = ec2ClientRig(() => ({
      Subnets: [ours, shared],
      Vpcs: [],
      RouteTables: [],
      SecurityGroups: [],
    }));
    const reading = {
      client,
      options: { ...options, subnetTags: { use: 'pods' } },
      context,
      sharedTags: tags,
    };

    const [first, second] = [
      await readInfrastructure(reading, ['vpc-00000001']),
      await readInfrastructure(reading, ['vpc-00000001']),
    ];

    for (const { infrastructure, problems } of [first, second]) {
      const eligible = [...infrastructure.subnets.values()].filter((subnet) => subnet.eligible);
      expect(eligible.map(({ id }) => id)).toEqual(['subnet-2']);
      expect([infrastructure.unreadTags, problems]).toEqual([new Map(), []]);
    }
  });

  test('are not read of subnets that an option leaves out by their ids', async () => {
    const { client, clock, sent } = ec2ClientRig(() => {
      throw denial;
    });
    const tags = new SharedSubnetTags(client, role, { pageSize: 1000, clock, subnetIds: ['subnet-1'] });

    const read = await tags.addTo([ours, shared], context);

    expect(read).toEqual({ subnets: [ours, shared], unread: new Map() });
    expect([sent, tags.lastRead]).toEqual([[], 'none']);
  });

  test('that no answer brings are a problem of the account', async () => {
    const { tags } = tagsOf(new CallError({ result: 'noAnswer', code: 'Timeout', message: 'no answer' }));
    const { client } = ec2ClientRig(() => ({
      Subnets: [shared],
      Vpcs: [],
      RouteTables: [],
      SecurityGroups: [],
    }));

    const { infrastructure, problems } = await readInfrastructure(
      { client, options, context, sharedTags: tags },
      ['vpc-00000001'],
    );

    expect([...(infrastructure.unreadTags ?? [])].map(([id, { kind }]) => `${id} ${kind}`)).toEqual([
      'subnet-2 unreachable',
    ]);
    expect(problems).toEqual([
      {
        what: 'account',
        id: '444455556666',
        problem: 'the tags of its subnets cannot be read: Timeout: no answer',
      },
    ]);
  });
});

describe('a failure of a call with a role', () => {
  const failure = {
    kind: 'notAuthorized',
    action: 'DescribeSubnets',
    code: 'c',
    message: 'no',
    requestId: '1',
  } as const;

  test.each([
    ['ec2:DescribeSubnets', /^allow ec2:DescribeSubnets to arn:aws:iam::444455556666:role\/network$/],
    [
      'sts:AssumeRole',
      /^allow sts:AssumeRole to Headwater's role, in its own policy and in the trust policy of arn:\S+:role\/network, or correct --network-account-role-arn or/,
    ],
  ])('says to whom %s is missing', (permission, remedy) => {
    expect(remedyFor(failureOfRole({ ...failure, permission }, role))).toMatch(remedy);
  });

  test('names the role in its message once', () => {
    expect(failureOfRole(failure, role).message).toBe(`no (with ${role.arn})`);
    expect(failureOfRole({ ...failure, message: `no ${role.arn}` }, role).message).toBe(`no ${role.arn}`);
  });
});
