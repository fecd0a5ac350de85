import { describe, expect, test } from '@jest/globals';
import {
  type Activity,
  foreignReach,
  type ForeignReach,
  MutationPermission,
  noStops,
  type StopReason,
  type Stops,
} from '../../../../src/providers/gate/mutation-permission.ts';

describe('the permission to start operations', () => {
  test.each<[Partial<Stops>, Partial<Record<Activity, StopReason>>]>([
    [{}, {}],
    [{ dryRun: true }, { give: 'dryRun', takeAway: 'dryRun', publish: 'dryRun', tell: 'dryRun' }],
    [{ pause: ['releases'] }, { takeAway: 'paused' }],
    [{ withdrawalsHeld: true }, { takeAway: 'withdrawalsHeld' }],
    [
      { dryRun: true, withdrawalsHeld: true },
      { give: 'dryRun', takeAway: 'dryRun', publish: 'dryRun', tell: 'dryRun' },
    ],
    [{ pause: ['mutations'] }, { give: 'paused', takeAway: 'paused' }],
    [{ pause: ['releases', 'mutations'] }, { give: 'paused', takeAway: 'paused' }],
    [{ conflictingWriter: 'suspected' }, { takeAway: 'conflictingWriter' }],
    [
      { conflictingWriter: 'atWork' },
      { give: 'conflictingWriter', takeAway: 'conflictingWriter', publish: 'conflictingWriter' },
    ],
    [
      { conflictingWriter: 'suspected', pause: ['mutations'] },
      { give: 'paused', takeAway: 'conflictingWriter' },
    ],
    [
      { dryRun: true, pause: ['mutations'], conflictingWriter: 'atWork' },
      { give: 'dryRun', takeAway: 'dryRun', publish: 'dryRun', tell: 'dryRun' },
    ],
  ])('follows from %j', (stops, refused) => {
    const permission = new MutationPermission({ ...noStops, ...stops });

    const activities = ['give', 'takeAway', 'publish', 'tell'] as const;
    const found = activities.flatMap((activity) => {
      const reason = permission.refusal(activity);
      return reason === undefined ? [] : [[activity, reason] as const];
    });

    expect(Object.fromEntries(found)).toEqual(refused);
  });
});

describe('the pause for a conflicting writer', () => {
  test.each<[Partial<Stops>, ForeignReach | undefined]>([
    [{ foreignlyWritten: ['a'] }, undefined],
    [{ conflictingWriter: 'suspected' }, 'releases'],
    [{ conflictingWriter: 'atWork', foreignlyWritten: ['a', 'b'] }, 'node'],
    [{ conflictingWriter: 'atWork' }, 'fleet'],
  ])('has its scope for %j', (stops, reach) => {
    expect(foreignReach({ ...noStops, ...stops })).toBe(reach);
  });
});

describe('an operation in flight', () => {
  test('continues whatever pauses new operations, except that held withdrawals end those that take away', () => {
    const permission = new MutationPermission({
      dryRun: true,
      pause: ['mutations'],
      conflictingWriter: 'atWork',
      withdrawalsHeld: false,
    });
    const goesOn = (): unknown[] =>
      (['give', 'takeAway'] as const).map((each) => permission.refusalToGoOn(each));
    const before = goesOn();

    permission.change({ withdrawalsHeld: true });

    expect(before).toEqual([undefined, undefined]);
    expect(goesOn()).toEqual([undefined, 'withdrawalsHeld']);
  });
});

describe('a change of the permission', () => {
  test('is reported once, and only if something changes', () => {
    const permission = new MutationPermission(noStops);
    let told = 0;
    permission.onChange(() => told++);

    permission.change({ pause: ['releases'] });
    permission.change({ pause: ['releases'], dryRun: false });

    expect(told).toBe(1);
    expect(permission.stops).toEqual({ ...noStops, pause: ['releases'] });
  });
});
