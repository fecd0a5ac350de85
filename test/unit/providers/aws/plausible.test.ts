import { describe, expect, test } from '@jest/globals';
import type { Ec2InstanceType, Ec2NetworkInterface } from '../../../../src/providers/aws/ec2-api.ts';
import { unreadableIn } from '../../../../src/manager/listed-page.ts';
import { observe } from '../../../../src/providers/aws/read.ts';
import { readInfrastructure } from '../../../../src/providers/aws/read-infrastructure.ts';
import { readLimits } from '../../../../src/providers/aws/read-limits.ts';
import { ec2Attachment, ec2Interface, ec2Subnet } from './ec2-shapes.ts';
import { all, context, failureOfRead } from './ec2-client-rig.ts';
import { described, ec2, instances, networks, options } from './read-rig.ts';

describe('an implausible answer of EC2', () => {
  const other = ec2Interface({
    NetworkInterfaceId: 'eni-2',
    Attachment: ec2Attachment({ InstanceId: 'i-00000002' }),
  });
  const nameless = ec2Interface({ NetworkInterfaceId: 'eni-3', MacAddress: undefined });

  test.each<[string, readonly Ec2NetworkInterface[]]>([
    [
      'an interface of another instance than requested',
      [ec2Interface(), { ...other, Attachment: ec2Attachment({ InstanceId: 'i-00000003' }) }],
    ],
    ['one interface twice', [ec2Interface(), ec2Interface()]],
    [
      'an interface without a required field',
      [ec2Interface(), nameless, { ...nameless, NetworkInterfaceId: 'eni-9' }],
    ],
    ['one subnet in two networks', [ec2Interface(), { ...other, VpcId: 'vpc-00000002' }]],
    ['one subnet in two zones', [ec2Interface(), { ...other, AvailabilityZone: 'us-west-1b' }]],
  ])('is discarded when it answers a refresh: %s', async (_, NetworkInterfaces) => {
    const { client } = ec2({ DescribeNetworkInterfaces: [{ NetworkInterfaces }] });

    const failure = await failureOfRead(all(observe({ client, options, context }, instances)));

    expect(failure).toMatchObject({ kind: 'unreadable', action: 'DescribeNetworkInterfaces' });
  });

  test.each<[string, readonly Ec2NetworkInterface[]]>([
    ['an interface of another network than requested', [ec2Interface({ VpcId: 'vpc-00000003' })]],
    ['one interface twice', [other, other]],
    [
      'more than a quarter without a required field',
      [ec2Interface(), nameless, { ...nameless, NetworkInterfaceId: 'eni-9' }],
    ],
  ])('is discarded when it answers a listing: %s', async (_, NetworkInterfaces) => {
    const { client } = ec2({ DescribeNetworkInterfaces: [{ NetworkInterfaces }] });

    const failure = await failureOfRead(all(observe({ client, options, context }, networks)));

    expect(failure).toMatchObject({ kind: 'unreadable', action: 'DescribeNetworkInterfaces' });
  });

  test('is used for what can be read where an option says so, however much is spoiled', async () => {
    const spoiled = [{ Status: 'in-use' }, nameless, { ...nameless, NetworkInterfaceId: 'eni-9' }];
    const NetworkInterfaces = [...spoiled, ec2Interface()];
    const tolerant = { ...options, tolerance: 'all' } as const;
    const { client } = ec2({ DescribeNetworkInterfaces: [{ NetworkInterfaces }, { NetworkInterfaces }] });
    const [id] = instances.instanceIds;

    const listed = await all(observe({ client, options: tolerant, context }, networks));
    const read = await all(
      observe({ client, options: tolerant, context }, { kind: 'instances', instanceIds: [id] }),
    );

    for (const pages of [listed, read]) {
      const kinds = pages.flatMap(({ observations }) => observations.map(({ kind }) => kind));
      expect(kinds).toEqual(['unreadableInterface', 'unreadableInterface', 'interface']);
      expect(pages.reduce((sum, page) => sum + unreadableIn(page), 0)).toBe(3);
    }
  });

  test('loses only the spoiled interface when the others are sound', async () => {
    const many = Array.from({ length: 4 }, (__, index) =>
      ec2Interface({ NetworkInterfaceId: `eni-${index + 4}` }),
    );
    const { client } = ec2({ DescribeNetworkInterfaces: [{ NetworkInterfaces: [nameless, ...many] }] });

    const [page] = await all(observe({ client, options, context }, networks));

    expect(page?.observations).toHaveLength(5);
    expect(page?.observations[0]?.kind).toBe('unreadableInterface');
  });

  test.each([
    ['another instance than requested', described(['i-00000003', 'running'])],
    ['no instances in a reservation', { Reservations: [{}] }],
  ])('is discarded when it is about an instance: %s', async (_, answer) => {
    const { client } = ec2({
      DescribeNetworkInterfaces: [{ NetworkInterfaces: [ec2Interface()] }],
      DescribeInstances: [answer],
    });

    const failure = await failureOfRead(all(observe({ client, options, context }, instances)));

    expect(failure).toMatchObject({ kind: 'unreadable', action: 'DescribeInstances' });
  });

  test.each([
    ['a state that no instance has', ['i-00000002', 'rebooting'], 'the state of i-00000002 is rebooting'],
    ['no state', ['i-00000002', undefined], 'the state of i-00000002 is undefined'],
    ['no id', [undefined, 'running'], 'InstanceId of an instance is missing'],
  ] as const)('fails for that instance alone where one has %s', async (_, [InstanceId, Name], problem) => {
    const odd = { Instances: [{ InstanceId, State: { Name } }] };
    await expect(failedBeside(odd)).resolves.toEqual([['i-00000002', problem]]);
  });

  test.each([
    [
      'a name and a number of different states',
      [{ Name: 'terminated', Code: 16 }],
      'the state of i-00000002 is both terminated and 16',
    ],
    ['two states', [{ Name: 'running' }, { Name: 'terminated' }], 'i-00000002 is shown twice, in two states'],
  ])('fails for that instance alone where one has %s', async (_, states, problem) => {
    const odd = { Instances: states.map((State) => ({ InstanceId: 'i-00000002', State })) };
    await expect(failedBeside(odd)).resolves.toEqual([['i-00000002', problem]]);
  });

  /** The other instance runs. */
  async function failedBeside(odd: object): Promise<readonly (readonly string[])[]> {
    const { Reservations } = described(['i-00000001', 'running']) as { Reservations: object[] };
    const { client } = ec2({
      DescribeNetworkInterfaces: [{ NetworkInterfaces: [] }],
      DescribeInstances: [{ Reservations: [...Reservations, odd] }],
    });
    const pages = await all(observe({ client, options, context }, instances));
    expect(pages.flatMap(({ observations }) => observations)).toMatchObject([
      { kind: 'instance', instance: { id: 'i-00000001', state: 'running' } },
    ]);
    return pages.flatMap(({ failed = [] }) =>
      failed.map(({ instanceId, error }) => [instanceId, error.failure.message]),
    );
  }

  test.each<[string, string, object]>([
    ['DescribeSubnets', 'a subnet of another network', { Subnets: [ec2Subnet({ VpcId: 'vpc-00000009' })] }],
    ['DescribeSubnets', 'one subnet twice', { Subnets: [ec2Subnet(), ec2Subnet()] }],
    [
      'DescribeSubnets',
      'more free addresses than there are',
      { Subnets: [ec2Subnet({ AvailableIpAddressCount: 257 })] },
    ],
    ['DescribeSubnets', 'a block that is none', { Subnets: [ec2Subnet({ CidrBlock: '10.0.0.1/24' })] }],
    ['DescribeVpcs', 'another network', { Vpcs: [{ VpcId: 'vpc-00000009', CidrBlock: '10.0.0.0/16' }] }],
  ])('is discarded when it is about the network: %s shows %s', async (action, _, answer) => {
    const good = {
      DescribeSubnets: [{ Subnets: [ec2Subnet()] }],
      DescribeVpcs: [{ Vpcs: [{ VpcId: 'vpc-00000001', CidrBlock: '10.0.0.0/16' }] }],
      DescribeRouteTables: [{ RouteTables: [] }],
      DescribeSecurityGroups: [{ SecurityGroups: [] }],
    };
    const { client } = ec2({ ...good, [action]: [answer] });

    const failure = await failureOfRead(readInfrastructure({ client, options, context }, ['vpc-00000001']));

    expect(failure).toMatchObject({ kind: 'unreadable', action });
  });

  test.each<[string, 'routeTables' | 'securityGroups', object]>([
    ['DescribeRouteTables', 'routeTables', { RouteTables: [{ VpcId: 'vpc-00000001' }] }],
    [
      'DescribeSecurityGroups',
      'securityGroups',
      { SecurityGroups: [{ GroupId: '7', VpcId: 'vpc-00000001' }] },
    ],
  ])('costs only those who need it when few do: %s', async (action, part, answer) => {
    const good = {
      DescribeSubnets: [{ Subnets: [ec2Subnet()] }],
      DescribeVpcs: [{ Vpcs: [{ VpcId: 'vpc-00000001', CidrBlock: '10.0.0.0/16' }] }],
      DescribeRouteTables: [{ RouteTables: [] }],
      DescribeSecurityGroups: [{ SecurityGroups: [] }],
    };
    const { client } = ec2({ ...good, [action]: [answer] });

    const { infrastructure } = await readInfrastructure({ client, options, context }, ['vpc-00000001']);

    expect(infrastructure.subnets.size).toBe(1);
    const denied = {
      [part]: new Map([['vpc-00000001', expect.objectContaining({ kind: 'unreadable', action })]]),
    };
    expect(infrastructure.denied).toMatchObject(denied);
  });

  test('does not count what no instance holds, of which most may be in a form of its own', async () => {
    const ofServices = Array.from({ length: 3 }, (__, index) =>
      ec2Interface({
        NetworkInterfaceId: `eni-lb-${index}`,
        MacAddress: undefined,
        Attachment: { AttachmentId: 'ela-attach-1', Status: 'attached', InstanceId: `lb/${index}` },
        PrivateIpAddress: '10.0.0.9',
        PrivateIpAddresses: [{ PrivateIpAddress: '10.0.0.9' }],
      }),
    );
    const { client } = ec2({
      DescribeNetworkInterfaces: [{ NetworkInterfaces: [...ofServices, ec2Interface()] }],
    });

    const [page] = await all(observe({ client, options, context }, networks));

    expect(page?.observations).toMatchObject([{ kind: 'interface' }]);
    expect(page?.others?.map(({ holdings }) => holdings)).toEqual([['10.0.0.9'], ['10.0.0.9'], ['10.0.0.9']]);
  });

  test.each<[string, readonly Ec2InstanceType[]]>([
    ['a type without a name', [{}]],
    ['another type than requested', [{ InstanceType: 'm5.huge' }]],
    ['one type twice', [{ InstanceType: 'm5.large' }, { InstanceType: 'm5.large' }]],
  ])('is discarded when it is about instance types: %s', async (_, InstanceTypes) => {
    const { client } = ec2({ DescribeInstanceTypes: [{ InstanceTypes }] });

    const failure = await failureOfRead(readLimits(client, ['m5.large'], context));

    expect(failure).toMatchObject({ kind: 'unreadable', action: 'DescribeInstanceTypes' });
  });
});

describe('a read of instances of EC2', () => {
  test.each([
    [
      'which interface it is',
      { NetworkInterfaceId: undefined },
      'NetworkInterfaceId of an interface is missing',
    ],
    ['whose it is', { Attachment: {} }, 'Attachment.InstanceId of eni-2 is missing'],
  ])('proves nothing of what it lacks where an item does not say %s', async (_, change, problem) => {
    const odd = ec2Interface({ NetworkInterfaceId: 'eni-2', ...change });
    const { client } = ec2({ DescribeNetworkInterfaces: [{ NetworkInterfaces: [ec2Interface(), odd] }] });
    const [id] = instances.instanceIds;

    const [page] = await all(observe({ client, options, context }, { kind: 'instances', instanceIds: [id] }));

    expect(page?.observations).toMatchObject([{ kind: 'interface', interface: { id: 'eni-1' } }]);
    expect(page?.unclear).toEqual({
      count: 1,
      problem: `an item of DescribeNetworkInterfaces: ${problem}`,
      instanceIds: [id],
    });
  });
});
