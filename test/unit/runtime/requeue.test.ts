import { expect, test } from '@jest/globals';
import { leastOf, type Requeue, requeueAt } from '../../../src/runtime/requeue.ts';

test.each<[string, readonly Requeue[], Requeue]>([
  ['of no part', [], {}],
  ['of parts that wait for events', [{}, { requeueAfter: undefined }], {}],
  [
    'of a part that waits for an event and one that waits for a time',
    [{}, { requeueAfter: 5 }],
    { requeueAfter: 5 },
  ],
  ['of a part that goes on at once', [{ requeueAfter: 5 }, { requeueAfter: 0 }], { requeueAfter: 0 }],
])('the least wait %s is kept', (_, parts, expected) => {
  expect(leastOf(parts)).toEqual(expected);
});

test.each<[string, readonly number[], Requeue]>([
  ['the first time that lies ahead', [9, 12, 11, Infinity], { requeueAfter: 1 }],
  ['nothing, if none does', [9, 10, Infinity], {}],
])('a part waits for %s', (_, times, expected) => {
  expect(requeueAt(times, 10)).toEqual(expected);
});
