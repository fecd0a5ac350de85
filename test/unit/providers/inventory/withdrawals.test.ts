import { describe, expect, test } from '@jest/globals';
import {
  type Absence,
  type AbsenceEvidence,
  type Withdrawal,
  withdrawalBy,
} from '../../../../src/providers/inventory/withdrawals.ts';

const absence: Absence = {
  byId: true,
  ownerShown: true,
  missedAt: 100,
  readAt: 130,
  consistencyWindow: 30,
  isReleasing: false,
};
const missing = (change: Partial<Absence>): AbsenceEvidence => ({ kind: 'missing', ...absence, ...change });
const elsewhere = { kind: 'addressElsewhere', sameNetwork: true, conflictAt: 10 } as const;

describe('the evidence about an interface or an address', () => {
  test.each<[string, AbsenceEvidence, Withdrawal]>([
    ['a terminated instance no longer has anything', { kind: 'terminated' }, 'now'],
    [
      'an interface that is shown detached or on another instance is gone once a later read by id does not show it',
      { kind: 'interfaceElsewhere', shownAt: 10, readAt: 10 },
      'now',
    ],
    [
      'an interface that is shown detached or on another instance stays for a read that started before that',
      { kind: 'interfaceElsewhere', shownAt: 10, readAt: 9 },
      'later',
    ],
    [
      'an address on another interface of the network is gone once both are read by id after the conflict',
      { ...elsewhere, bothReadAt: 10 },
      'now',
    ],
    [
      'an address on another interface stays while one of the two is not read',
      { ...elsewhere, bothReadAt: undefined },
      'later',
    ],
    [
      'an address on another interface stays when one of the reads started before the conflict',
      { ...elsewhere, bothReadAt: 9 },
      'later',
    ],
    [
      'the same address in another network says nothing',
      { ...elsewhere, sameNetwork: false, bothReadAt: 10 },
      'never',
    ],
    [
      'what two reads of a complete owner lack, a window apart, is counted by the brake',
      missing({}),
      'gated',
    ],
    [
      'what a call of ours may have taken, after the agent released it, is not counted by the brake',
      missing({ isReleasing: true }),
      'now',
    ],
    [
      'what a call of ours may have taken waits for another read as well',
      missing({ isReleasing: true, missedAt: undefined }),
      'later',
    ],
    ['what one read misses waits for another', missing({ missedAt: undefined }), 'later'],
    ['two reads too close to each other are not two', missing({ readAt: 129 }), 'later'],
    ['what a listing misses is not missing', missing({ byId: false }), 'never'],
    [
      'what is missing together with its owner does not count as missing',
      missing({ ownerShown: false }),
      'never',
    ],
    [
      'an owner that is not shown takes nothing with it, however often',
      missing({ ownerShown: false, readAt: 1e9 }),
      'never',
    ],
  ])('%s', (_, evidence, expected) => {
    expect(withdrawalBy(evidence)).toBe(expected);
  });
});
