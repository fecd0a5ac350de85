import { describe, expect, test } from '@jest/globals';
import { CallError } from '../../../../src/providers/gate/cloud-call.ts';
import type { Ec2InstanceType } from '../../../../src/providers/aws/ec2-api.ts';
import { observe } from '../../../../src/providers/aws/read.ts';
import { readInfrastructure, readSubnetCounts } from '../../../../src/providers/aws/read-infrastructure.ts';
import { readLimits } from '../../../../src/providers/aws/read-limits.ts';
import { ec2Attachment, ec2Interface, ec2Subnet, efaOnly } from './ec2-shapes.ts';
import { all, context, ec2ClientRig, failureOfRead } from './ec2-client-rig.ts';
import { described, ec2, instances, networks, options, withoutIpv4 } from './read-rig.ts';

describe('a listing of networks', () => {
  test('reads page by page what is attached there', async () => {
    const { client, sent } = ec2({
      DescribeNetworkInterfaces: [
        {
          NetworkInterfaces: [
            ec2Interface(),
            ec2Interface({ NetworkInterfaceId: 'eni-3', Attachment: undefined }),
          ],
          NextToken: 'two',
        },
        { NetworkInterfaces: [ec2Interface({ NetworkInterfaceId: 'eni-2' })] },
      ],
    });

    const pages = await all(observe({ client, options, context }, networks));

    const Filters = [
      { Name: 'vpc-id', Values: ['vpc-00000001', 'vpc-00000002'] },
      { Name: 'status', Values: ['in-use'] },
    ];
    expect(sent.map(({ input }) => input)).toEqual([
      { Filters, MaxResults: 1000 },
      { Filters, MaxResults: 1000, NextToken: 'two' },
    ]);
    expect(pages).toMatchObject([
      { startedAt: 0, observations: [{ kind: 'interface', interface: { id: 'eni-1' } }] },
      { startedAt: 0, observations: [{ kind: 'interface', interface: { id: 'eni-2' } }] },
    ]);
  });

  test('includes the addresses of interfaces that no instance has', async () => {
    const { client } = ec2({
      DescribeNetworkInterfaces: [
        {
          NetworkInterfaces: [
            ec2Interface(),
            ec2Interface({
              NetworkInterfaceId: 'eni-9',
              SubnetId: 'subnet-9',
              Attachment: { AttachmentId: 'eni-attach-9', Status: 'attached' },
              PrivateIpAddresses: [{ PrivateIpAddress: '10.0.9.7' }],
              Ipv4Prefixes: [{ Ipv4Prefix: '10.0.9.16/28' }],
            }),
          ],
        },
      ],
    });

    const [page] = await all(observe({ client, options, context }, networks));

    expect(page?.observations).toHaveLength(1);
    expect(page?.others).toEqual([{ subnetId: 'subnet-9', holdings: ['10.0.9.7', '10.0.9.16/28'] }]);
  });

  test('names an interface that cannot be read, and reads the others', async () => {
    const { client } = ec2({
      DescribeNetworkInterfaces: [{ NetworkInterfaces: [withoutIpv4('eni-2'), ec2Interface()] }],
    });

    const [page] = await all(observe({ client, options, context }, networks));

    expect(page?.observations.map(({ kind }) => kind)).toEqual(['unreadableInterface', 'interface']);
  });

  test('shows the 32 EFAs without IP of a p5, and whatever part of the answer they are', async () => {
    const efas = Array.from({ length: 32 }, (_, card) => efaOnly(card));
    const { client } = ec2({ DescribeNetworkInterfaces: [{ NetworkInterfaces: [ec2Interface(), ...efas] }] });

    const [page] = await all(observe({ client, options, context }, networks));

    const kinds = ['interface', ...efas.map(() => 'addresslessInterface')];
    expect(page?.observations.map(({ kind }) => kind)).toEqual(kinds);
  });

  test('counts an interface whose attachment has ended as detached', async () => {
    const ended = ec2Interface({ Attachment: ec2Attachment({ Status: 'detached' }) });
    const { client } = ec2({ DescribeNetworkInterfaces: [{ NetworkInterfaces: [ended] }] });

    const pages = await all(observe({ client, options, context }, networks));

    expect(pages).toMatchObject([
      { observations: [], others: [{ subnetId: 'subnet-1', holdings: ['10.0.0.4', '10.0.0.10'] }] },
    ]);
  });

  test('is an error, not an empty cloud, when the answer holds no list', async () => {
    const { client } = ec2({ DescribeNetworkInterfaces: [{}] });

    const failure = await failureOfRead(all(observe({ client, options, context }, networks)));

    expect(failure).toMatchObject({ kind: 'unreadable', action: 'DescribeNetworkInterfaces' });
  });

  test('names the cause when it fails, and what was read before stays valid', async () => {
    const { client } = ec2ClientRig((_, number) => {
      if (number === 0) return { NetworkInterfaces: [ec2Interface()], NextToken: 'two' };
      throw new CallError({ result: 'refused', code: 'RequestLimitExceeded', message: 'slow down' });
    });
    let seen = 0;
    const reading = async (): Promise<void> => {
      for await (const page of observe({ client, options, context }, networks))
        seen += page.observations.length;
    };

    const failure = await failureOfRead(reading());

    expect(seen).toBe(1);
    expect(failure).toMatchObject({ kind: 'throttled', code: 'RequestLimitExceeded' });
  });
});

