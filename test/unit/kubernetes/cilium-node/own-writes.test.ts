import { describe, expect, test } from '@jest/globals';
import type { ReadOutcome, WriteOutcome } from '../../../../src/kubernetes/transport/write-outcome.ts';
import { OwnWrites } from '../../../../src/kubernetes/cilium-node/own-writes.ts';

const { signal } = new AbortController();
const at = (resourceVersion: string, uid = 'u-1') => ({ name: 'node-1', uid, resourceVersion });
const written = (resourceVersion: string): WriteOutcome => ({
  kind: 'written',
  raw: { metadata: { resourceVersion } },
});
const open = { base: '10', part: 'spec', patch: { ipam: {} } } as const;

interface Rig {
  readonly own: OwnWrites;
  /** Answers the oldest pending write. */
  readonly answer: (outcome: WriteOutcome | Error) => Promise<void>;
  readonly sent: () => number;
  refusal: string | undefined;
}

function rig(): Rig {
  const waiting: PromiseWithResolvers<WriteOutcome>[] = [];
  let sent = 0;
  const write = (): Promise<WriteOutcome> => {
    sent++;
    const answer = Promise.withResolvers<WriteOutcome>();
    waiting.push(answer);
    return answer.promise;
  };
  const get = (): Promise<ReadOutcome> => Promise.resolve({ kind: 'gone' });
  const made: Rig = {
    own: new OwnWrites({ patchSpec: write, patchStatus: write, get }, () => made.refusal),
    answer: async (outcome) => {
      const next = waiting.shift();
      if (outcome instanceof Error) next?.reject(outcome);
      else next?.resolve(outcome);
      await new Promise((resolve) => setImmediate(resolve));
    },
    sent: () => sent,
    refusal: undefined,
  };
  return made;
}

describe('a write of ours', () => {
  test('is open until its answer, and is recognized by the version in it', async () => {
    const { own, answer } = rig();

    const writing = own.patchSpec(at('10'), { ipam: {} }, signal);
    const whileOpen = [own.openOn(at('10')), own.openOn(at('9')), own.openOn(at('10', 'u-2'))];
    await answer(written('11'));

    expect(whileOpen).toEqual([[open], [], []]);
    expect(await writing).toEqual(written('11'));
    expect(own.openOn(at('10'))).toEqual([]);
    expect([own.isAnswer(at('11')), own.isAnswer(at('12')), own.isAnswer(at('11', 'u-2'))]).toEqual([
      true,
      false,
      false,
    ]);
  });

  test.each<[string, WriteOutcome | Error, boolean]>([
    ['a conflict', { kind: 'conflict', message: '' }, false],
    ['a refusal', { kind: 'denied', message: '' }, false],
    ['what the server never accepts', { kind: 'invalid', message: '' }, false],
    ['that it is gone', { kind: 'gone' }, false],
    ['no answer', { kind: 'unavailable', message: '' }, true],
    ['the end of the wait', new Error('ended'), true],
  ])('stays open or not when it meets %s (case %#)', async (_what, outcome, stays) => {
    const { own, answer } = rig();

    const writing = own.patchSpec(at('10'), { ipam: {} }, signal).catch(() => undefined);
    await answer(outcome);
    await writing;

    expect(own.openOn(at('10'))).toEqual(stays ? [open] : []);
  });

  test('is over, after it got lost, once a later state is known than the one that it is bound to', async () => {
    const { own, answer } = rig();
    void own.patchSpec(at('10'), { ipam: {} }, signal);
    await answer({ kind: 'unavailable', message: '' });

    own.settle(at('10'));
    const still = own.openOn(at('10'));
    own.settle(at('11'));

    expect(still).toEqual([open]);
    expect(own.openOn(at('10'))).toEqual([]);
  });

  test('stays open while it is in flight, whatever becomes known meanwhile', async () => {
    const { own, answer } = rig();
    void own.patchStatus(at('10'), {}, signal);

    own.settle(at('11'));
    const meanwhile = own.openOn(at('10'));
    await answer(written('12'));

    expect(meanwhile).toHaveLength(1);
    expect(own.isAnswer(at('12'))).toBe(true);
  });

  test('is not made while writes are not allowed', async () => {
    const made = rig();
    made.refusal = 'this is a dry run';

    const outcome = await made.own.patchSpec(at('10'), {}, signal);

    expect(outcome).toMatchObject({ kind: 'unavailable', message: 'not written: this is a dry run' });
    expect(made.sent()).toBe(0);
    expect(made.own.openOn(at('10'))).toEqual([]);
  });
});
