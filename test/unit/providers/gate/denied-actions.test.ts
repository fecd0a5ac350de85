import { beforeEach, describe, expect, test } from '@jest/globals';
import type { CloudFailure } from '../../../../src/providers/contract/cloud-failure.ts';
import { DeniedActions } from '../../../../src/providers/gate/denied-actions.ts';

const action = 'ModifyNetworkInterfaceAttribute';

const denial: CloudFailure = {
  kind: 'notAuthorized',
  action,
  code: 'UnauthorizedOperation',
  message: 'You are not authorized to perform this operation.',
  requestId: undefined,
  permission: `ec2:${action}`,
};

let now = 0;
const clock = { monotonic: (): number => now, schedule: () => (): void => undefined };
let denied = new DeniedActions(clock);

beforeEach(() => {
  now = 0;
  denied = new DeniedActions(clock);
});

/** Tries the call; returns whether it was sent, and then got this answer. */
function ask(thing: string, answer: CloudFailure | 'granted' = denial): boolean {
  const { known, granted, failed, end } = denied.beginAttempt(action, thing);
  if (known === undefined && answer === 'granted') granted();
  else if (known === undefined && answer !== 'granted') failed(answer);
  end();
  return known === undefined;
}

/** Whether the call would be sent. */
function isOpen(thing: string): boolean {
  const { known, end } = denied.beginAttempt(action, thing);
  end();
  return known === undefined;
}

describe('a denied action', () => {
  test('is repeated more and more rarely, at least once a minute, by one caller for everything it was denied for', () => {
    const things = ['eni-1', 'eni-2', 'eni-3'];
    for (const thing of things) ask(thing);
    const sentAt: number[] = [];

    for (; now < 300_000; now += 1000) for (const thing of things) if (ask(thing)) sentAt.push(now / 1000);

    expect(sentAt).toEqual([5, 15, 35, 75, 135, 195, 255]);
  });

  test('returns to others the answer that it had', () => {
    ask('eni-1');

    expect(denied.beginAttempt(action, 'eni-1').known).toBe(denial);
  });

  test('is sent for things that it was not denied for, which changes nothing for the others', () => {
    ask('eni-1');
    const sent = [ask('eni-2', 'granted'), ask('eni-3')];

    expect(sent).toEqual([true, true]);
    expect([isOpen('eni-1'), isOpen('eni-2'), isOpen('eni-3')]).toEqual([false, true, false]);
  });

  test('is sent for nothing else if the answer is about the action itself', () => {
    ask('eni-1', { ...denial, about: 'action' });

    expect(isOpen('eni-2')).toBe(false);
  });

  test('is sent for nothing else if a later answer is about the action itself', () => {
    ask('eni-1');
    ask('eni-2', { ...denial, about: 'action' });

    expect([isOpen('eni-1'), isOpen('eni-2'), isOpen('eni-3')]).toEqual([false, false, false]);
  });

  test('is open for all once it is granted for something that it was denied for', () => {
    ask('eni-1');
    ask('eni-2');
    now = 5000;

    expect(ask('eni-1', 'granted')).toBe(true);
    expect(isOpen('eni-2')).toBe(true);
  });

  test('has a turn for what it was not denied for, and that is granted from then on', () => {
    const ofAction = { ...denial, about: 'action' } as const;
    ask('eni-bad', ofAction);
    // The bad one is the first to try, each time.
    for (; now < 300_000; now += 1000) ask('eni-bad', ofAction);
    const open = [isOpen('eni-bad'), isOpen('eni-1')];
    ask('eni-1', 'granted');
    for (const end = now + 300_000; now < end; now += 1000) {
      ask('eni-bad', ofAction);
      expect([isOpen('eni-1'), isOpen('eni-2')]).toEqual([true, true]);
    }

    expect(open).toEqual([false, true]);
  });

  test('is tried by one caller at a time, and by the next one if that call decided nothing', () => {
    ask('eni-1');
    now = 5000;
    const attempt = denied.beginAttempt(action, 'eni-1');
    const meanwhile = isOpen('eni-1');
    attempt.end();

    expect([attempt.known, meanwhile, isOpen('eni-1')]).toEqual([undefined, false, true]);
  });

  test('is separate from failures of other kinds, and from other actions', () => {
    const { permission: _, ...other } = denial;
    ask('eni-1', other);
    const open = isOpen('eni-1');
    ask('eni-1');

    expect(open).toBe(true);
    expect(denied.beginAttempt('DeleteNetworkInterface', 'eni-1').known).toBeUndefined();
  });

  test('is forgotten two hours after it was due', () => {
    ask('eni-1', { ...denial, about: 'action' });
    now = 5000 + 2 * 3_600_000;
    const attempts = [denied.beginAttempt(action, 'eni-1'), denied.beginAttempt(action, 'eni-2')];

    expect(attempts.map(({ known }) => known)).toEqual([undefined, undefined]);
  });
});