describe('a refresh of instances', () => {
  test('requests also those whose only attachment has ended', async () => {
    const ended = ec2Interface({
      NetworkInterfaceId: 'eni-2',
      Attachment: ec2Attachment({ InstanceId: 'i-00000002', Status: 'detached' }),
    });
    const { client } = ec2({
      DescribeNetworkInterfaces: [{ NetworkInterfaces: [ec2Interface(), ended] }],
      DescribeInstances: [described(['i-00000002', 'stopped'])],
    });

    const pages = await all(observe({ client, options, context }, instances));

    const shown = pages.flatMap(({ observations }) => observations.map(({ kind }) => kind));
    expect(shown).toEqual(['interface', 'instance']);
  });

  test('requests only their interfaces when all have some', async () => {
    const second = { ...withoutIpv4('eni-2'), Attachment: ec2Attachment({ InstanceId: 'i-00000002' }) };
    const { client, sent } = ec2({
      DescribeNetworkInterfaces: [{ NetworkInterfaces: [ec2Interface(), second] }],
    });

    const pages = await all(observe({ client, options, context }, instances));

    expect(sent.map(({ input }) => input)).toEqual([
      {
        Filters: [{ Name: 'attachment.instance-id', Values: ['i-00000001', 'i-00000002'] }],
        MaxResults: 1000,
      },
    ]);
    expect(pages).toHaveLength(1);
  });

  test.each([
    ['pending', 'pending'],
    ['running', 'running'],
    ['stopping', 'stopping'],
    ['stopped', 'stopped'],
    ['shutting-down', 'terminating'],
    ['terminated', 'terminated'],
  ])('requests instances without an interface: EC2 says %s', async (said, state) => {
    const { client, sent } = ec2({
      DescribeNetworkInterfaces: [{ NetworkInterfaces: [ec2Interface()] }],
      DescribeInstances: [described(['i-00000002', said])],
    });

    const pages = await all(observe({ client, options, context }, instances));

    expect(sent[1]?.input).toEqual({
      Filters: [{ Name: 'instance-id', Values: ['i-00000002'] }],
      MaxResults: 1000,
    });
    expect(pages[1]?.observations).toEqual([
      { kind: 'instance', instance: { id: 'i-00000002', state, managed: true } },
    ]);
  });

  test('reports an instance that EC2 does not know as not found', async () => {
    const { client } = ec2({
      DescribeNetworkInterfaces: [{ NetworkInterfaces: [ec2Interface()] }],
      DescribeInstances: [{ Reservations: [] }],
    });

    const pages = await all(observe({ client, options, context }, instances));

    expect(pages[1]?.observations).toEqual([
      { kind: 'instance', instance: { id: 'i-00000002', state: 'unknown', managed: true } },
    ]);
  });

  test('requests all instances when tags decide, and those without the tags are unmanaged', async () => {
    const { client, sent } = ec2({
      DescribeNetworkInterfaces: [{ NetworkInterfaces: [ec2Interface()] }],
      DescribeInstances: [{ ...described(), NextToken: 'two' }, described(['i-00000001', 'running'])],
    });
    const tagged = { ...options, instanceTags: { team: 'a', env: 'b' } };

    const pages = await all(observe({ client, options: tagged, context }, instances));

    expect(sent[1]?.input).toMatchObject({
      Filters: [
        { Name: 'instance-id', Values: ['i-00000001', 'i-00000002'] },
        { Name: 'tag:team', Values: ['a'] },
        { Name: 'tag:env', Values: ['b'] },
      ],
    });
    expect(pages[1]?.observations).toEqual([
      { kind: 'instance', instance: { id: 'i-00000001', state: 'running', managed: true } },
      { kind: 'instance', instance: { id: 'i-00000002', state: 'unknown', managed: false } },
    ]);
  });

  test('has the state of instances from when it started to read them', async () => {
    const rig = ec2ClientRig(async ({ action }, number) => {
      if (action === 'DescribeNetworkInterfaces') return { NetworkInterfaces: [] };
      await rig.clock.advance(100);
      return { ...described(['i-00000001', 'running']), NextToken: number === 1 ? 'two' : undefined };
    });

    const pages = await all(observe({ client: rig.client, options, context }, instances));

    expect(pages.map(({ startedAt }) => startedAt)).toEqual([0, 0]);
  });

  test('is an error when the answer holds no list of instances', async () => {
    const rig = ec2({ DescribeNetworkInterfaces: [{ NetworkInterfaces: [] }], DescribeInstances: [{}] });

    const failure = await failureOfRead(all(observe({ client: rig.client, options, context }, instances)));

    expect(failure).toMatchObject({ kind: 'unreadable', action: 'DescribeInstances' });
  });
});

