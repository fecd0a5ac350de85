import { expect, test } from '@jest/globals';
import { VirtualClock } from '../../../support/virtual-clock.ts';
import { PacedClock } from '../../../../src/simulator/cloud/paced-clock.ts';

test('a paced clock applies a new pace to timers that already run', async () => {
  const inner = new VirtualClock(0);
  const clock = new PacedClock(inner);
  const fired: number[] = [];
  clock.schedule(1000, () => fired.push(inner.monotonic()));
  const cancel = clock.schedule(1500, () => fired.push(-1));

  await inner.advance(500);
  clock.setPace(10);
  cancel();
  await inner.advance(100);

  expect(fired).toEqual([550]);
  expect(clock.monotonic()).toBe(1500);
  expect(clock.wall()).toBe(1500);
  expect(clock.pace).toBe(10);
  expect(() => clock.setPace(0)).toThrow(RangeError);
});
