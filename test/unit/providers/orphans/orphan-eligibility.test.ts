import { describe, expect, test } from '@jest/globals';
import {
  dueForCollection,
  fitnessOf,
  type Orphan,
} from '../../../../src/providers/orphans/orphan-eligibility.ts';
import { networkInterface } from '../interfaces.ts';

const minute = 60_000;

/** Shown detached for five minutes, and needed by no node. */
function orphan(change: Partial<Orphan> = {}, id = 'eni-1'): Orphan {
  return {
    interface: networkInterface({ id, attachment: undefined }),
    firstAt: 0,
    lastAt: 5 * minute,
    changedAt: -Infinity,
    held: false,
    claimed: false,
    unfit: false,
    operation: 'unknown',
    ...change,
  };
}

const ofAService = networkInterface({ attachment: undefined, reservedFor: 'requester-managed' });

describe('a detached interface for a node that needs one', () => {
  test.each<[string, Partial<Orphan>, 'fit' | 'unclear' | 'unfit']>([
    ['seen twice, a window apart', { lastAt: 30_000 }, 'fit'],
    ['seen twice, less than a window apart', { lastAt: 29_999 }, 'unclear'],
    ['seen once', { firstAt: 100, lastAt: 0 }, 'unclear'],
    ['seen once, left by a creation of ours that ended', { lastAt: 0, operation: 'ended' }, 'fit'],
    ['read before readings show what we took from it', { lastAt: 49_999, changedAt: 20_000 }, 'unclear'],
    ['read after that', { lastAt: 50_000, changedAt: 20_000 }, 'fit'],
    ['left by us, and read before that', { lastAt: 9, changedAt: 0, operation: 'ended' }, 'unclear'],
    ['made by a creation of ours in flight', { operation: 'inFlight' }, 'unfit'],
    ['acted on by this process', { claimed: true }, 'unfit'],
    ['still an instance’s, as far as is known', { held: true, operation: 'ended' }, 'unfit'],
    ['not to be attached, as was tried', { unfit: true }, 'unfit'],
    ['not to be attached, and left by us', { unfit: true, operation: 'ended' }, 'unfit'],
    ['made by a service of the cloud', { interface: ofAService }, 'unfit'],
  ])('is adoptable, or not, when it is %s', (_, change, expected) => {
    expect(fitnessOf(orphan(change), 30_000)).toBe(expected);
  });
});

describe('a detached interface before its deletion', () => {
  test.each<[string, Partial<Orphan>, boolean]>([
    ['seen for an interval', {}, true],
    ['seen for a little less', { firstAt: 1 }, false],
    ['seen once, however late', { firstAt: 9 * minute, lastAt: 9 * minute }, false],
    ['left by a creation of ours that ended', { operation: 'ended' }, true],
    ['left by a creation of ours that ended just now', { firstAt: 4 * minute, operation: 'ended' }, false],
    ['that could not be attached', { unfit: true }, true],
    ['made by a creation of ours in flight', { operation: 'inFlight' }, false],
    ['still an instance’s, as far as is known', { held: true }, false],
    ['acted on by this process', { claimed: true }, false],
    ['made by a service of the cloud', { interface: ofAService }, false],
  ])('is due or not when %s: %j %s', (_, change, expected) => {
    const due = dueForCollection([orphan(change)], { interval: 5 * minute, max: 25, isOurs: () => true });

    expect(due).toHaveLength(expected ? 1 : 0);
  });

  test('is not due when it was seen detached for less than a minute, however often it was read', () => {
    const due = (lastAt: number): number =>
      dueForCollection([orphan({ lastAt })], { interval: 5000, max: 25, isOurs: () => true }).length;

    expect([due(minute - 1), due(minute)]).toEqual([0, 1]);
  });

  test('is deleted in order of age, and no more at once than allowed', () => {
    const orphans = [
      orphan({ firstAt: 3 }, 'eni-3'),
      orphan({ firstAt: 1 }, 'eni-b'),
      orphan({ firstAt: 1 }, 'eni-a'),
      orphan({ firstAt: 0 }, 'eni-z'),
    ];

    const due = dueForCollection(orphans, { interval: minute, max: 3, isOurs: () => true });

    expect(due.map((item) => item.interface.id)).toEqual(['eni-z', 'eni-a', 'eni-b']);
  });
});
