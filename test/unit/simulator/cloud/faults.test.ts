import { describe, expect, test } from '@jest/globals';
import { Random } from '../../../../src/runtime/random.ts';
import { type FaultRule, Faults } from '../../../../src/simulator/cloud/faults.ts';

const rule = (change: Partial<FaultRule>): FaultRule => ({
  action: '*',
  rate: 1,
  match: {},
  fault: { kind: 'throttle' },
  ...change,
});

describe('Faults', () => {
  test.each([
    ['any action', rule({}), 'DescribeVpcs', {}, 1],
    ['its action', rule({ action: 'DescribeVpcs' }), 'DescribeVpcs', {}, 1],
    ['another action', rule({ action: 'DescribeVpcs' }), 'DescribeSubnets', {}, 0],
    ['a parameter', rule({ match: { SubnetId: 's' } }), 'CreateNetworkInterface', { SubnetId: 's' }, 1],
    ['another value', rule({ match: { SubnetId: 's' } }), 'CreateNetworkInterface', { SubnetId: 't' }, 0],
    [
      'one of a list',
      rule({ match: { InstanceIds: 'i' } }),
      'DescribeInstances',
      { InstanceIds: ['h', 'i'] },
      1,
    ],
    ['a number', rule({ match: { DeviceIndex: '1' } }), 'AttachNetworkInterface', { DeviceIndex: 1 }, 1],
    ['no chance', rule({ rate: 0 }), 'DescribeVpcs', {}, 0],
  ])('match as their rule says: %s', (_, given, action, input, met) => {
    const faults = new Faults(new Random('faults'));
    faults.add(given);

    expect(faults.meet(action, input)).toHaveLength(met);
  });

  test('strike as often as their rule says, in the order of their rules, and slowness joins any other fault', () => {
    const faults = new Faults(new Random('faults'));
    faults.add(rule({ fault: { kind: 'slow', ms: 5 } }));
    const once = faults.add(rule({ count: 1, fault: { kind: 'garbled', form: 'empty' } }));
    faults.add(rule({ count: 1 }));

    const met = [1, 2, 3].map(() => faults.meet('DescribeVpcs', {}).map(({ kind }) => kind));

    expect(met).toEqual([['slow', 'garbled'], ['slow', 'throttle'], ['slow']]);
    expect(faults.rules.find(({ id }) => id === once)?.met).toBe(1);
    expect(faults.remove(once)).toBe(true);
    expect(faults.remove(once)).toBe(false);
    faults.clear();
    expect(faults.meet('DescribeVpcs', {})).toEqual([]);
  });

  test('strike about as often as their rate says', () => {
    const faults = new Faults(new Random('faults'));
    faults.add(rule({ rate: 0.25 }));

    const met = Array.from({ length: 4000 }, () => faults.meet('DescribeVpcs', {}).length);

    const share = met.reduce((sum, one) => sum + one, 0) / met.length;
    expect(share).toBeGreaterThan(0.22);
    expect(share).toBeLessThan(0.28);
  });
});
