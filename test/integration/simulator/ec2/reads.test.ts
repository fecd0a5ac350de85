import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import {
  DescribeAddressesCommand,
  DescribeAvailabilityZonesCommand,
  DescribeInstancesCommand,
  DescribeInstanceStatusCommand,
  DescribeInstanceTypesCommand,
  DescribeNetworkInterfacesCommand,
  DescribeRouteTablesCommand,
  DescribeSecurityGroupsCommand,
  DescribeSubnetsCommand,
  DescribeTagsCommand,
  DescribeVpcsCommand,
  GetSecurityGroupsForVpcCommand,
  GetSubnetCidrReservationsCommand,
  paginateDescribeInstances,
  paginateDescribeInstanceTypes,
  paginateDescribeNetworkInterfaces,
} from '@aws-sdk/client-ec2';
import { type Rig, refusalOf, startRig } from './ec2-rig.ts';

const vpc = 'vpc-00000000000000001';
const one = 'i-00000000000000001';

let rig: Rig;
beforeAll(async () => {
  rig = await startRig();
});
afterAll(async () => {
  await rig.close();
});

/** One part of the answer to a read, as the SDK reads it. */
const reads = {
  vpcs: async () => (await rig.client.send(new DescribeVpcsCommand({ VpcIds: [vpc] }))).Vpcs,
  subnets: async () =>
    (await rig.client.send(new DescribeSubnetsCommand({ Filters: [{ Name: 'vpc-id', Values: [vpc] }] })))
      .Subnets,
  routeTables: async () => (await rig.client.send(new DescribeRouteTablesCommand({}))).RouteTables,
  groups: async () =>
    (await rig.client.send(new DescribeSecurityGroupsCommand({ GroupIds: ['sg-00000000000000001'] })))
      .SecurityGroups,
  groupsForVpc: async () =>
    (await rig.client.send(new GetSecurityGroupsForVpcCommand({ VpcId: vpc }))).SecurityGroupForVpcs,
  instances: async () =>
    (
      await rig.client.send(
        new DescribeInstancesCommand({ Filters: [{ Name: 'tag:role', Values: ['node'] }] }),
      )
    ).Reservations,
  status: async () =>
    (await rig.client.send(new DescribeInstanceStatusCommand({ InstanceIds: [one] }))).InstanceStatuses,
  interfaces: async () =>
    (
      await rig.client.send(
        new DescribeNetworkInterfacesCommand({
          Filters: [{ Name: 'attachment.instance-id', Values: [one] }],
        }),
      )
    ).NetworkInterfaces,
  types: async () =>
    (await rig.client.send(new DescribeInstanceTypesCommand({ InstanceTypes: ['m5.large'] }))).InstanceTypes,
  tags: async () =>
    (
      await rig.client.send(
        new DescribeTagsCommand({
          Filters: [
            { Name: 'resource-id', Values: [one] },
            { Name: 'key', Values: ['role'] },
          ],
        }),
      )
    ).Tags,
  addresses: async () =>
    (
      await rig.client.send(
        new DescribeAddressesCommand({ Filters: [{ Name: 'tag:pool', Values: ['static'] }] }),
      )
    ).Addresses,
  zones: async () => (await rig.client.send(new DescribeAvailabilityZonesCommand({}))).AvailabilityZones,
  reservations: async () =>
    (await rig.client.send(new GetSubnetCidrReservationsCommand({ SubnetId: 'subnet-0000000000000000a' })))
      .SubnetIpv4CidrReservations,
};

