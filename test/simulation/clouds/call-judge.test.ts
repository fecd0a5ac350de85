import { describe, expect, test } from '@jest/globals';
import { CallJudge } from './call-judge.ts';

const assign = 'AssignPrivateIpAddresses';

function judged(max = 2): { readonly judge: CallJudge; readonly misdeeds: string[] } {
  const misdeeds: string[] = [];
  return { judge: new CallJudge(`Other=9:1,${assign}=${max}:1`, (text) => misdeeds.push(text)), misdeeds };
}

function call(clientToken: string, identity = 'headwater-0', count = 1): Parameters<CallJudge['sent']>[0] {
  const input = { networkInterfaceId: 'eni-1', secondaryPrivateIpAddressCount: count, clientToken };
  return { identity, action: assign, input };
}

describe('calls of one process', () => {
  test.each([
    ['as many as the window has', [0, 59_000], 0],
    ['one more within a minute', [0, 1000, 59_999], 1],
    ['one more after the first has left the window', [0, 1000, 60_001], 0],
  ])('are judged by their window: %s', (_, times, found) => {
    const { judge, misdeeds } = judged();

    for (const at of times) judge.sent(call(`token-${at}`), at);

    expect(misdeeds).toHaveLength(found);
  });

  test('do not count for another process', () => {
    const { judge, misdeeds } = judged();

    for (const identity of ['headwater-0', 'headwater-1', 'headwater-2']) judge.sent(call('a', identity), 0);

    expect(misdeeds).toEqual([]);
  });
});

describe('an assignment after a lost one', () => {
  test('may be one of several that were under way', () => {
    const { judge, misdeeds } = judged(4);
    for (const token of ['a', 'b']) judge.sent(call(token), 0);
    for (const token of ['a', 'b']) judge.lost(call(token), 500);

    for (const token of ['a', 'b']) judge.sent(call(token), 1500);

    expect(misdeeds).toEqual([]);
  });

  test.each([
    ['the same token', call('a'), 1000, 0],
    ['another token', call('b'), 1000, 1],
    ['another token, but is another assignment', call('b', 'headwater-0', 2), 1000, 0],
    ['another token, but is of another process', call('b', 'headwater-1'), 1000, 0],
    ['another token, much later', call('b'), 10_000, 0],
    ['another token, before a repetition is due', call('b'), 800, 0],
  ])('is judged by its token, if none was ever repeated: it has %s', (_, next, after, found) => {
    const { judge, misdeeds } = judged(4);
    judge.sent(call('c'), 0);
    judge.lost(call('c'), 500);
    judge.sent(call('a'), 1500);
    judge.lost(call('a'), 1800);

    judge.sent(next, 1800 + after);

    expect(misdeeds).toHaveLength(found);
  });

  test('may be a further one for a pod that took an address just then', () => {
    const { judge, misdeeds } = judged(9);
    judge.sent(call('a'), 0);
    judge.lost(call('a'), 500);
    judge.sent(call('b'), 1450);
    judge.lost(call('b'), 1480);
    judge.sent(call('a'), 1500);

    judge.sent(call('c'), 2500);

    expect(misdeeds).toEqual([]);
  });
});
