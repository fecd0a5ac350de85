import { describe, expect, test } from '@jest/globals';
import { punctually } from '../../../src/runtime/system-clock.ts';
import { VirtualClock } from '../../support/virtual-clock.ts';

/** Timers that fire `haste` ms early, and their requested delays. */
function rig(haste: number) {
  const clock = new VirtualClock();
  const set: number[] = [];
  const fired: number[] = [];
  const start = (ms: number): (() => void) =>
    punctually(
      {
        monotonic: () => clock.monotonic(),
        set: (wait, action) => {
          set.push(wait);
          return clock.schedule(Math.max(0.1, wait - haste), action);
        },
      },
      ms,
      () => fired.push(clock.monotonic()),
    );
  return { clock, set, fired, start };
}

describe('a timer of the system', () => {
  test.each([
    { ms: 500.7, haste: 0, first: 501, isSetAnew: false },
    { ms: 500.7, haste: 1.5, first: 501, isSetAnew: true },
    { ms: 3_000_000_000, haste: 0, first: 2_147_483_647, isSetAnew: true },
  ])(
    'never fires before its $ms ms have passed, although timers of Node.js are early by $haste ms',
    async (row) => {
      const { clock, set, fired, start } = rig(row.haste);

      start(row.ms);
      await clock.advance(row.ms + 2);

      expect(fired).toHaveLength(1);
      expect(fired[0]).toBeGreaterThanOrEqual(row.ms);
      expect(set[0]).toBe(row.first);
      expect(set.length > 1).toBe(row.isSetAnew);
    },
  );

  test('does not fire after it is cancelled, also when it was set again', async () => {
    const { clock, fired, start } = rig(1.5);
    const cancel = start(500);
    await clock.advance(498.6);

    cancel();
    await clock.advance(1000);

    expect(fired).toEqual([]);
  });
});
