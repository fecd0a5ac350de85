import { describe, expect, test } from '@jest/globals';
import { WriteHealth } from '../../../../src/controller/reporting/write-health.ts';
import type { WriteOutcome } from '../../../../src/kubernetes/transport/write-outcome.ts';
import { VirtualClock } from '../../../support/virtual-clock.ts';

const outcomes = {
  ok: { kind: 'written', raw: {} },
  denied: { kind: 'denied', message: 'allow it' },
  late: { kind: 'conflict', message: 'late' },
  gone: { kind: 'gone' },
  away: { kind: 'unavailable', message: 'no answer' },
} as const satisfies Record<string, WriteOutcome>;

type Note = readonly [seconds: number, node: string, outcome: keyof typeof outcomes];

const at = (...note: Note): Note => note;

const problem = (message: string): string =>
  `no write of a CiliumNode succeeded in the last minute: ${message}`;

describe('the success of writes', () => {
  test.each<[string, readonly Note[], string | undefined]>([
    ['is no question without any', [], undefined],
    [
      'is seen by one that did',
      [at(90, 'a', 'ok'), at(100, 'b', 'denied'), at(100, 'c', 'denied')],
      undefined,
    ],
    ['is denied where none did', [at(90, 'a', 'denied'), at(100, 'b', 'away')], problem('no answer')],
    ['is denied by the only one that is written', [at(100, 'a', 'denied')], problem('allow it')],
    [
      'is denied by the only one, which succeeded before',
      [at(10, 'a', 'ok'), at(100, 'a', 'denied')],
      problem('allow it'),
    ],
    [
      'is not denied by one node where others succeeded before',
      [at(10, 'a', 'ok'), at(80, 'b', 'denied'), at(100, 'b', 'denied')],
      undefined,
    ],
    [
      'is denied by two where others succeeded long ago',
      [at(10, 'a', 'ok'), at(90, 'b', 'denied'), at(100, 'c', 'denied')],
      problem('allow it'),
    ],
    [
      'is not denied by what was tried more than a minute ago',
      [at(40, 'a', 'denied'), at(40, 'b', 'denied')],
      undefined,
    ],
    ['is not denied by what is late or gone', [at(100, 'a', 'late'), at(100, 'b', 'gone')], undefined],
  ])('%s', async (_, notes, expected) => {
    const clock = new VirtualClock();
    const writes = new WriteHealth(clock);
    for (const [seconds, node, outcome] of notes) {
      await clock.advance(seconds * 1000 - clock.monotonic());
      writes.note(node, outcomes[outcome]);
    }
    await clock.advance(101_000 - clock.monotonic());

    expect(writes.problem()).toBe(expected);
  });
});
