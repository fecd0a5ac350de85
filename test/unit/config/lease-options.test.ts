import { describe, expect, test } from '@jest/globals';
import { accepted, load, type Outside, problemsOf } from './loading.ts';

describe('lease timings in the options', () => {
  test.each([
    ['15s', '10s', '2s'],
    ['11s', '10.999s', '9.1s'],
  ])('%s, %s, %s are accepted', (lease, renew, retry) => {
    const loaded = load({
      flags: {
        'leader-election-lease-duration': [lease],
        'leader-election-renew-deadline': [renew],
        'leader-election-retry-period': [retry],
      },
    });

    expect(loaded.kind).toBe('options');
  });

  test.each<[Outside, string]>([
    [
      { flags: { 'leader-election-renew-deadline': ['15s'] } },
      'leader-election-renew-deadline: "15s" from the flag --leader-election-renew-deadline is refused; accepted: less than leader-election-lease-duration, which is 15s (the default)',
    ],
    [
      { environment: { CILIUM_LEADER_ELECTION_LEASE_DURATION: '5s' } },
      'leader-election-renew-deadline: "10s" from the default is refused; accepted: less than leader-election-lease-duration, which is 5s (the environment variable CILIUM_LEADER_ELECTION_LEASE_DURATION)',
    ],
    [
      { flags: { 'leader-election-retry-period': ['8400ms'] } },
      'leader-election-retry-period: "8s400ms" from the flag --leader-election-retry-period is refused; accepted: a duration that multiplied by 1.2 is less than leader-election-renew-deadline, which is 10s (the default)',
    ],
  ])('are refused when they contradict: %j', (outside, line) => {
    expect(problemsOf(load(outside))).toEqual([line]);
  });
});

describe('the lease duration', () => {
  const never = 'nothing is ever released, detached or deleted: the lease is too short';
  const seldom = 'releases, detachments and deletions are delayed: the lease is barely long enough for them';

  test.each<[string, Readonly<Record<string, string>>, readonly string[]]>([
    ['of the default', {}, []],
    ['that a default time-out outlasts', { 'lease-duration': '5s', 'renew-deadline': '4s' }, [never]],
    ['that leaves little of itself', { 'lease-duration': '6s', 'renew-deadline': '4s' }, [seldom]],
  ])('%s is reported as too short when it is', (_, timings, expected) => {
    const given = Object.entries(timings).map(([name, text]) => [`leader-election-${name}`, [text]] as const);

    const { warnings } = accepted(
      load({ flags: { 'cluster-name': ['blue'], ...Object.fromEntries(given) } }),
    );

    expect(warnings.map(({ message }) => message)).toEqual(expected);
    for (const { details } of warnings) {
      expect(details['remedy']).toContain('--leader-election-lease-duration');
    }
  });
});
