import { describe, expect, test } from '@jest/globals';
import {
  type Activity,
  conflictReach,
  type ConflictReach,
  MutationPermission,
  noPauses,
  type PauseReason,
  type Pauses,
} from '../../../../src/providers/gate/mutation-permission.ts';

describe('the permission to start operations', () => {
  test.each<[Partial<Pauses>, Partial<Record<Activity, PauseReason>>]>([
    [{}, {}],
    [{ dryRun: true }, { allocate: 'dryRun', release: 'dryRun', publish: 'dryRun', notify: 'dryRun' }],
    [{ pause: ['releases'] }, { release: 'paused' }],
    [{ withdrawalsHeld: true }, { release: 'withdrawalsHeld' }],
    [
      { dryRun: true, withdrawalsHeld: true },
      { allocate: 'dryRun', release: 'dryRun', publish: 'dryRun', notify: 'dryRun' },
    ],
    [{ pause: ['mutations'] }, { allocate: 'paused', release: 'paused' }],
    [{ pause: ['releases', 'mutations'] }, { allocate: 'paused', release: 'paused' }],
    [{ conflictingWriter: 'suspected' }, { release: 'conflictingWriter' }],
    [
      { conflictingWriter: 'atWork' },
      { allocate: 'conflictingWriter', release: 'conflictingWriter', publish: 'conflictingWriter' },
    ],
    [
      { conflictingWriter: 'suspected', pause: ['mutations'] },
      { allocate: 'paused', release: 'conflictingWriter' },
    ],
    [
      { dryRun: true, pause: ['mutations'], conflictingWriter: 'atWork' },
      { allocate: 'dryRun', release: 'dryRun', publish: 'dryRun', notify: 'dryRun' },
    ],
  ])('follows from %j', (pauses, refused) => {
    const permission = new MutationPermission({ ...noPauses, ...pauses });

    const activities = ['allocate', 'release', 'publish', 'notify'] as const;
    const found = activities.flatMap((activity) => {
      const reason = permission.refusal(activity);
      return reason === undefined ? [] : [[activity, reason] as const];
    });

    expect(Object.fromEntries(found)).toEqual(refused);
  });
});

describe('the pause for a conflicting writer', () => {
  test.each<[Partial<Pauses>, ConflictReach | undefined]>([
    [{ conflictingNodes: ['a'] }, undefined],
    [{ conflictingWriter: 'suspected' }, 'releases'],
    [{ conflictingWriter: 'atWork', conflictingNodes: ['a', 'b'] }, 'node'],
    [{ conflictingWriter: 'atWork' }, 'fleet'],
  ])('has its scope for %j', (pauses, reach) => {
    expect(conflictReach({ ...noPauses, ...pauses })).toBe(reach);
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
      (['allocate', 'release'] as const).map((each) => permission.refusalToGoOn(each));
    const before = goesOn();

    permission.change({ withdrawalsHeld: true });

    expect(before).toEqual([undefined, undefined]);
    expect(goesOn()).toEqual([undefined, 'withdrawalsHeld']);
  });
});

describe('a change of the permission', () => {
  test('is reported once, and only if something changes', () => {
    const permission = new MutationPermission(noPauses);
    let reported = 0;
    permission.onChange(() => reported++);

    permission.change({ pause: ['releases'] });
    permission.change({ pause: ['releases'], dryRun: false });

    expect(reported).toBe(1);
    expect(permission.pauses).toEqual({ ...noPauses, pause: ['releases'] });
  });
});
