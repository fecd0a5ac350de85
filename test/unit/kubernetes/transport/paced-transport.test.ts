import { expect, test } from '@jest/globals';
import { PacedTransport } from '../../../../src/kubernetes/transport/paced-transport.ts';
import { VirtualClock } from '../../../support/virtual-clock.ts';

const never = new AbortController().signal;

test('a paced transport sends a burst at once, then at its rate, and a burst again after a pause', async () => {
  const clock = new VirtualClock();
  const sent: number[] = [];
  const send = (): Promise<{ status: number; body: string }> => {
    sent.push(clock.monotonic());
    return Promise.resolve({ status: 200, body: '{}' });
  };
  const transport = new PacedTransport(
    { send, stream: () => Promise.reject(new Error('no stream')) },
    clock,
    {
      perSecond: 10,
      burst: 3,
    },
  );
  const request = { method: 'GET', path: '/' } as const;

  for (let count = 0; count < 6; count++) void transport.send(request, never);
  await clock.advance(10_000);
  for (let count = 0; count < 4; count++) void transport.send(request, never);
  await clock.advance(10_000);

  expect(sent).toEqual([0, 0, 0, 100, 200, 300, 10_000, 10_000, 10_000, 10_100]);
});
