import { describe, expect, test } from '@jest/globals';
import { Ec2CallError, type Ec2InstanceType } from '../../../../src/providers/aws/ec2-api.ts';
import {
  observe,
  readInfrastructure,
  readLimits,
  readSubnetCounts,
} from '../../../../src/providers/aws/read.ts';
import type { ReadOptions } from '../../../../src/providers/aws/read-options.ts';
import { ec2Attachment, ec2Interface, ec2Subnet } from './ec2-shapes.ts';
import { all, type Answering, context, edgeRig, type EdgeRig, failureOfRead } from './edge-rig.ts';

const options: ReadOptions = { pageSize: 1000, instanceTags: {}, subnetIds: [], subnetTags: {} };
const networks = { kind: 'networks', networkIds: ['vpc-1', 'vpc-2'] } as const;
const instances = { kind: 'instances', instanceIds: ['i-1', 'i-2'] } as const;

/** EC2 with these answers to each action, page by page. */
function ec2(pages: Readonly<Record<string, readonly object[]>>): EdgeRig {
  const given = new Map<string, number>();
  const answering: Answering = ({ action }) => {
    const page = given.get(action) ?? 0;
    given.set(action, page + 1);
    const answer = pages[action]?.[page];
    if (answer === undefined) throw new Error(`${action} is not expected`);
    return answer;
  };
  return edgeRig(answering);
}

function described(...states: (readonly [id: string, state: string | undefined])[]): object {
  return {
    Reservations: states.map(([InstanceId, Name]) => ({ Instances: [{ InstanceId, State: { Name } }] })),
  };
}

describe('a listing of networks', () => {
  test('reads page by page what is attached there', async () => {
    const { edge, sent } = ec2({
      DescribeNetworkInterfaces: [
        { NetworkInterfaces: [ec2Interface(), ec2Interface({ Attachment: undefined })], NextToken: 'two' },
        { NetworkInterfaces: [ec2Interface({ NetworkInterfaceId: 'eni-2' })] },
      ],
    });

    const pages = await all(observe(edge, networks, options, context));

    const Filters = [
      { Name: 'vpc-id', Values: ['vpc-1', 'vpc-2'] },
      { Name: 'status', Values: ['in-use'] },
    ];
    expect(sent.map(({ input }) => input)).toEqual([
      { Filters, MaxResults: 1000 },
      { Filters, MaxResults: 1000, NextToken: 'two' },
    ]);
    expect(pages).toMatchObject([
      { begunAt: 0, observations: [{ kind: 'interface', interface: { id: 'eni-1' } }] },
      { begunAt: 0, observations: [{ kind: 'interface', interface: { id: 'eni-2' } }] },
    ]);
  });

  test('names an interface that cannot be read, and reads the others', async () => {
    const { edge } = ec2({
      DescribeNetworkInterfaces: [
        { NetworkInterfaces: [ec2Interface({ MacAddress: undefined }), ec2Interface()] },
      ],
    });

    const [page] = await all(observe(edge, networks, options, context));

    expect(page?.observations.map(({ kind }) => kind)).toEqual(['unreadableInterface', 'interface']);
  });

  test('without its list is an error and not an empty cloud', async () => {
    const { edge } = ec2({ DescribeNetworkInterfaces: [{}] });

    const failure = await failureOfRead(all(observe(edge, networks, options, context)));

    expect(failure).toMatchObject({ kind: 'unreadable', action: 'DescribeNetworkInterfaces' });
  });

  test('that fails says why, and what was read before stays true', async () => {
    const { edge } = edgeRig((_, number) => {
      if (number === 0) return { NetworkInterfaces: [ec2Interface()], NextToken: 'two' };
      throw new Ec2CallError({ result: 'refused', code: 'RequestLimitExceeded', message: 'slow down' });
    });
    const seen: number[] = [];
    const reading = async (): Promise<void> => {
      for await (const page of observe(edge, networks, options, context)) seen.push(page.observations.length);
    };

    const failure = await failureOfRead(reading());

    expect(seen).toEqual([1]);
    expect(failure).toMatchObject({ kind: 'throttled', code: 'RequestLimitExceeded' });
  });
});

