import { describe, expect, test } from '@jest/globals';
import { InFlight } from '../../../src/providers/in-flight.ts';
import type { Urgency } from '../../../src/providers/urgency.ts';

const never = new AbortController().signal;

/** Work that begins and ends when the test says so. */
function works(): {
  readonly begun: string[];
  readonly work: (name: string) => () => Promise<string>;
  readonly end: (name: string) => void;
} {
  const begun: string[] = [];
  const ends = new Map<string, () => void>();
  const work = (name: string) => (): Promise<string> => {
    begun.push(name);
    return new Promise((resolve) => ends.set(name, () => resolve(name)));
  };
  return { begun, work, end: (name) => ends.get(name)?.() };
}

describe('places among the requests in flight', () => {
  test('are bounded, and the most urgent gets ahead', async () => {
    const inFlight = new InFlight(1);
    const { begun, work, end } = works();
    const run = (name: string, urgency: Urgency): Promise<string> =>
      inFlight.run({ urgency, signal: never }, work(name));
    const atOnce: number[] = [];

    const low = Array.from({ length: 20 }, (_, index) => run(`low${index}`, 'housekeeping'));
    const all = [...low, run('high', 'starving')];
    await until(() => inFlight.waiting === 20);
    for (let ended = 0; ended < all.length; ended++) {
      await until(() => begun.length > ended);
      atOnce.push(begun.length - ended);
      end(begun[ended] ?? '');
    }
    await Promise.all(all);

    expect(new Set(atOnce)).toEqual(new Set([1]));
    // One or two may have got hold of the next places before it came.
    expect(begun.indexOf('high')).toBeLessThan(5);
  });

  test.each([
    [10, 6],
    [50, 30],
    [2, 2],
    [1, 1],
  ])('of %i leave four in ten to those whom pods wait for', async (most, patient) => {
    const inFlight = new InFlight(most);
    const { begun, work, end } = works();
    const topUps = Array.from({ length: most }, (_, index) =>
      inFlight.run({ urgency: 'toppingUp', signal: never }, work(`topUp${index}`)),
    );
    await until(() => begun.length === patient);
    const pressing = Array.from({ length: most }, (_, index) =>
      inFlight.run({ urgency: 'waiting', signal: never }, work(`pressing${index}`)),
    );
    await until(() => begun.length === most);
    const atOnce = [...begun];

    for (let ended = 0; ended < 2 * most; ended++) {
      await until(() => begun.length > ended);
      end(begun[ended] ?? '');
    }
    await Promise.all([...topUps, ...pressing]);

    expect(atOnce.filter((name) => name.startsWith('topUp'))).toHaveLength(patient);
  });

  test('whoever was given up while waiting for one is not begun, and hands it on', async () => {
    const inFlight = new InFlight(1);
    const { begun, work, end } = works();
    const giveUp = new AbortController();
    const first = inFlight.run({ urgency: 'waiting', signal: never }, work('first'));
    const second = inFlight.run({ urgency: 'starving', signal: giveUp.signal }, work('second'));
    const third = inFlight.run({ urgency: 'waiting', signal: never }, work('third'));
    await until(() => begun.includes('first'));

    giveUp.abort(new Error('enough'));
    end('first');
    await first;

    await expect(second).rejects.toThrow('enough');
    await until(() => begun.includes('third'));
    end('third');
    await third;
    expect(begun).toEqual(['first', 'third']);
  });

  test('a failure is handed on, and gives the place back', async () => {
    const inFlight = new InFlight(1);
    const context = { urgency: 'waiting', signal: never } as const;

    const failing = inFlight.run(context, () => Promise.reject(new Error('no')));

    await expect(failing).rejects.toThrow('no');
    await expect(inFlight.run(context, () => Promise.resolve('yes'))).resolves.toBe('yes');
  });
});

async function until(done: () => boolean): Promise<void> {
  while (!done()) await new Promise((resolve) => void setImmediate(resolve));
}
