import { describe, expect, test } from '@jest/globals';
import { type Assignment, Growth } from '../../../../src/node/allocate/growth.ts';
import { LostAssignments } from '../../../../src/node/allocate/lost-assignments.ts';
import type { InstanceView } from '../../../../src/providers/contract/facts.ts';
import { TaskGroup } from '../../../../src/runtime/task-group.ts';
import { sleep } from '../../../../src/runtime/clock.ts';
import { VirtualClock } from '../../../support/virtual-clock.ts';
import { eni, view } from '../allocation-facts.ts';

const never = new AbortController().signal;

function assignment(count: number, kind: Assignment['kind'] = 'allocateIPs'): Assignment {
  return { kind, interfaceId: 'eni-0', subnetId: 'subnet-1', count };
}

function shows(addresses: readonly string[], prefixes: readonly string[] = []): InstanceView {
  return view([{ ...eni(0), id: 'eni-0', addresses, prefixes }]);
}

function rig(): { clock: VirtualClock; growth: Growth; lost: LostAssignments; found: number[] } {
  const clock = new VirtualClock();
  const found: number[] = [];
  const tasks = new TaskGroup({
    clock,
    onBug: (error) => {
      throw error;
    },
    onEnd: () => found.push(clock.monotonic()),
  });
  const growth = new Growth();
  const node = {
    growth,
    invalidate: () => undefined,
    refresh: () => sleep(clock, 500, never),
  };
  const timing = { callTimeout: 10_000, consistencyWindow: 30_000 };
  const lost = new LostAssignments(node, { clock, tasks }, timing);
  return { clock, growth, lost, found };
}

/** Takes the steps that are asked for. */
async function advance({ clock, lost }: ReturnType<typeof rig>, ms: number): Promise<void> {
  const { requeueAfter } = lost.step(clock.monotonic());
  if (requeueAfter !== undefined) clock.schedule(requeueAfter, () => lost.step(clock.monotonic()));
  await clock.advance(ms);
}

describe('the addresses that lost assignments may still bring', () => {
  test.each([
    ['all, while nothing shows', [assignment(4)], shows(['a']), 4],
    ['what does not show yet', [assignment(4)], shows(['a', 'b', 'c']), 2],
    ['none when more shows than expected', [assignment(1)], shows(['a', 'b', 'c']), 0],
    ['the members of prefixes', [assignment(2, 'allocatePrefixes')], shows(['a'], ['p/28']), 16],
    [
      'those that two calls on one interface lack together',
      [assignment(2), assignment(3)],
      shows(['a', 'b', 'c']),
      3,
    ],
    ['all when an answer named those that show', [assignment(2)], shows(['a', 'answered']), 2],
  ])('are %s', (_, steps, shown, expected) => {
    const { lost } = rig();
    lost.sent();
    lost.answered(['answered']);

    for (const step of steps) lost.answerLost(step, new Set(['a']));

    expect(lost.unseen(shown)).toBe(expected);
  });

  test('are none after a refresh that started when the calls could no longer take effect unseen', async () => {
    const made = rig();
    const { growth, lost, found } = made;
    lost.answerLost(assignment(4), new Set());

    await advance(made, 40_499);
    expect([...growth.lost].map(({ step }) => step)).toEqual([assignment(4)]);
    await advance(made, 1);

    expect([...growth.lost]).toEqual([]);
    expect(lost.unseen(shows([]))).toBe(0);
    expect(found).toEqual([40_500]);
  });

  test('are not hidden by an address that an earlier answer named and that was released since', () => {
    const { lost } = rig();
    lost.sent();
    lost.answered(['a']);
    lost.ended();

    lost.sent();
    lost.answerLost(assignment(1), new Set());
    lost.ended();

    expect(lost.unseen(shows(['a']))).toBe(0);
  });

  test('are kept apart from what another lost assignment brought, also once that one has ended', () => {
    const { lost } = rig();
    lost.sent();
    lost.sent();
    lost.answered(['a']);
    lost.ended();

    lost.answerLost(assignment(1), new Set());
    lost.ended();

    expect(lost.unseen(shows(['a']))).toBe(1);
  });

  test('are not hidden by what was named while another assignment was lost that has been found', async () => {
    const made = rig();
    const { lost } = made;
    lost.answerLost(assignment(1), new Set());
    lost.sent();
    lost.answered(['a']);
    lost.ended();
    await advance(made, 40_500);

    lost.answerLost(assignment(1), new Set());

    expect(lost.unseen(shows(['a']))).toBe(0);
  });
});
