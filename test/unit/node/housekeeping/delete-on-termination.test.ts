import { describe, expect, test } from '@jest/globals';
import { DeleteOnTermination } from '../../../../src/node/housekeeping/delete-on-termination.ts';
import type { CloudFailureKind } from '../../../../src/providers/contract/cloud-failure.ts';
import { Random } from '../../../../src/runtime/random.ts';
import { TaskGroup } from '../../../../src/runtime/task-group.ts';
import { VirtualClock } from '../../../support/virtual-clock.ts';
import { attachment, networkInterface } from '../../providers/interfaces.ts';
import { scriptedImplementation } from '../../providers/scripted-implementation.ts';
import { done, failed } from '../outcomes.ts';

const consistencyWindow = 30_000;
const lacking = networkInterface({
  description: 'Cilium-CNI (i-1)',
  attachment: attachment({ deleteOnTermination: false }),
});

/** A cloud with these answers, the last of which repeats. */
function rig(...answers: readonly (CloudFailureKind | 'done')[]) {
  const clock = new VirtualClock();
  const calls: number[] = [];
  const deleteOnTermination = new DeleteOnTermination(
    {
      instanceId: 'i-1',
      applyAnswer: () => undefined,
      implementation: scriptedImplementation({
        admit: () => Promise.resolve(() => undefined),
        perform: () => {
          const answer = answers[calls.length] ?? answers.at(-1) ?? 'done';
          calls.push(clock.monotonic());
          return Promise.resolve(
            answer === 'done'
              ? done({ kind: 'deleteOnTerminationSet', interfaceId: 'eni-1', instanceId: 'i-1' })
              : failed(answer),
          );
        },
      }),
      refusal: () => undefined,
      tell: () => undefined,
    },
    {
      clock,
      random: new Random('delete-on-termination'),
      tasks: new TaskGroup({
        clock,
        onBug: (error) => {
          throw error;
        },
      }),
    },
    { consistencyWindow },
  );
  return { deleteOnTermination, clock, calls };
}

describe('delete-on-termination', () => {
  test('is set once for each attachment of ours that lacks it', async () => {
    const { deleteOnTermination, clock, calls } = rig('done');
    const ofOthers = networkInterface({
      attachment: attachment({ id: 'other', deleteOnTermination: false }),
    });

    for (let round = 0; round < 3; round++) deleteOnTermination.step([lacking, ofOthers]);
    await clock.advance(600_000);

    expect(calls).toHaveLength(1);
  });

  test('is set again after a failure, as long as the instance has the attachment', async () => {
    const { deleteOnTermination, clock, calls } = rig('unreachable');
    deleteOnTermination.step([lacking]);
    await clock.advance(60_000);
    const whileThere = calls.length;

    deleteOnTermination.step([]);
    await clock.advance(600_000);

    expect(whileThere).toBeGreaterThan(2);
    expect(calls).toHaveLength(whileThere);
  });

  test.each<[string, readonly (CloudFailureKind | 'done')[], number]>([
    ['again of an interface that is not visible yet', ['notYetVisible', 'done'], 2],
    ['no more after a failure after which it cannot succeed', ['invalid'], 1],
  ])('is requested %s', async (_what, answers, asked) => {
    const { deleteOnTermination, clock, calls } = rig(...answers);

    deleteOnTermination.step([lacking]);
    await clock.advance(600_000);

    expect(calls).toHaveLength(asked);
  });

  test('ends when the interface is not known a consistency window later', async () => {
    const { deleteOnTermination, clock, calls } = rig('notYetVisible');

    deleteOnTermination.step([lacking]);
    await clock.advance(3_600_000);

    expect(calls.length).toBeGreaterThan(1);
    expect(calls.filter((at) => at >= consistencyWindow)).toHaveLength(1);
  });
});
