import { describe, expect, test } from '@jest/globals';
import { RecentCalls } from '../../../../src/node/reconcile/recent-calls.ts';
import type { Operation } from '../../../../src/providers/contract/operations.ts';

const operation: Operation = { kind: 'allocateIPs', instanceId: 'i-1', interfaceId: 'eni-1', count: 1 };

function failure(message: string) {
  return { kind: 'unknown', action: 'Assign', code: 'No', message, requestId: 'r-1' } as const;
}

describe('the recent calls of a node', () => {
  test('are the last ten, with the request that was refused', () => {
    const calls = new RecentCalls();

    for (let at = 0; at < 30; at++)
      calls.note(operation, { kind: 'failed', failure: failure(`no ${at}`) }, at);

    expect(calls.list.map(({ endedAt }) => endedAt)).toEqual(Array.from({ length: 10 }, (_, at) => at + 20));
    expect(calls.list.at(-1)).toEqual({
      operation: 'allocateIPs',
      resource: 'eni-1',
      endedAt: 29,
      outcome: 'refused',
      failure: { action: 'Assign', code: 'No', message: 'no 29', requestId: 'r-1' },
    });
  });

  test('tell a lost answer from a refusal, and keep only the start of a long text', () => {
    const calls = new RecentCalls();

    calls.note(operation, { kind: 'ambiguous', failure: failure('x'.repeat(5000)) }, 1);

    expect(calls.list).toMatchObject([{ outcome: 'unanswered', failure: { message: 'x'.repeat(300) } }]);
  });

  test.each(['fenced', 'stopped'] as const)('leave out what was never sent: %s', (kind) => {
    const calls = new RecentCalls();

    calls.note(operation, { kind: 'failed', failure: { ...failure('no'), kind } }, 1);

    expect(calls.list).toEqual([]);
  });
});
