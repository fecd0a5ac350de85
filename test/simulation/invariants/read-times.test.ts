import { describe, expect, test } from '@jest/globals';
import { ReadTimes } from './read-times.ts';

const vm = '/subscriptions/s/scalesets/set-0/virtualmachines/17';
const now = 1_000;

/** When the instance was last read, after one answer about these. */
function lastOf(instance: string, read: readonly string[]): number {
  const times = new ReadTimes(() => now);
  times.add('one', read);
  return times.last('one', instance, now);
}

describe('an instance', () => {
  test.each([
    ['itself', vm, vm],
    ['every instance', 'i-1', '*'],
    ['all of its scale set', vm, '/subscriptions/s/scalesets/set-0/virtualmachines/*'],
  ])('is read by an answer about %s', (_, instance, read) => {
    expect(lastOf(instance, [read])).toBe(now);
  });

  test.each([
    ['another instance', 'i-1', 'i-2'],
    ['all of another scale set', vm, '/subscriptions/s/scalesets/set-1/virtualmachines/*'],
    ['those of a group that no scale set has', vm, '/subscriptions/s/virtualmachines/*'],
  ])('is not read by an answer about %s', (_, instance, read) => {
    expect(lastOf(instance, [read])).toBe(-Infinity);
  });

  test('is read by the controller that got the answer, from then on', () => {
    const times = new ReadTimes(() => now);
    times.add('one', ['*']);

    expect(times.last('another', 'i-1', now)).toBe(-Infinity);
    expect(times.last('one', 'i-1', now - 1)).toBe(-Infinity);
  });
});