describe('the network around the instances', () => {
  const answers = {
    DescribeSubnets: [
      { Subnets: [ec2Subnet()], NextToken: 'two' },
      {
        Subnets: [
          ec2Subnet({ SubnetId: 'subnet-2' }),
          ec2Subnet({ SubnetId: 'subnet-3', CidrBlock: undefined }),
          ec2Subnet({ SubnetId: 'subnet-4', CidrBlock: undefined, Ipv6Native: true }),
        ],
      },
    ],
    DescribeVpcs: [{ Vpcs: [{ VpcId: 'vpc-00000001', CidrBlock: '10.0.0.0/16' }] }],
    DescribeRouteTables: [
      {
        RouteTables: [
          ...['rtb-1', 'rtb-2', 'rtb-3'].map((RouteTableId) => ({
            RouteTableId,
            VpcId: 'vpc-00000001',
            Associations: [],
          })),
          { VpcId: 'vpc-00000001' },
        ],
      },
    ],
    DescribeSecurityGroups: [
      {
        SecurityGroups: [
          ...['sg-1', 'sg-2', 'sg-3'].map((GroupId) => ({ GroupId, VpcId: 'vpc-00000001' })),
          {},
        ],
      },
    ],
  };

  test('is read as a whole, and what cannot be read is named', async () => {
    const { client } = ec2(answers);

    const reading = { client, options, context };
    const { infrastructure, problems } = await readInfrastructure(reading, ['vpc-00000001']);

    expect([...infrastructure.subnets.keys()]).toEqual(['subnet-1', 'subnet-2']);
    expect([...infrastructure.networks.keys()]).toEqual(['vpc-00000001']);
    expect(infrastructure.routeTables.map(({ id }) => id)).toEqual(['rtb-1', 'rtb-2', 'rtb-3']);
    expect(infrastructure.securityGroups.map(({ id }) => id)).toEqual(['sg-1', 'sg-2', 'sg-3']);
    expect(problems.map(({ what, id }) => `${what} ${id}`).sort()).toEqual([
      'route table (without an id)',
      'security group (without an id)',
      'subnet subnet-3',
    ]);
  });

  test('is requested by network, in the largest pages that EC2 gives', async () => {
    const { client, sent } = ec2(answers);

    await readInfrastructure({ client, options, context }, ['vpc-00000001', 'vpc-00000002']);

    const Filters = [{ Name: 'vpc-id', Values: ['vpc-00000001', 'vpc-00000002'] }];
    const asked = new Map(sent.map(({ action, input }) => [action, input]));
    expect(asked.get('DescribeVpcs')).toEqual({ Filters, MaxResults: 1000 });
    expect(asked.get('DescribeSecurityGroups')).toEqual({ Filters, MaxResults: 1000 });
    // EC2 refuses more than 100 here.
    expect(asked.get('DescribeRouteTables')).toEqual({ Filters, MaxResults: 100 });
  });

  test.each([
    ['DescribeRouteTables', 'routeTables'],
    ['DescribeSecurityGroups', 'securityGroups'],
  ] as const)('is complete without what %s may not show, and names the cause', async (action, part) => {
    const { client } = ec2ClientRig((call) => {
      if (call.action !== action) return answers[call.action as keyof typeof answers].at(-1);
      throw new CallError({
        result: 'refused',
        code: 'UnauthorizedOperation',
        message: 'no',
        status: 403,
      });
    });

    const { infrastructure } = await readInfrastructure({ client, options, context }, ['vpc-00000001']);

    expect(infrastructure[part]).toEqual([]);
    expect(infrastructure.denied?.[part]?.get('vpc-00000001')?.permission).toBe(`ec2:${action}`);
    expect([...infrastructure.networks.keys()]).toEqual(['vpc-00000001']);
  });

  test.each(['DescribeSubnets', 'DescribeVpcs'])('is not read without %s', async (action) => {
    const { client } = ec2ClientRig((call) => {
      if (call.action !== action) return { Subnets: [], Vpcs: [], RouteTables: [], SecurityGroups: [] };
      throw new CallError({
        result: 'refused',
        code: 'UnauthorizedOperation',
        message: 'no',
        status: 403,
      });
    });

    await expect(readInfrastructure({ client, options, context }, ['vpc-00000001'])).rejects.toMatchObject({
      failure: { permission: `ec2:${action}` },
    });
  });

  test('is requested in smaller pages when the options say so', async () => {
    const { client, sent } = ec2(answers);

    await readInfrastructure({ client, options: { ...options, pageSize: 50 }, context }, ['vpc-00000001']);

    expect(sent.map(({ input }) => (input as { MaxResults: number }).MaxResults)).toEqual([
      50, 50, 50, 50, 50,
    ]);
  });

  test('dates free addresses to when the subnets were requested', async () => {
    const rig = ec2ClientRig(async ({ action }) => {
      await rig.clock.advance(100);
      return answers[action as keyof typeof answers].at(-1);
    });
    await rig.clock.advance(7);

    const read = await readInfrastructure({ client: rig.client, options, context }, ['vpc-00000001']);

    expect(read.startedAt).toBe(7);
  });

  test.each(['DescribeSubnets', 'DescribeVpcs'])('is an error without the list of %s', async (action) => {
    const { client } = ec2({ ...answers, [action]: [{}] });

    const failure = await failureOfRead(readInfrastructure({ client, options, context }, ['vpc-00000001']));

    expect(failure).toMatchObject({ kind: 'unreadable', action });
  });

  test('can be read for the counts only', async () => {
    const { client } = ec2(answers);

    const { startedAt, counts } = await readSubnetCounts({ client, options, context }, ['vpc-00000001']);

    expect(startedAt).toBe(0);
    expect([...counts]).toEqual([
      ['subnet-1', 200],
      ['subnet-2', 200],
    ]);
  });
});

