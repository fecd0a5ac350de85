import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import {
  AssignIpv6AddressesCommand,
  type AssignIpv6AddressesCommandInput,
  AttachNetworkInterfaceCommand,
  CreateNetworkInterfaceCommand,
  type CreateNetworkInterfaceCommandInput,
  CreateSubnetCidrReservationCommand,
  DeleteSubnetCidrReservationCommand,
  DescribeNetworkInterfacesCommand,
  DescribeSubnetsCommand,
  GetSubnetCidrReservationsCommand,
  UnassignIpv6AddressesCommand,
} from '@aws-sdk/client-ec2';
import { parseIpv6Block } from '../../../../src/simulator/cloud/ipv6.ts';
import { plainCloud, type Rig, refusalOf, startRig } from './ec2-rig.ts';

const withIpv6 = 'subnet-0000000000000000a';
const without = 'subnet-0000000000000000b';
const onXen = 'i-00000000000000003';

let rig: Rig;
beforeEach(async () => {
  rig = await startRig(
    plainCloud.replace(
      'limits:',
      `  - { name: three, id: ${onXen}, type: t2.small, subnet: a, securityGroups: [nodes] }\nlimits:`,
    ),
  );
});
afterEach(async () => {
  await rig.close();
});

async function create(change: Partial<CreateNetworkInterfaceCommandInput> = {}): Promise<string> {
  const made = await rig.client.send(new CreateNetworkInterfaceCommand({ SubnetId: withIpv6, ...change }));
  return made.NetworkInterface?.NetworkInterfaceId ?? '';
}

async function prefixesShown(id: string): Promise<readonly (string | undefined)[]> {
  const page = await rig.client.send(new DescribeNetworkInterfacesCommand({ NetworkInterfaceIds: [id] }));
  return (page.NetworkInterfaces?.[0]?.Ipv6Prefixes ?? []).map(({ Ipv6Prefix }) => Ipv6Prefix);
}

async function assign(id: string, what: Partial<AssignIpv6AddressesCommandInput>) {
  const answer = await rig.client.send(new AssignIpv6AddressesCommand({ NetworkInterfaceId: id, ...what }));
  return answer.AssignedIpv6Prefixes;
}

const reserveAll = () =>
  rig.client.send(
    new CreateSubnetCidrReservationCommand({
      SubnetId: withIpv6,
      Cidr: '2001:db8:0:1::/64',
      ReservationType: 'explicit',
    }),
  );

/** Others hold every /80 of the subnet but the first ones. */
function holdAllBut(left: number): void {
  const space = rig.network.ipv6Space(withIpv6);
  const block = parseIpv6Block('2001:db8:0:1::/64');
  if (space === undefined || block === undefined) throw new Error('no IPv6 block');
  for (let index = 1 + left; index < 2 ** 16; index++)
    space.holdPrefix({ first: block.first + (BigInt(index) << 48n), length: 80 });
}

const available = () => rig.network.subnets.get(withIpv6)?.available;

