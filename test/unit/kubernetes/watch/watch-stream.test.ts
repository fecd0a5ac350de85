import { expect, test } from '@jest/globals';
import { watchOnce } from '../../../../src/kubernetes/watch/watch-stream.ts';
import type { Clock } from '../../../../src/runtime/clock.ts';
import { event, thing } from '../reflector-rig.ts';
import { LineFeed, ScriptedTransport } from '../scripted-transport.ts';

/** Runs everything that can happen without a passage of time. */
function settled(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}

test('a watch stream reads events that arrive together for 5 ms, and continues in a later turn', async () => {
  let now = 0;
  const turns: { readonly action: () => void; readonly isPressing: boolean }[] = [];
  const clock: Clock = {
    wall: () => now,
    monotonic: () => now,
    schedule: (ms, action, isPressing = false) => {
      if (ms === 0) turns.push({ action, isPressing });
      return () => undefined;
    },
  };
  const events = [1, 2, 3, 4, 5, 6, 7, 8].map((version) => event('MODIFIED', thing('a', version)));
  const feed = new LineFeed().push(...events).end();
  const read: string[] = [];
  const watching = watchOnce(
    { transport: new ScriptedTransport(clock, () => feed), clock, path: '/things' },
    {
      resourceVersion: '0',
      timeoutSeconds: 300,
      onOpen: () => undefined,
      onEvent: ({ resourceVersion }) => {
        read.push(resourceVersion);
        now += 2;
      },
    },
    new AbortController().signal,
  );
  const readByThen: string[] = [];
  for (let taken = 0; taken < 3; taken++) {
    await settled();
    readByThen.push(read.join(''));
    turns[taken]?.action();
  }

  expect(await watching).toEqual({ kind: 'ended' });
  expect(readByThen).toEqual(['123', '123456', '12345678']);
  expect(turns.map(({ isPressing }) => isPressing)).toEqual([true, true]);
});
