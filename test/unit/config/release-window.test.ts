import { describe, expect, test } from '@jest/globals';
import { releaseWindowOf } from '../../../src/config/release-window.ts';

interface Row {
  readonly lease: number;
  readonly retry: number;
  readonly timeout: number;
  readonly kind: ReturnType<typeof releaseWindowOf>['kind'];
  readonly remedy?: string;
}

function decide({ lease, retry, timeout }: Row, leaderElection = true): ReturnType<typeof releaseWindowOf> {
  return releaseWindowOf({
    leaderElection,
    leaderElectionLeaseDuration: lease,
    leaderElectionRetryPeriod: retry,
    cloudCallTimeout: timeout,
  });
}

const longer = 'set --leader-election-lease-duration to';

describe('a lease and the time-out of calls that take something away', () => {
  test.each<Row>([
    { lease: 15_000, retry: 2000, timeout: 30_000, kind: 'free' },
    { lease: 3000, retry: 1000, timeout: 1500, kind: 'free' },
    { lease: 7001, retry: 2000, timeout: 30_000, kind: 'free' },
    {
      lease: 7000,
      retry: 2000,
      timeout: 30_000,
      kind: 'seldom',
      remedy: `${longer} 8s or more, or --cloud-call-timeout to 4s or less`,
    },
    {
      lease: 5001,
      retry: 2000,
      timeout: 30_000,
      kind: 'seldom',
      remedy: `${longer} 8s or more, or --cloud-call-timeout to 2s1ms or less`,
    },
    {
      lease: 5000,
      retry: 2000,
      timeout: 30_000,
      kind: 'never',
      remedy: `${longer} 8s or more, or --cloud-call-timeout to 2s or less`,
    },
    {
      lease: 3000,
      retry: 1000,
      timeout: 8000,
      kind: 'never',
      remedy: `${longer} 7s or more, or --cloud-call-timeout to 1s or less`,
    },
    { lease: 2000, retry: 500, timeout: 2000, kind: 'never', remedy: `${longer} 4s or more` },
  ])('are compared: $lease, renewed every $retry, and $timeout are $kind', (row) => {
    const decision = decide(row);

    expect(decision.kind).toBe(row.kind);
    expect(decision.kind === 'free' ? undefined : decision.remedy).toBe(row.remedy);
  });

  test('work with each suggested remedy', () => {
    const before = { lease: 5000, retry: 2000, timeout: 30_000, kind: 'never' } as const;

    expect(decide({ ...before, lease: 8000 }).kind).toBe('free');
    expect(decide({ ...before, timeout: 2000 }).kind).toBe('free');
  });

  test('do not depend on each other without an election', () => {
    expect(decide({ lease: 1000, retry: 500, timeout: 5000, kind: 'free' }, false)).toEqual({ kind: 'free' });
  });
});
