import { expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { EventQueue } from '../../../../bench/peers/event-queue.ts';

test('the event queue runs events by time, and those of one time in the order in which they were added', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: 9 })), (delays) => {
      const queue = new EventQueue();
      const happened: { at: number; index: number }[] = [];
      delays.forEach((delay, index) => queue.after(delay, () => happened.push({ at: queue.now, index })));

      queue.run(() => false);

      const expected = delays
        .map((at, index) => ({ at, index }))
        .toSorted((a, b) => a.at - b.at || a.index - b.index);
      expect(happened).toEqual(expected);
    }),
  );
});

test('the event queue runs until its events add no more events', () => {
  const queue = new EventQueue();
  let ticks = 0;
  const tick = (): void => {
    ticks++;
    queue.after(2, tick);
  };
  queue.after(1, tick);

  queue.run(() => ticks === 5);

  expect([ticks, queue.now]).toEqual([5, 9]);
});
