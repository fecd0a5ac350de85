import { expect, test } from '@jest/globals';
import { StaticAddress, type StaticAddressDeps } from '../../../../src/node/housekeeping/static-address.ts';
import type { Outcome } from '../../../../src/providers/contract/operation.ts';
import { Random } from '../../../../src/runtime/random.ts';
import { TaskGroup } from '../../../../src/runtime/task-group.ts';
import { VirtualClock } from '../../../../src/runtime/virtual-clock.ts';
import { scriptedImplementation } from '../../providers/scripted-implementation.ts';
import { eni, view } from '../allocation-facts.ts';
import { failed, lost } from '../outcomes.ts';

const address = { id: 'eipalloc-1', address: '203.0.113.1', tags: {}, taken: false, interfaceId: undefined };

type Claim = Awaited<ReturnType<StaticAddressDeps['publicAddresses']['claim']>>;

/** A cloud with this address and this outcome of each association; it answers no refresh. */
function rig(claim: Claim, outcome: Outcome) {
  const clock = new VirtualClock();
  const refreshes: number[] = [];
  const bugs: unknown[] = [];
  const tasks = new TaskGroup({ clock, onBug: (error) => bugs.push(error) });
  const facts = { tags: { pool: 'egress' }, view: view([eni(0)]), isBusy: false };
  const staticAddress = new StaticAddress({
    node: {
      instanceId: 'i-1',
      implementation: scriptedImplementation({
        admit: () => Promise.resolve(() => undefined),
        perform: () => Promise.resolve(outcome),
      }),
      associating: undefined,
      forStaticAddress: () => facts,
      applyAnswer: () => undefined,
      refresh: () => {
        refreshes.push(clock.monotonic());
        return new Promise(() => undefined);
      },
    },
    publicAddresses: { claim: () => Promise.resolve(claim) },
    clock,
    random: new Random('static-ip'),
    tasks,
    permission: { refusal: () => undefined },
    onAssociated: () => undefined,
  });
  return { clock, refreshes, bugs, tasks, begin: () => staticAddress.step(facts, clock.monotonic()) };
}

const claimed: Claim = { kind: 'claimed', address, settle: () => undefined };

test.each<[string, Claim, Outcome]>([
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