describe('the SDK', () => {
  test.each([
    [
      'vpcs',
      [{ VpcId: vpc, CidrBlock: '10.0.0.0/16', CidrBlockAssociationSet: [{ CidrBlock: '10.0.0.0/16' }] }],
    ],
    [
      'subnets',
      [
        {
          SubnetId: 'subnet-0000000000000000a',
          AvailableIpAddressCount: 250,
          AvailabilityZone: 'us-east-1a',
        },
        {
          SubnetId: 'subnet-0000000000000000b',
          AvailableIpAddressCount: 250,
          AvailabilityZone: 'us-east-1b',
        },
      ],
    ],
    ['routeTables', [{ VpcId: vpc, Associations: [{ Main: true }] }]],
    ['groups', [{ GroupId: 'sg-00000000000000001', GroupName: 'nodes', VpcId: vpc }]],
    [
      'groupsForVpc',
      expect.arrayContaining([expect.objectContaining({ GroupName: 'nodes', PrimaryVpcId: vpc })]),
    ],
    [
      'instances',
      expect.arrayContaining([
        expect.objectContaining({
          Instances: [
            expect.objectContaining({
              InstanceId: one,
              InstanceType: 'm5.large',
              LaunchTime: expect.any(Date),
            }),
          ],
        }),
      ]),
    ],
    [
      'status',
      [{ InstanceId: one, InstanceState: { Name: 'running', Code: 16 }, SystemStatus: { Status: 'ok' } }],
    ],
    [
      'interfaces',
      [
        {
          Status: 'in-use',
          Groups: [{ GroupId: 'sg-00000000000000001', GroupName: 'nodes' }],
          Attachment: { InstanceId: one, DeviceIndex: 0, Status: 'attached', DeleteOnTermination: true },
          PrivateIpAddresses: [{ Primary: true }],
        },
      ],
    ],
    [
      'types',
      [
        {
          Hypervisor: 'nitro',
          BareMetal: false,
          NetworkInfo: { MaximumNetworkInterfaces: 3, Ipv4AddressesPerInterface: 10 },
        },
      ],
    ],
    ['tags', [{ Key: 'role', Value: 'node', ResourceId: one, ResourceType: 'instance' }]],
    ['addresses', [{ Domain: 'vpc' }, { Domain: 'vpc' }]],
    ['zones', [{ ZoneName: 'us-east-1a' }, { ZoneName: 'us-east-1b' }]],
    ['reservations', []],
  ] as const)('reads %s', async (what, expected) => {
    expect(await reads[what]()).toMatchObject(expected);
  });

  test('reads pages as far as its paginators go', async () => {
    const types: string[] = [];
    for await (const page of paginateDescribeInstanceTypes({ client: rig.client, pageSize: 20 }, {})) {
      types.push(...(page.InstanceTypes ?? []).map(({ InstanceType = '' }) => InstanceType));
    }
    const instances: number[] = [];
    for await (const page of paginateDescribeInstances({ client: rig.client, pageSize: 5 }, {})) {
      instances.push(page.Reservations?.length ?? 0);
    }
    let interfaces = 0;
    for await (const page of paginateDescribeNetworkInterfaces({ client: rig.client, pageSize: 1000 }, {})) {
      interfaces += page.NetworkInterfaces?.length ?? 0;
    }

    expect(types.length).toBeGreaterThanOrEqual(40);
    expect(new Set(types).size).toBe(types.length);
    expect(instances).toEqual([2]);
    expect(interfaces).toBe(2);
  });

  test('reads refusals as exceptions with code, status and message', async () => {
    const unknown = new DescribeNetworkInterfacesCommand({ NetworkInterfaceIds: ['eni-00000000000000000'] });
    const mixed = new DescribeNetworkInterfacesCommand({
      NetworkInterfaceIds: ['eni-00000000000000000'],
      MaxResults: 5,
    });

    expect(await refusalOf(rig.client.send(unknown))).toEqual({
      code: 'InvalidNetworkInterfaceID.NotFound',
      status: 400,
      message: "The networkInterface ID 'eni-00000000000000000' does not exist",
    });
    expect(await refusalOf(rig.client.send(mixed))).toMatchObject({
      code: 'InvalidParameterCombination',
      status: 400,
    });
  });
});
