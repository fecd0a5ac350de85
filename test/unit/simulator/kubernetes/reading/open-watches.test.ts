import { expect, test } from '@jest/globals';
import { VirtualClock } from '../../../../support/virtual-clock.ts';
import { LineStream } from '../../../../../src/simulator/kubernetes/reading/line-stream.ts';
import { OpenWatches } from '../../../../../src/simulator/kubernetes/reading/open-watches.ts';

test('the lines of a watch keep their order, however late each of them is', async () => {
  const clock = new VirtualClock();
  let delay = 100;
  const watches = new OpenWatches(clock, () => ({ delay, copies: 1 }));
  const lines = new LineStream(() => undefined);

  watches.deliver('/x', 'first ', lines);
  delay = 0;
  watches.deliver('/x', 'second ', lines);
  await clock.advance(99);
  const before = lines.backlog;
  await clock.advance(1);
  watches.deliver('/x', 'third', lines);
  lines.end();
  const pieces: string[] = [];
  for await (const piece of lines) pieces.push(piece);

  expect(before).toBe(0);
  expect(pieces.join('')).toBe('first second third');
});
