import { describe, expect, test } from '@jest/globals';
import {
  type Activity,
  MutationPermission,
  noStops,
  type StopReason,
  type Stops,
} from '../../../src/providers/mutation-permission.ts';

describe('what may be begun', () => {
  test.each<[Partial<Stops>, Partial<Record<Activity, StopReason>>]>([
    [{}, {}],
    [{ dryRun: true }, { give: 'dryRun', takeAway: 'dryRun', publish: 'dryRun', tell: 'dryRun' }],
    [{ pause: ['releases'] }, { takeAway: 'paused' }],
    [{ pause: ['mutations'] }, { give: 'paused', takeAway: 'paused' }],
    [{ pause: ['releases', 'mutations'] }, { give: 'paused', takeAway: 'paused' }],
    [{ foreignWriter: 'suspected' }, { takeAway: 'foreignWriter' }],
    [
      { foreignWriter: 'atWork' },
      { give: 'foreignWriter', takeAway: 'foreignWriter', publish: 'foreignWriter' },
    ],
    [
      { foreignWriter: 'suspected', pause: ['mutations'] },
      { give: 'paused', takeAway: 'foreignWriter' },
    ],
    [
      { dryRun: true, pause: ['mutations'], foreignWriter: 'atWork' },
      { give: 'dryRun', takeAway: 'dryRun', publish: 'dryRun', tell: 'dryRun' },
    ],
  ])('%j', (stops, refused) => {
    const permission = new MutationPermission({ ...noStops, ...stops });

    const activities = ['give', 'takeAway', 'publish', 'tell'] as const;
    const found = activities.flatMap((activity) => {
      const reason = permission.refusal(activity);
      return reason === undefined ? [] : [[activity, reason] as const];
    });

    expect(Object.fromEntries(found)).toEqual(refused);
  });
});

describe('a change', () => {
  test('is told once, and only when it is one', () => {
    const permission = new MutationPermission(noStops);
    let told = 0;
    permission.onChange(() => told++);

    permission.change({ pause: ['releases'] });
    permission.change({ pause: ['releases'], dryRun: false });

    expect(told).toBe(1);
    expect(permission.stops).toEqual({ ...noStops, pause: ['releases'] });
  });
});
