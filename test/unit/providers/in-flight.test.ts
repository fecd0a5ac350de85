import { describe, expect, test } from '@jest/globals';
import { InFlight } from '../../../src/providers/in-flight.ts';
import type { Urgency } from '../../../src/providers/urgency.ts';

const never = new AbortController().signal;

/** Calls that begin when they get a place and end when the test says so. */
function rig(most: number) {
  const inFlight = new InFlight(most);
  const begun: string[] = [];
  const ends = new Map<string, () => void>();
  const call = (
    name: string,
    urgency: Urgency | (() => Urgency),
    { signal = never, begun: isBegun = false } = {},
  ): Promise<string> =>
    inFlight.run(
      { urgency: typeof urgency === 'string' ? () => urgency : urgency, signal, begun: isBegun },
      () => {
        begun.push(name);
        return new Promise((resolve) => ends.set(name, () => resolve(name)));
      },
    );
  const end = async (name: string): Promise<void> => {
    ends.get(name)?.();
    await settled();
  };
  return { inFlight, begun, call, end };
}

/** Lets everything happen that waits for nothing outside. */
function settled(): Promise<void> {
  return new Promise((resolve) => void setImmediate(resolve));
}

describe('places among the requests in flight', () => {
  test('are bounded, and go to the most urgent in order of arrival', async () => {
    const { begun, call, end } = rig(2);
    const calls = [
      call('a', 'waiting'),
      call('b', 'waiting'),
      call('c', 'housekeeping'),
      call('d', 'waiting'),
      call('e', 'starving'),
      call('f', 'waiting'),
    ];
    const history: string[] = [begun.join('')];

    for (const name of ['a', 'b', 'e', 'd', 'f']) {
      await end(name);
      history.push(begun.join(''));
    }
    await end('c');

    expect(history).toEqual(['ab', 'abe', 'abed', 'abedf', 'abedfc', 'abedfc']);
    await expect(Promise.all(calls)).resolves.toEqual(['a', 'b', 'c', 'd', 'e', 'f']);
  });

  test('go first to what was begun: nothing is to stand around half made', async () => {
    const { begun, call, end } = rig(1);
    void call('a', 'waiting');
    void call('create', 'starving');
    void call('attach', 'toppingUp', { begun: true });

    await end('a');
    await end('attach');

    expect(begun).toEqual(['a', 'attach', 'create']);
  });

  test('go to calls that pods wait for while there is none for what was begun and no pod waits for', async () => {
    const { begun, call, end } = rig(5);
    for (const name of ['a', 'b', 'c', 'd']) void call(name, 'waiting');
    void call('e', 'toppingUp');
    void call('attach', 'toppingUp', { begun: true });
    void call('create', 'starving');

    await end('a');
    await end('e');

    expect(begun).toEqual(['a', 'b', 'c', 'd', 'e', 'create', 'attach']);
  });

  test('are given at once to a call that pods wait for now, if it is said so', async () => {
    const { inFlight, begun, call } = rig(3);
    let urgency: Urgency = 'toppingUp';
    for (const name of ['a', 'b', 'c']) void call(name, () => urgency);
    const before = begun.length;

    urgency = 'waiting';
    inFlight.reconsider();
    await settled();

    expect([before, begun.length]).toEqual([2, 3]);
  });

  test('go by how urgent a call is now, not by how urgent it was when it came', async () => {
    const { inFlight, begun, call, end } = rig(1);
    let [second, third]: Urgency[] = ['waiting', 'toppingUp'];
    void call('first', 'waiting');
    void call('second', () => second ?? 'waiting');
    void call('third', () => third ?? 'waiting');
    void call('fourth', 'waiting');

    [second, third] = ['housekeeping', 'starving'];
    inFlight.reconsider();
    for (const name of ['first', 'third', 'fourth']) await end(name);

    expect(begun).toEqual(['first', 'third', 'fourth', 'second']);
  });

  test('go to whoever is not as urgent any more behind those who are, also where nobody said so', async () => {
    const { begun, call, end } = rig(1);
    let urgency: Urgency = 'starving';
    void call('first', 'waiting');
    void call('second', () => urgency);
    void call('third', 'waiting');

    urgency = 'toppingUp';
    for (const name of ['first', 'third']) await end(name);

    expect(begun).toEqual(['first', 'third', 'second']);
  });

  test.each([
    [10, 6],
    [50, 30],
    [3, 2],
    [1, 1],
  ])('of %i, %i at most go to calls that no pod waits for', async (most, patient) => {
    const { begun, call, end } = rig(most);
    for (let index = 0; index <= most; index++) void call(`topUp${index}`, 'toppingUp');
    const alone = begun.length;
    for (let index = 0; index <= most; index++) void call(`pressing${index}`, 'waiting');
    const together = begun.length;

    await end('topUp0');
    const next = begun[together] ?? '';

    expect([alone, together]).toEqual([patient, most]);
    expect(next).toMatch('pressing');
  });

  test.each([
    [10, 2],
    [50, 10],
    [1, 1],
  ])(
    'of %i, %i at most go to calls that no pod waits for, as long as there are others',
    async (most, patient) => {
      const { begun, call, end } = rig(most);
      void call('pressing', 'waiting');
      for (let index = 0; index <= most; index++) void call(`topUp${index}`, 'toppingUp');
      const besides = begun.length - 1;

      await end('pressing');
      const alone = begun.length - 1;

      expect([besides, alone]).toEqual([Math.min(patient, most - 1), Math.ceil(most * 0.6)]);
    },
  );

  test('all go to calls that pods wait for, if there are so many', () => {
    const { begun, call } = rig(10);

    for (let index = 0; index < 20; index++) void call(`${index}`, 'starving');

    expect(begun).toHaveLength(10);
  });

  test('whoever was given up while waiting for one is not begun, and stands in nobody’s way', async () => {
    const { begun, call, end } = rig(1);
    const giveUp = new AbortController();
    void call('first', 'waiting');
    const second = call('second', 'starving', { signal: giveUp.signal });
    void call('third', 'waiting');

    giveUp.abort(new Error('enough'));
    await expect(second).rejects.toThrow('enough');
    await end('first');

    expect(begun).toEqual(['first', 'third']);
  });

  test('whoever is given up at the moment of being let in hands the place on', async () => {
    const { begun, call, end } = rig(1);
    const giveUp = new AbortController();
    void call('first', 'waiting');
    let isLetIn = false;
    const urgency = (): Urgency => {
      if (isLetIn) queueMicrotask(() => giveUp.abort(new Error('enough')));
      return 'starving';
    };
    const second = call('second', urgency, { signal: giveUp.signal });
    void call('third', 'waiting');

    isLetIn = true;
    await Promise.all([end('first'), expect(second).rejects.toThrow('enough')]);

    expect(begun).toEqual(['first', 'third']);
  });

  test('whoever was given up before is not begun', async () => {
    const { begun, call } = rig(1);

    await expect(
      call('first', 'waiting', { signal: AbortSignal.abort(new Error('enough')) }),
    ).rejects.toThrow('enough');

    expect(begun).toEqual([]);
  });

  test('whoever enters begins at once if there is one, stands in line if not, and may leave the line', async () => {
    const { inFlight, begun, call, end } = rig(2);
    const leaves: (() => void)[] = [];
    const enter = (name: string, urgency: Urgency): (() => void) =>
      inFlight.enter({ urgency: () => urgency }, (leave) => {
        begun.push(name);
        leaves.push(leave);
      });
    const endWait = enter('a', 'waiting');
    void call('b', 'waiting');
    enter('c', 'waiting');
    const leaveLine = enter('d', 'starving');
    void call('e', 'waiting');
    const before = [...begun];

    leaveLine();
    endWait();
    await end('b');
    for (const leave of leaves) leave();
    await settled();

    expect([before, begun]).toEqual([
      ['a', 'b'],
      ['a', 'b', 'c', 'e'],
    ]);
  });

  test('a failure is handed on, and gives the place back', async () => {
    const { inFlight } = rig(1);
    const request = { urgency: () => 'waiting' as const, signal: never };

    const failing = inFlight.run(request, () => Promise.reject(new Error('no')));

    await expect(failing).rejects.toThrow('no');
    await expect(inFlight.run(request, () => Promise.resolve('yes'))).resolves.toBe('yes');
  });
});