describe('limits of instance types', () => {
  const card = (NetworkCardIndex: number, MaximumNetworkInterfaces: number) => ({
    NetworkCardIndex,
    MaximumNetworkInterfaces,
  });

  test.each<[string, Ec2InstanceType['NetworkInfo'], object | undefined]>([
    [
      'one card',
      { MaximumNetworkInterfaces: 3, Ipv4AddressesPerInterface: 10, NetworkCards: [card(0, 3)] },
      { interfaces: 3, addressesPerInterface: 10, prefixes: false },
    ],
    [
      'several cards: the default one counts',
      {
        MaximumNetworkInterfaces: 60,
        Ipv4AddressesPerInterface: 50,
        DefaultNetworkCardIndex: 1,
        NetworkCards: [card(0, 20), card(1, 15)],
      },
      { interfaces: 15, addressesPerInterface: 50, prefixes: false },
    ],
    [
      'no default: the first card counts',
      {
        MaximumNetworkInterfaces: 60,
        Ipv4AddressesPerInterface: 50,
        NetworkCards: [{ MaximumNetworkInterfaces: 4 }, card(1, 15)],
      },
      { interfaces: 4, addressesPerInterface: 50, prefixes: false },
    ],
    [
      'an answer without cards',
      { MaximumNetworkInterfaces: 2, Ipv4AddressesPerInterface: 6 },
      { interfaces: 2, addressesPerInterface: 6, prefixes: false },
    ],
    [
      'no number of addresses',
      { MaximumNetworkInterfaces: 2 },
      { problem: 'Ipv4AddressesPerInterface is undefined' },
    ],
    [
      'no number of interfaces',
      { Ipv4AddressesPerInterface: 2 },
      { problem: 'MaximumNetworkInterfaces is undefined' },
    ],
    [
      'no addresses',
      { MaximumNetworkInterfaces: 2, Ipv4AddressesPerInterface: 0 },
      { problem: 'Ipv4AddressesPerInterface is 0' },
    ],
    [
      'less than no interfaces',
      { MaximumNetworkInterfaces: -2, Ipv4AddressesPerInterface: 2 },
      { problem: 'MaximumNetworkInterfaces is -2' },
    ],
    [
      'a value that is no number',
      { MaximumNetworkInterfaces: Number.NaN, Ipv4AddressesPerInterface: 2 },
      { problem: 'MaximumNetworkInterfaces is NaN' },
    ],
    [
      'billions of interfaces',
      { MaximumNetworkInterfaces: 4_000_000_000, Ipv4AddressesPerInterface: 2 },
      { problem: 'MaximumNetworkInterfaces is 4000000000' },
    ],
    [
      'billions of addresses',
      { MaximumNetworkInterfaces: 4, Ipv4AddressesPerInterface: 4_000_000_000 },
      { problem: 'Ipv4AddressesPerInterface is 4000000000' },
    ],
    ['an answer without values', undefined, { problem: 'MaximumNetworkInterfaces is undefined' }],
  ])('are read for %s', async (_, NetworkInfo, expected) => {
    const { client } = ec2({
      DescribeInstanceTypes: [{ InstanceTypes: [{ InstanceType: 'm5.large', NetworkInfo }] }],
    });

    const limits = await readLimits(client, ['m5.large'], context);

    expect(limits.get('m5.large')).toEqual(expected);
  });

  test.each([
    ['nitro', { Hypervisor: 'nitro', BareMetal: false }, true],
    ['bare metal, which has no hypervisor', { BareMetal: true }, true],
    ['xen', { Hypervisor: 'xen', BareMetal: false }, false],
    ['neither known', {}, false],
    ['an unknown hypervisor', { Hypervisor: 'quantum', BareMetal: false }, false],
  ])('allow prefixes: %s', async (_, reported, prefixes) => {
    const NetworkInfo = { MaximumNetworkInterfaces: 3, Ipv4AddressesPerInterface: 10 };
    const { client } = ec2({
      DescribeInstanceTypes: [{ InstanceTypes: [{ InstanceType: 'm5.large', NetworkInfo, ...reported }] }],
    });

    const limits = await readLimits(client, ['m5.large'], context);

    expect(limits.get('m5.large')).toMatchObject({ prefixes });
  });

  test('are requested by a filter, so that an unknown type does not spoil the answer', async () => {
    const { client, sent } = ec2({ DescribeInstanceTypes: [{ InstanceTypes: [] }] });

    const limits = await readLimits(client, ['m5.large', 'm99.huge'], context);

    expect(sent[0]?.input).toEqual({
      Filters: [{ Name: 'instance-type', Values: ['m5.large', 'm99.huge'] }],
      MaxResults: 100,
    });
    expect(limits.size).toBe(0);
  });

  test('are an error when the answer holds no list', async () => {
    const { client } = ec2({ DescribeInstanceTypes: [{}] });

    const failure = await failureOfRead(readLimits(client, ['m5.large'], context));

    expect(failure).toMatchObject({ kind: 'unreadable', action: 'DescribeInstanceTypes' });
  });
});
