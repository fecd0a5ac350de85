// Kills the process at every call that changes anything, one at a time and in three ways, while a node on Alibaba Cloud
// grows and shrinks.
import { describe, expect, test } from '@jest/globals';
import { changingCalls, expectWell, growOnAlibaba } from '../../support/growing-on-alibaba.ts';

const ways = ['before it is sent', 'once it is sent', 'before its answer is taken in'] as const;

const undisturbed = await growOnAlibaba();
const started = [...undisturbed.controller.started];

describe('a controller on Alibaba Cloud', () => {
  test('makes every kind of call in the history in which it is killed', () => {
    expect([...new Set(started)].sort()).toEqual(changingCalls);
    expectWell(undisturbed);
  });

  describe.each(ways)('killed at a call, %s,', (when) => {
    test.each(started.map((name, at) => ({ name, at })))(
      'loses, doubles and leaks nothing: call $at, $name',
      async ({ at }) => expectWell(await growOnAlibaba({ death: { at, when } })),
    );
  });
});