describe('IPv6 prefixes', () => {
  test('come with a new interface, once for one client token, and take no IPv4 address', async () => {
    const before = available() ?? 0;
    const request = { ClientToken: 'token-1', SecondaryPrivateIpAddressCount: 2, Ipv6PrefixCount: 1 };
    const first = await create(request);
    const second = await create(request);

    const shown = await prefixesShown(first);

    expect(second).toBe(first);
    expect(shown).toEqual([expect.stringMatching(/^2001:db8:0:1:[0-9a-f]+::\/80$/)]);
    expect(available()).toBe(before - 3);
  });

  test('are assigned anew by each repeated request, because it has no client token', async () => {
    const id = await create();
    const first = await assign(id, { Ipv6PrefixCount: 1 });
    const second = await assign(id, { Ipv6PrefixCount: 1 });

    expect(await prefixesShown(id)).toEqual([...(first ?? []), ...(second ?? [])]);
  });

  test('are shown for the subnet that has a block of them', async () => {
    const { Subnets = [] } = await rig.client.send(new DescribeSubnetsCommand());

    expect(
      Subnets.map(({ Ipv6CidrBlockAssociationSet: set = [] }) =>
        set.map((one) => [one.Ipv6CidrBlock, one.Ipv6CidrBlockState?.State]),
      ),
    ).toEqual([[['2001:db8:0:1::/64', 'associated']], []]);
  });

  test.each([
    [
      'create, in a subnet without a block',
      'InvalidParameterValue',
      () => create({ SubnetId: without, Ipv6PrefixCount: 1 }),
    ],
    ['create, with a count of zero', 'InvalidParameterValue', () => create({ Ipv6PrefixCount: 0 })],
    [
      'create, with no free prefix',
      'InsufficientCidrBlocks',
      async () => {
        await reserveAll();
        return create({ SecondaryPrivateIpAddressCount: 2, Ipv6PrefixCount: 1 });
      },
    ],
    [
      'create, with fewer free prefixes than asked for',
      'InsufficientCidrBlocks',
      () => {
        holdAllBut(1);
        return create({ Ipv6PrefixCount: 2 });
      },
    ],
  ])('are refused with all of the request: %s', async (_, code, request) => {
    const before = [rig.network.interfaces.size, available()];

    const refused = await refusalOf(request());

    expect(refused.code).toBe(code);
    expect([rig.network.interfaces.size, available()]).toEqual(before);
  });

  test('go to requests until none is free, and again once one is', async () => {
    holdAllBut(2);
    const [first, second] = [await create(), await create()];
    const given = [await assign(first, { Ipv6PrefixCount: 1 }), await assign(second, { Ipv6PrefixCount: 1 })];

    const refused = await refusalOf(assign(first, { Ipv6PrefixCount: 1 }));
    await rig.client.send(
      new UnassignIpv6AddressesCommand({ NetworkInterfaceId: second, Ipv6Prefixes: given[1] ?? [] }),
    );

    expect(refused.code).toBe('InsufficientCidrBlocks');
    expect(await assign(first, { Ipv6PrefixCount: 1 })).toEqual(given[1]);
  });

  test.each([
    ['InvalidParameterValue', without, {}],
    ['PrivateIpAddressLimitExceeded', withIpv6, { Ipv6PrefixCount: 11 }],
    ['InvalidParameterValue', withIpv6, { Ipv6PrefixCount: undefined, Ipv6Prefixes: ['2001:db8:0:1::/64'] }],
  ])('meet %s', async (code, SubnetId, change) => {
    const id = await create({ SubnetId });
    if (SubnetId === withIpv6)
      await rig.client.send(
        new AttachNetworkInterfaceCommand({
          NetworkInterfaceId: id,
          InstanceId: 'i-00000000000000001',
          DeviceIndex: 1,
        }),
      );

    expect(await refusalOf(assign(id, { Ipv6PrefixCount: 1, ...change }))).toMatchObject({ code });
    expect(await prefixesShown(id)).toEqual([]);
  });

  test('are refused for an instance that is not built on Nitro, as is the attachment of one that has some', async () => {
    const own = [...rig.network.interfaces.values()].find(({ instanceId }) => instanceId === onXen);
    const made = await create({ Ipv6PrefixCount: 1 });

    const assigned = await refusalOf(assign(own?.id ?? '', { Ipv6PrefixCount: 1 }));
    const attached = await refusalOf(
      rig.client.send(
        new AttachNetworkInterfaceCommand({ NetworkInterfaceId: made, InstanceId: onXen, DeviceIndex: 1 }),
      ),
    );

    expect([assigned.code, attached.code]).toEqual(['UnsupportedOperation', 'UnsupportedOperation']);
  });

  test('of an explicit reservation go only to a request that names them', async () => {
    const { SubnetCidrReservation: made } = await reserveAll();
    const id = await create();

    const counted = await refusalOf(assign(id, { Ipv6PrefixCount: 1 }));
    const named = await assign(id, { Ipv6Prefixes: ['2001:db8:0:1:5::/80'] });
    const { SubnetIpv6CidrReservations: shown = [] } = await rig.client.send(
      new GetSubnetCidrReservationsCommand({ SubnetId: withIpv6 }),
    );
    await rig.client.send(
      new DeleteSubnetCidrReservationCommand({
        SubnetCidrReservationId: made?.SubnetCidrReservationId ?? '',
      }),
    );

    expect(counted.code).toBe('InsufficientCidrBlocks');
    expect(named).toEqual(['2001:db8:0:1:5::/80']);
    expect(shown.map(({ Cidr, ReservationType }) => [Cidr, ReservationType])).toEqual([
      ['2001:db8:0:1::/64', 'explicit'],
    ]);
    expect(await assign(id, { Ipv6PrefixCount: 1 })).toHaveLength(1);
  });
});