describe('a look at instances', () => {
  test('asks no more than for their interfaces when all have some', async () => {
    const second = ec2Interface({
      NetworkInterfaceId: 'eni-2',
      MacAddress: undefined,
      Attachment: ec2Attachment({ InstanceId: 'i-2' }),
    });
    const { edge, sent } = ec2({
      DescribeNetworkInterfaces: [{ NetworkInterfaces: [ec2Interface(), second] }],
    });

    const pages = await all(observe(edge, instances, options, context));

    expect(sent.map(({ input }) => input)).toEqual([
      { Filters: [{ Name: 'attachment.instance-id', Values: ['i-1', 'i-2'] }], MaxResults: 1000 },
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
    ['rebooting', 'unknown'],
    [undefined, 'unknown'],
  ])('asks for those without an interface: EC2 says %s', async (said, state) => {
    const { edge, sent } = ec2({
      DescribeNetworkInterfaces: [{ NetworkInterfaces: [ec2Interface()] }],
      DescribeInstances: [described(['i-2', said])],
    });

    const pages = await all(observe(edge, instances, options, context));

    expect(sent[1]?.input).toEqual({
      Filters: [{ Name: 'instance-id', Values: ['i-2'] }],
      MaxResults: 1000,
    });
    expect(pages[1]?.observations).toEqual([
      { kind: 'instance', instance: { id: 'i-2', state, managed: true } },
    ]);
  });

  test('says of an instance that EC2 does not know that nothing is known', async () => {
    const { edge } = ec2({
      DescribeNetworkInterfaces: [{ NetworkInterfaces: [ec2Interface()] }],
      DescribeInstances: [{ Reservations: [] }],
    });

    const pages = await all(observe(edge, instances, options, context));

    expect(pages[1]?.observations).toEqual([
      { kind: 'instance', instance: { id: 'i-2', state: 'unknown', managed: true } },
    ]);
  });

  test('asks for all where tags decide, and whoever does not carry them is not ours', async () => {
    const { edge, sent } = ec2({
      DescribeNetworkInterfaces: [{ NetworkInterfaces: [ec2Interface()] }],
      DescribeInstances: [{ ...described(), NextToken: 'two' }, described(['i-1', 'running'])],
    });
    const tagged = { ...options, instanceTags: { team: 'a', env: 'b' } };

    const pages = await all(observe(edge, instances, tagged, context));

    expect(sent[1]?.input).toMatchObject({
      Filters: [
        { Name: 'instance-id', Values: ['i-1', 'i-2'] },
        { Name: 'tag:team', Values: ['a'] },
        { Name: 'tag:env', Values: ['b'] },
      ],
    });
    expect(pages[1]?.observations).toEqual([
      { kind: 'instance', instance: { id: 'i-1', state: 'running', managed: true } },
      { kind: 'instance', instance: { id: 'i-2', state: 'unknown', managed: false } },
    ]);
  });

  test('knows of instances what was so when it began to ask for them', async () => {
    const rig = edgeRig(async ({ action }, number) => {
      if (action === 'DescribeNetworkInterfaces') return { NetworkInterfaces: [] };
      await rig.clock.advance(100);
      return { ...described(['i-1', 'running']), NextToken: number === 1 ? 'two' : undefined };
    });

    const pages = await all(observe(rig.edge, instances, options, context));

    expect(pages.map(({ begunAt }) => begunAt)).toEqual([0, 0]);
  });

  test('without the list of instances is an error', async () => {
    const { edge } = ec2({ DescribeNetworkInterfaces: [{ NetworkInterfaces: [] }], DescribeInstances: [{}] });

    const failure = await failureOfRead(all(observe(edge, instances, options, context)));

    expect(failure).toMatchObject({ kind: 'unreadable', action: 'DescribeInstances' });
  });
});

describe('the network around the instances', () => {
  const answers = {
    DescribeSubnets: [
      { Subnets: [ec2Subnet()], NextToken: 'two' },
      { Subnets: [ec2Subnet({ SubnetId: 'subnet-2' }), ec2Subnet({ SubnetId: 'subnet-3', CidrBlock: 'x' })] },
    ],
    DescribeVpcs: [{ Vpcs: [{ VpcId: 'vpc-1', CidrBlock: '10.0.0.0/16' }, {}] }],
    DescribeRouteTables: [
      { RouteTables: [{ RouteTableId: 'rtb-1', VpcId: 'vpc-1', Associations: [] }, { VpcId: 'vpc-1' }] },
    ],
    DescribeSecurityGroups: [{ SecurityGroups: [{ GroupId: 'sg-1', VpcId: 'vpc-1' }, {}] }],
  };

  test('is read as a whole, and what cannot be understood is named', async () => {
    const { edge } = ec2(answers);

    const { infrastructure, problems } = await readInfrastructure(edge, ['vpc-1'], options, context);

    expect([...infrastructure.subnets.keys()]).toEqual(['subnet-1', 'subnet-2']);
    expect([...infrastructure.networks.keys()]).toEqual(['vpc-1']);
    expect(infrastructure.routeTables.map(({ id }) => id)).toEqual(['rtb-1']);
    expect(infrastructure.securityGroups.map(({ id }) => id)).toEqual(['sg-1']);
    expect(problems.map(({ what, id }) => `${what} ${id}`)).toEqual([
      'subnet subnet-3',
      'network (without an id)',
      'route table (without an id)',
      'security group (without an id)',
    ]);
  });

  test('is asked for by network, in pages as large as EC2 gives', async () => {
    const { edge, sent } = ec2(answers);

    await readInfrastructure(edge, ['vpc-1', 'vpc-2'], options, context);

    const Filters = [{ Name: 'vpc-id', Values: ['vpc-1', 'vpc-2'] }];
    const asked = new Map(sent.map(({ action, input }) => [action, input]));
    expect(asked.get('DescribeVpcs')).toEqual({ Filters, MaxResults: 1000 });
    expect(asked.get('DescribeSecurityGroups')).toEqual({ Filters, MaxResults: 1000 });
    // EC2 refuses more than 100 here.
    expect(asked.get('DescribeRouteTables')).toEqual({ Filters, MaxResults: 100 });
  });

  test.each([
    ['DescribeRouteTables', 'routeTables'],
    ['DescribeSecurityGroups', 'securityGroups'],
  ] as const)('does without what %s may not show, and says why', async (action, part) => {
    const { edge } = edgeRig((call) => {
      if (call.action !== action) return answers[call.action as keyof typeof answers].at(-1);
      throw new Ec2CallError({
        result: 'refused',
        code: 'UnauthorizedOperation',
        message: 'no',
        status: 403,
      });
    });

    const { infrastructure } = await readInfrastructure(edge, ['vpc-1'], options, context);

    expect(infrastructure[part]).toEqual([]);
    expect(infrastructure.denied?.[part]?.permission).toBe(`ec2:${action}`);
    expect([...infrastructure.networks.keys()]).toEqual(['vpc-1']);
  });

  test.each(['DescribeSubnets', 'DescribeVpcs'])('is not read without %s', async (action) => {
    const { edge } = edgeRig((call) => {
      if (call.action !== action) return { Subnets: [], Vpcs: [], RouteTables: [], SecurityGroups: [] };
      throw new Ec2CallError({
        result: 'refused',
        code: 'UnauthorizedOperation',
        message: 'no',
        status: 403,
      });
    });

    await expect(readInfrastructure(edge, ['vpc-1'], options, context)).rejects.toMatchObject({
      failure: { permission: `ec2:${action}` },
    });
  });

  test('is asked for in smaller pages where the options say so', async () => {
    const { edge, sent } = ec2(answers);

    await readInfrastructure(edge, ['vpc-1'], { ...options, pageSize: 50 }, context);

    expect(sent.map(({ input }) => (input as { MaxResults: number }).MaxResults)).toEqual([
      50, 50, 50, 50, 50,
    ]);
  });

  test('counts free addresses as of when the subnets were asked for', async () => {
    const rig = edgeRig(async ({ action }) => {
      await rig.clock.advance(100);
      return answers[action as keyof typeof answers].at(-1);
    });
    await rig.clock.advance(7);

    const read = await readInfrastructure(rig.edge, ['vpc-1'], options, context);

    expect(read.begunAt).toBe(7);
  });

  test.each(Object.keys(answers))('without the list of %s is an error', async (action) => {
    const { edge } = ec2({ ...answers, [action]: [{}] });

    const failure = await failureOfRead(readInfrastructure(edge, ['vpc-1'], options, context));

    expect(failure).toMatchObject({ kind: 'unreadable', action });
  });

  test('may be asked for the counts alone', async () => {
    const { edge } = ec2(answers);

    const { begunAt, counts } = await readSubnetCounts(edge, ['vpc-1'], options, context);

    expect(begunAt).toBe(0);
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
      'no cards told',
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
      'what is no number',
      { MaximumNetworkInterfaces: Number.NaN, Ipv4AddressesPerInterface: 2 },
      { problem: 'MaximumNetworkInterfaces is NaN' },
    ],
    ['nothing told', undefined, { problem: 'MaximumNetworkInterfaces is undefined' }],
  ])('%s', async (_, NetworkInfo, expected) => {
    const { edge } = ec2({
      DescribeInstanceTypes: [{ InstanceTypes: [{ InstanceType: 'm5.large', NetworkInfo }] }],
    });

    const limits = await readLimits(edge, ['m5.large'], context);

    expect(limits.get('m5.large')).toEqual(expected);
  });

  test.each([
    ['nitro', { Hypervisor: 'nitro', BareMetal: false }, true],
    ['bare metal, which has no hypervisor', { BareMetal: true }, true],
    ['xen', { Hypervisor: 'xen', BareMetal: false }, false],
    ['neither told', {}, false],
    ['a hypervisor that nobody has heard of', { Hypervisor: 'quantum', BareMetal: false }, false],
  ])('allow prefixes: %s', async (_, told, prefixes) => {
    const NetworkInfo = { MaximumNetworkInterfaces: 3, Ipv4AddressesPerInterface: 10 };
    const { edge } = ec2({
      DescribeInstanceTypes: [{ InstanceTypes: [{ InstanceType: 'm5.large', NetworkInfo, ...told }] }],
    });

    const limits = await readLimits(edge, ['m5.large'], context);

    expect(limits.get('m5.large')).toMatchObject({ prefixes });
  });

  test('are asked for by a filter, so that an unknown type does not spoil the answer', async () => {
    const { edge, sent } = ec2({ DescribeInstanceTypes: [{ InstanceTypes: [{}] }] });

    const limits = await readLimits(edge, ['m5.large', 'm99.huge'], context);

    expect(sent[0]?.input).toEqual({
      Filters: [{ Name: 'instance-type', Values: ['m5.large', 'm99.huge'] }],
      MaxResults: 100,
    });
    expect(limits.size).toBe(0);
  });

  test('without a list are an error', async () => {
    const { edge } = ec2({ DescribeInstanceTypes: [{}] });

    const failure = await failureOfRead(readLimits(edge, ['m5.large'], context));

    expect(failure).toMatchObject({ kind: 'unreadable', action: 'DescribeInstanceTypes' });
  });
});
