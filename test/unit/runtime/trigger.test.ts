import { describe, expect, test } from '@jest/globals';
import { type Clock, sleep } from '../../../src/runtime/clock.ts';
import { Trigger, type TriggerFigures } from '../../../src/runtime/trigger.ts';
import { VirtualClock } from '../../support/virtual-clock.ts';

interface Rig {
  readonly clock: VirtualClock;
  readonly trigger: Trigger;
  readonly starts: number[];
  readonly figures: TriggerFigures[];
  readonly bugs: unknown[];
}

function rig(run: (clock: VirtualClock, signal: AbortSignal) => Promise<void>): Rig {
  const clock = new VirtualClock();
  const starts: number[] = [];
  const figures: TriggerFigures[] = [];
  const bugs: unknown[] = [];
  const trigger = new Trigger({
    clock,
    minInterval: 10,
    run: async (signal) => {
      starts.push(clock.monotonic());
      await run(clock, signal);
    },
    onBug: (error) => bugs.push(error),
    meter: { requested: () => undefined, ran: (run) => figures.push(run) },
  });
  return { clock, trigger, starts, figures, bugs };
}

describe('Trigger', () => {
  test('starts the first run at once, keeps the next ones apart, and folds requests', async () => {
    const { clock, trigger, starts, figures } = rig(() => Promise.resolve());

    trigger.fire();
    trigger.fire();
    trigger.fire();
    await clock.advance(1);
    trigger.fire();
    trigger.fire();
    await clock.advance(50);

    expect(starts).toEqual([0, 10]);
    expect(figures.map((run) => run.folds)).toEqual([2, 1]);
    expect(figures[1]?.latency).toBe(9);
  });

  test('keeps runs less far apart while a caller waits', async () => {
    const clock = new VirtualClock();
    const starts: number[] = [];
    let isPressing = true;
    const trigger = new Trigger({
      clock,
      minInterval: 10,
      pressingInterval: 2,
      isPressing: () => isPressing,
      run: () => Promise.resolve(void starts.push(clock.monotonic())),
      onBug: (error) => {
        throw error;
      },
    });
    const fireAsPodsCome = async (): Promise<void> => {
      trigger.fire();
      await clock.advance(1);
      trigger.fire();
      await clock.advance(4);
      isPressing = true;
      trigger.fire();
      await clock.advance(95);
    };
    const fireTwice = async (): Promise<void> => {
      trigger.fire();
      await clock.advance(1);
      trigger.fire();
      await clock.advance(99);
    };

    await fireTwice();
    isPressing = false;
    await fireTwice();
    await fireAsPodsCome();

    expect(starts).toEqual([0, 2, 100, 110, 200, 205]);
  });

  test('says when each run is due whether it is pressing', async () => {
    const virtual = new VirtualClock();
    const asked: (boolean | undefined)[] = [];
    const clock: Clock = {
      wall: () => virtual.wall(),
      monotonic: () => virtual.monotonic(),
      schedule: (ms, action, isPressing) => {
        if (ms === 0) asked.push(isPressing);
        return virtual.schedule(ms, action);
      },
    };
    let isPressing = false;
    const trigger = new Trigger({
      clock,
      minInterval: 10,
      isPressing: () => isPressing,
      run: () => Promise.resolve(),
      onBug: (error) => {
        throw error;
      },
    });

    trigger.fire();
    await virtual.advance(1);
    trigger.fire();
    isPressing = true;
    await virtual.advance(20);

    expect(asked).toEqual([false, true]);
  });

  test.each<[string, () => Promise<void>]>([
    ['at once', () => fail()],
    ['later', () => Promise.resolve().then(fail)],
  ])('runs again after a run that throws %s', async (_, run) => {
    const clock = new VirtualClock();
    const bugs: unknown[] = [];
    const trigger = new Trigger({ clock, minInterval: 10, run, onBug: (error) => bugs.push(error) });

    trigger.fire();
    await clock.advance(100);
    trigger.fire();
    await clock.advance(100);

    expect(bugs).toHaveLength(2);
  });

  test('never runs twice at once, and answers a request during a run after it', async () => {
    const { clock, trigger, starts } = rig((clock, signal) => sleep(clock, 100, signal));

    trigger.fire();
    await clock.advance(30);
    trigger.fire();
    trigger.fire();
    await clock.advance(500);

    expect(starts).toEqual([0, 100]);
  });

  test('reports a bug in a run and continues', async () => {
    const { clock, trigger, starts, bugs } = rig(() => Promise.reject(new Error('broken')));

    trigger.fire();
    await clock.advance(1);
    trigger.fire();
    await clock.advance(50);

    expect(starts).toEqual([0, 10]);
    expect(bugs).toHaveLength(2);
  });

  test('aborts the run in flight when it is stopped, waits for it, and starts no other', async () => {
    const { clock, trigger, starts, bugs } = rig((clock, signal) => sleep(clock, 100, signal));
    trigger.fire();
    await clock.advance(30);
    trigger.fire();

    await trigger.stop();
    trigger.fire();
    await clock.advance(500);

    expect(starts).toEqual([0]);
    expect(bugs).toEqual([]);
  });

  describe('a trigger with places', () => {
    /** Places that the test gives, and their history. */
    function placesRig() {
      const clock = new VirtualClock();
      const history: string[] = [];
      const line: (() => void)[] = [];
      const trigger = new Trigger({
        clock,
        minInterval: 10,
        admit: (start) => {
          history.push('in line');
          line.push(() => start(() => history.push('place returned')));
          return () => history.push('left the line');
        },
        run: async (signal) => {
          history.push('run');
          await sleep(clock, 5, signal);
        },
        onBug: (error) => history.push(String(error)),
        meter: {
          requested: () => undefined,
          ran: ({ folds, latency, duration }) =>
            history.push(`folds ${folds}, latency ${latency}, duration ${duration}`),
        },
      });
      return { clock, trigger, history, line };
    }

    test('starts a run once it has a place, answers earlier requests with it, and returns the place', async () => {
      const { clock, trigger, history, line } = placesRig();

      trigger.fire();
      await clock.advance(20);
      trigger.fire();
      await clock.advance(20);
      line.shift()?.();
      await clock.advance(50);

      expect(history).toEqual(['in line', 'run', 'place returned', 'folds 1, latency 40, duration 5']);
    });

    test('does not count what starts after its place is returned as part of the run', async () => {
      const virtual = new VirtualClock();
      let spent = 0;
      const clock: Clock = {
        wall: () => virtual.wall(),
        monotonic: () => virtual.monotonic() + spent,
        schedule: (ms, action) => virtual.schedule(ms, action),
      };
      const durations: number[] = [];
      const trigger = new Trigger({
        clock,
        minInterval: 10,
        admit: (start) => {
          start(() => (spent += 100));
          return () => undefined;
        },
        run: (signal) => sleep(clock, 5, signal),
        onBug: () => undefined,
        meter: { requested: () => undefined, ran: ({ duration }) => durations.push(duration) },
      });

      trigger.fire();
      await virtual.advance(50);

      expect(durations).toEqual([5]);
    });

    test('leaves the queue when it is stopped', async () => {
      const { clock, trigger, history } = placesRig();
      trigger.fire();
      await clock.advance(20);

      await trigger.stop();

      expect(history).toEqual(['in line', 'left the line']);
    });

    test('queues a request made during a run behind it', async () => {
      const { clock, trigger, history, line } = placesRig();
      trigger.fire();
      await clock.advance(1);
      line.shift()?.();
      trigger.fire();
      const before = history.length;

      await clock.advance(50);

      expect([before, history.slice(2)]).toEqual([
        2,
        ['place returned', 'folds 0, latency 1, duration 5', 'in line'],
      ]);
    });
  });
});

function fail(): never {
  throw new Error('a bug');
}
