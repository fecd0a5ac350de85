import { expect, test } from '@jest/globals';
import { StaticAddress } from '../../../../src/node/housekeeping/static-address.ts';
import type { PublicAddressClaim } from '../../../../src/providers/catalog/public-address-pool.ts';
import type { Outcome } from '../../../../src/providers/contract/operations.ts';
import { Random } from '../../../../src/runtime/random.ts';
import { TaskGroup } from '../../../../src/runtime/task-group.ts';
import { VirtualClock } from '../../../support/virtual-clock.ts';
import { scriptedImplementation } from '../../providers/scripted-implementation.ts';
import { eni, view } from '../allocation-facts.ts';
import { failed, lost } from '../outcomes.ts';

const address = { id: 'eipalloc-1', address: '203.0.113.1', tags: {}, taken: false, interfaceId: undefined };

/** A cloud with this address and this outcome of each association; it answers no refresh. */
function rig(claim: PublicAddressClaim, outcome: Outcome, isBusy = false) {
  const clock = new VirtualClock();
  const refreshes: number[] = [];
  const performed: string[] = [];
  /** The instances that admissions name. */
  const admitted: (string | undefined)[] = [];
  const bugs: unknown[] = [];
  const tasks = new TaskGroup({ clock, onBug: (error) => bugs.push(error) });
  const facts = {
    tags: { pool: 'egress' },
    view: view([eni(0)]),
    isPossible: true,
    isAwaited: false,
    isBusy,
  };
  const staticAddress = new StaticAddress(
    {
      instanceId: 'i-1',
      implementation: scriptedImplementation({
        admit: (_, { instanceId }) => {
          admitted.push(instanceId);
          return Promise.resolve(() => undefined);
        },
        perform: (operation) => {
          performed.push(operation.kind);
          return Promise.resolve(outcome);
        },
      }),
      associating: undefined,
      forStaticAddress: () => facts,
      applyAnswer: () => undefined,
      refresh: () => {
        refreshes.push(clock.monotonic());
        return new Promise(() => undefined);
      },
      refusal: () => undefined,
      tell: () => undefined,
    },
    { clock, random: new Random('static-ip'), tasks },
    { claim: () => Promise.resolve(claim) },
  );
  return {
    clock,
    refreshes,
    performed,
    admitted,
    bugs,
    tasks,
    staticAddress,
    begin: () => staticAddress.step(clock.monotonic()),
  };
}

const claimed: PublicAddressClaim = { kind: 'claimed', address, settle: () => undefined };

test.each<[string, PublicAddressClaim, Outcome]>([
  ['an association without an answer', claimed, lost],
  ['an association that shows the instance gone', claimed, failed('instanceGone')],
  ['a listing that shows an address in place', { kind: 'held', address }, lost],
])('a static address that is stopped does not wait for the refresh after %s', async (_, claim, outcome) => {
  const { clock, refreshes, bugs, tasks, begin } = rig(claim, outcome);
  begin();
  await clock.advance(0);
  let isOver = false;

  void tasks.stop(AbortSignal.abort()).then(() => {
    isOver = true;
  });
  await clock.advance(0);

  expect(refreshes).toHaveLength(1);
  expect({ isOver, bugs }).toEqual({ isOver: true, bugs: [] });
});

test.each([
  ['the address', undefined, 'refused'],
  ['the instance', 'instance', 'free'],
] as const)('an association refused because of %s leaves the address as it should', async (_, about, end) => {
  const ends: string[] = [];
  const claim: PublicAddressClaim = { kind: 'claimed', address, settle: (as) => ends.push(as) };
  const outcome = failed('conflict');
  const refused = about === undefined ? outcome : withSubject(outcome, about);
  const { clock, tasks, begin } = rig(claim, refused);

  begin();
  await clock.advance(0);
  void tasks.stop(AbortSignal.abort());

  expect(ends).toEqual([end]);
});

function withSubject(outcome: Outcome, about: 'instance'): Outcome {
  if (outcome.kind === 'done') throw new Error('nothing has failed');
  return { ...outcome, failure: { ...outcome.failure, about } };
}

test('an association is not sent beside a change that excludes it', async () => {
  const { clock, tasks, performed, begin } = rig(claimed, lost, true);

  begin();
  await clock.advance(600_000);
  void tasks.stop(AbortSignal.abort());

  expect(performed).toEqual([]);
});

test('an association waits for the rate limits of its instance, too', async () => {
  const { clock, admitted, begin } = rig(claimed, lost);
  begin();
  await clock.advance(0);

  expect(admitted).toEqual(['i-1']);
});

test.each([
  ['limitReached', true],
  ['notAuthorized', true],
  ['unknown', false],
] as const)('an association that fails once with %s is a warning: %s', async (kind, isWarned) => {
  const { clock, staticAddress, tasks, begin } = rig(claimed, failed(kind));

  begin();
  await clock.advance(0);
  void tasks.stop(AbortSignal.abort());

  expect(staticAddress.problem.warning !== undefined).toBe(isWarned);
});
