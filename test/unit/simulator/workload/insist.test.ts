import { describe, expect, test } from '@jest/globals';
import { VirtualClock } from '../../../support/virtual-clock.ts';
import { insist } from '../../../../src/simulator/workload/insist.ts';
import type { Answer } from '../../../../src/simulator/workload/kubernetes-client.ts';

const never = new AbortController().signal;
const good: Answer = { kind: 'ok', object: {} };

function refusal(status: number): Answer {
  return { kind: 'refused', status, reason: 'Some', message: 'because' };
}

describe('insist', () => {
  test.each<[string, readonly Answer[], number]>([
    ['a good answer', [good], 1],
    ['an effect that is there already', [refusal(404)], 1],
    ['passing troubles first', [refusal(0), refusal(429), refusal(500), refusal(503), good], 5],
  ])('ends with %s', async (_, answers, expected) => {
    const clock = new VirtualClock();
    const left = [...answers];
    let sent = 0;
    let isDone = false;

    const insisting = insist(
      () => {
        sent++;
        return Promise.resolve(left.shift() ?? good);
      },
      404,
      clock,
      never,
    ).then(() => {
      isDone = true;
    });
    await clock.runUntil(() => isDone, 60_000);
    await insisting;

    expect([sent, clock.monotonic()]).toEqual([expected, (expected - 1) * 1_000]);
  });

  test.each([400, 403, 409, 422])('throws for %d, which a repeat would not change', async (status) => {
    const insisting = insist(() => Promise.resolve(refusal(status)), 404, new VirtualClock(), never);

    await expect(insisting).rejects.toThrow(`${status} because`);
  });
});
