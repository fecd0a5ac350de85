import { describe, expect, test } from '@jest/globals';
import { type GatewayRig, gatewayRig, instance, subnet } from './gateway-rig.ts';

interface Page {
  readonly NetworkInterfaces: readonly { readonly NetworkInterfaceId: string }[];
  readonly NextToken?: string;
}

async function make({ call }: GatewayRig, count: number): Promise<void> {
  for (let made = 0; made < count; made++) await call('CreateNetworkInterface', { SubnetId: subnet });
}

async function page({ call }: GatewayRig, input: Readonly<Record<string, unknown>>): Promise<Page> {
  return (await call('DescribeNetworkInterfaces', input)) as unknown as Page;
}

async function allPages(
  rig: GatewayRig,
  input: Readonly<Record<string, unknown>>,
): Promise<readonly string[][]> {
  const pages: string[][] = [];
  let token: string | undefined;
  do {
    const next = await page(rig, { ...input, ...(token !== undefined && { NextToken: token }) });
    pages.push(next.NetworkInterfaces.map((one) => one.NetworkInterfaceId));
    token = next.NextToken;
  } while (token !== undefined);
  return pages;
}

describe('pages of a listing', () => {
  test.each([
    [10, [5, 5, 1], 5],
    [9, [5, 5], 5],
    [4, [5], 1000],
  ])('show %i more interfaces in the sizes %j when the limit is %i', async (count, lengths, MaxResults) => {
    const rig = gatewayRig();
    await make(rig, count);

    const pages = await allPages(rig, { MaxResults });

    expect(pages.map((one) => one.length)).toEqual(lengths);
    expect(new Set(pages.flat())).toEqual(new Set(rig.gateway.network.interfaces.keys()));
  });

  test('have tokens that fit only the request they belong to', async () => {
    const rig = gatewayRig();
    await make(rig, 10);
    const { NextToken = '' } = await page(rig, { MaxResults: 5 });
    const filters = [{ Name: 'status', Values: ['available'] }];

    expect(await rig.codeOf('DescribeNetworkInterfaces', { NextToken })).toBe('none');
    for (const input of [
      { NextToken: 'x' },
      { NextToken: `${NextToken}x` },
      { NextToken, Filters: filters },
    ]) {
      expect(await rig.codeOf('DescribeNetworkInterfaces', input)).toBe('InvalidParameterValue');
    }
    expect(await rig.codeOf('DescribeInstances', { NextToken })).toBe('InvalidParameterValue');
  });

  test('show different instants: an interface created in between may be missed', async () => {
    const rig = gatewayRig();
    await make(rig, 30);
    const first = await page(rig, { MaxResults: 25 });
    await make(rig, 30);

    const second = await page(rig, { MaxResults: 1000, NextToken: first.NextToken });

    const seen = new Set(
      [...first.NetworkInterfaces, ...second.NetworkInterfaces].map((one) => one.NetworkInterfaceId),
    );
    expect(seen.size).toBe(first.NetworkInterfaces.length + second.NetworkInterfaces.length);
    expect(seen.size).toBeGreaterThan(31);
    expect(seen.size).toBeLessThan(61);
  });

  test('may be shorter than the request asks for', async () => {
    const rig = gatewayRig(
      'limits: { throttle: false }\nlatency: { scale: 0 }\nconsistency: { visibilityDelayMs: 0, listingLagMs: 0, shortPages: 1 }',
    );
    await make(rig, 60);

    const pages = await allPages(rig, { MaxResults: 10 });

    expect(pages.length).toBeGreaterThan(7);
    expect(pages.flat()).toHaveLength(61);
  });
});

describe('a listing in a large account', () => {
  test.each([
    ['everything', {}, 'OperationNotPermitted'],
    ['what is available', { Filters: [{ Name: 'status', Values: ['available'] }] }, 'OperationNotPermitted'],
    [
      'what an instance has',
      { Filters: [{ Name: 'attachment.instance-id', Values: [instance] }] },
      'OperationNotPermitted',
    ],
    ['any address', { Filters: [{ Name: 'private-ip-address', Values: ['*'] }] }, 'OperationNotPermitted'],
    ['a subnet', { Filters: [{ Name: 'subnet-id', Values: [subnet] }] }, 'none'],
    ['a page', { MaxResults: 1000 }, 'none'],
  ])('is refused unless it is narrow or paginated: %s: %s', async (_, input, expected) => {
    const rig = gatewayRig();
    rig.gateway.refuseUnpaginated = true;

    expect(await rig.codeOf('DescribeNetworkInterfaces', input)).toBe(expected);
  });
});
