import { expect, test } from '@jest/globals';
import type { Assessment } from '../../../../src/node/conditions/assessment.ts';
import { Deficit } from '../../../../src/node/reconcile/deficit.ts';
import type { NodeContext } from '../../../../src/node/reconcile/node-context.ts';
import type { NodeEvent } from '../../../../src/node/reconcile/node-event.ts';

const unread: Assessment = { kind: 'unread' };
const lacking = (wanted: number) => ({ kind: 'served', wanted }) as Assessment;
const blocked = { kind: 'blocked' } as Assessment;

interface Step {
  readonly at: number;
  readonly calls?: number;
  readonly assessment: Assessment;
  readonly pods?: number;
  readonly isPublished?: boolean;
}

test.each<[string, readonly Step[], readonly (readonly [duration: number, calls: number])[]]>([
  [
    'lasts from noticing it until what ends it is published',
    [
      { at: 10, calls: 2, assessment: lacking(3) },
      { at: 20, calls: 4, assessment: lacking(1), isPublished: true },
      { at: 30, calls: 5, assessment: lacking(0) },
      { at: 35, calls: 5, assessment: lacking(0), isPublished: true },
    ],
    [[25, 3]],
  ],
  [
    'starts while the instance is unread',
    [
      { at: 10, assessment: unread },
      { at: 20, assessment: lacking(0), isPublished: true },
    ],
    [[10, 0]],
  ],
  [
    'starts while pods wait on a node that is not served',
    [
      { at: 10, assessment: blocked, pods: 1 },
      { at: 20, assessment: lacking(0), isPublished: true },
    ],
    [[10, 0]],
  ],
  [
    'is forgotten once no pod waits on a node that is not served',
    [
      { at: 10, assessment: blocked, pods: 1 },
      { at: 15, assessment: blocked },
      { at: 20, assessment: lacking(0), isPublished: true },
    ],
    [],
  ],
  ['is none without a lack', [{ at: 10, assessment: lacking(0), isPublished: true }], []],
])('a deficit %s', (_, steps, expected) => {
  let now: Step = { at: 0, assessment: unread };
  const supplied: (readonly [number, number])[] = [];
  const context: unknown = {
    runtime: { clock: { monotonic: () => now.at } },
    emit: (event: NodeEvent) => event.kind === 'satisfied' && supplied.push([event.duration, event.calls]),
  };
  const deficit = new Deficit(context as NodeContext, {
    get calls() {
      return now.calls ?? 0;
    },
  });

  for (now of steps) {
    deficit.notice(now.assessment, now.pods ?? 0);
    if (now.isPublished === true) deficit.published(now.assessment);
  }

  expect(supplied).toEqual(expected);
});
