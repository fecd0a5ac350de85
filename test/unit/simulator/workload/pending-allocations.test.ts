import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { demandOf, PendingAllocations } from '../../../../src/simulator/workload/pending-allocations.ts';

const minute = 60_000;

describe('demandOf', () => {
  test('adds the buffer to the addresses that are used or awaited', () => {
    fc.assert(
      fc.property(fc.nat(500), fc.nat(500), fc.nat(64), (inUse, pending, preAllocate) => {
        expect(demandOf({ inUse, pending, preAllocate }) - preAllocate).toBe(inUse + pending);
      }),
    );
  });
});

describe('PendingAllocations', () => {
  test('counts each owner once, until it succeeds', () => {
    const pending = new PendingAllocations();

    pending.failed('a', 0);
    pending.failed('a', 1_000);
    pending.failed('b', 1_000);
    pending.fulfilled('b');
    pending.fulfilled('never seen');

    expect(pending.count(2_000)).toBe(1);
  });

  test('counts an owner for five minutes after its last failure', () => {
    const pending = new PendingAllocations();

    pending.failed('a', 0);
    pending.failed('b', 0);
    pending.failed('b', 2 * minute);

    expect([5 * minute, 5 * minute + 1, 7 * minute, 7 * minute + 1].map((now) => pending.count(now))).toEqual(
      [2, 1, 1, 0],
    );
  });
});
