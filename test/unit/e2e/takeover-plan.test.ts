import { describe, expect, test } from '@jest/globals';
import { takeoverPlan } from '../../e2e/rig/takeover-plan.ts';

describe('the plan of takeovers', () => {
  test('has ten kills of leaders with a lease of 3 s by default', () => {
    const { flags, ...plan } = takeoverPlan({});

    expect(plan).toEqual({ kills: 10, lease: 3000, nodes: 20 });
    expect(flags).toEqual([
      '--leader-election-lease-duration=3s',
      '--leader-election-renew-deadline=2s',
      '--leader-election-retry-period=1s',
      '--cloud-call-timeout=1s500ms',
    ]);
  });

  test('has the timings of the defaults when the lease is 15 s', () => {
    const { flags } = takeoverPlan({ HEADWATER_E2E_LEASE: '15s' });

    expect(flags.slice(0, 3)).toEqual([
      '--leader-election-lease-duration=15s',
      '--leader-election-renew-deadline=10s',
      '--leader-election-retry-period=2s',
    ]);
  });

  test.each([
    [{ HEADWATER_E2E_KILLS: '0' }, '--kills is 0'],
    [{ HEADWATER_E2E_KILLS: 'ten' }, '--kills is ten'],
    [{ HEADWATER_E2E_NODES: '1.5' }, '--nodes is 1.5'],
    [{ HEADWATER_E2E_LEASE: '2s' }, '--lease is 2s'],
    [{ HEADWATER_E2E_LEASE: '3500ms' }, '--lease is 3500ms'],
    [{ HEADWATER_E2E_LEASE: '' }, '--lease is '],
  ])('refuses %j', (environment, said) => {
    expect(() => takeoverPlan(environment)).toThrow(said);
  });
});
