import { describe, expect, test } from '@jest/globals';
import { VirtualClock } from '../../../support/virtual-clock.ts';
import { RequestLimits } from '../../../../src/simulator/ec2/request-limits.ts';

/** How many of many simultaneous requests are allowed, and how many a second later. */
async function burst(action: string, whole = false, scale = 1): Promise<readonly [number, number]> {
  const clock = new VirtualClock();
  const limits = new RequestLimits(clock, { throttle: true, scale });
  const count = (): number =>
    Array.from({ length: 1000 }, () => limits.allow({ action, whole })).filter(Boolean).length;
  const first = count();
  await clock.advance(1000);
  return [first, count()];
}

describe('RequestLimits', () => {
  test.each([
    ['DescribeNetworkInterfaces', false, 100, 20],
    ['DescribeNetworkInterfaces', true, 50, 10],
    ['DescribeInstances', true, 50, 10],
    ['DescribeSecurityGroups', true, 50, 10],
    ['DescribeVpcs', true, 100, 20],
    ['GetSecurityGroupsForVpc', false, 100, 20],
    ['AttachNetworkInterface', false, 50, 5],
    ['DetachNetworkInterface', false, 50, 5],
    ['AssociateAddress', false, 50, 5],
    ['AssignPrivateIpAddresses', false, 100, 5],
    ['UnassignPrivateIpAddresses', false, 100, 5],
    ['AssignIpv6Addresses', false, 50, 5],
    ['CreateNetworkInterface', false, 100, 5],
    ['DeleteNetworkInterface', false, 100, 5],
    ['ModifyNetworkInterfaceAttribute', false, 100, 5],
    ['CreateTags', false, 100, 10],
    ['DeleteTags', false, 100, 10],
    ['RunInstances', false, 5, 2],
    ['TerminateInstances', false, 100, 5],
  ])(
    'allow %s (whole listing: %p) %i calls at once, then %i a second',
    async (action, whole, capacity, refill) => {
      expect(await burst(action, whole)).toEqual([capacity, refill]);
    },
  );

  test('take whole listings and narrow ones from different buckets', () => {
    const limits = new RequestLimits(new VirtualClock(), { throttle: true, scale: 1 });
    limits.drain({ action: 'DescribeInstances', whole: true }, 50);

    expect(limits.allow({ action: 'DescribeInstances', whole: true })).toBe(false);
    expect(limits.allow({ action: 'DescribeInstances', whole: false })).toBe(true);
    expect(limits.levels()).toEqual({ DescribeInstances: 99, 'DescribeInstances (whole)': 0 });
  });

  test('charge tokens for instances as well', () => {
    const limits = new RequestLimits(new VirtualClock(), { throttle: true, scale: 1 });

    const allowed = [600, 600].map((made) => limits.allow({ action: 'RunInstances', whole: false, made }));

    expect(allowed).toEqual([true, false]);
  });

  test('scale with the settings, or are off', async () => {
    const off = new RequestLimits(new VirtualClock(), { throttle: false, scale: 1 });
    off.drain({ action: 'DescribeVpcs', whole: false }, 1000);

    expect(await burst('CreateTags', false, 2)).toEqual([200, 20]);
    expect(off.allow({ action: 'DescribeVpcs', whole: false })).toBe(true);
    off.change({ throttle: true, scale: 0.01 });
    expect([1, 2].map(() => off.allow({ action: 'DescribeVpcs', whole: false }))).toEqual([true, false]);
  });
});
