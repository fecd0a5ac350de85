import { describe, expect, test } from '@jest/globals';
import type { CallContext } from '../../../../src/providers/contract/cloud.ts';
import type { Outcome } from '../../../../src/providers/contract/operations.ts';
import { CloudError, type CloudFailure } from '../../../../src/providers/contract/cloud-failure.ts';
import type { NetworkInterface } from '../../../../src/providers/contract/network-interface.ts';
import { MutationPermission, noPauses } from '../../../../src/providers/gate/mutation-permission.ts';
import { OrphanGc } from '../../../../src/providers/orphans/orphan-gc.ts';
import { Orphans } from '../../../../src/providers/orphans/orphans.ts';
import { sleep } from '../../../../src/runtime/clock.ts';
import { Random } from '../../../../src/runtime/random.ts';
import { VirtualClock } from '../../../support/virtual-clock.ts';
import { done, failed, failure, lost } from '../../node/outcomes.ts';
import { networkInterface } from '../interfaces.ts';
import { scriptedImplementation } from '../scripted-implementation.ts';

const interval = 300_000;

interface Setup {
  readonly ids?: readonly string[];
  readonly dryRun?: boolean;
  readonly isHeld?: boolean;
  /** The outcome of a deletion; undefined: it succeeds. The first is number 0. */
  readonly outcome?: (number: number) => Outcome | undefined;
  /** The failure of the second read. */
  readonly readFails?: (number: number) => CloudFailure | undefined;
  readonly whenAdmitted?: (orphans: Orphans) => void;
}

interface Rig {
  readonly clock: VirtualClock;
  readonly orphans: Orphans;
  /** `delete eni-1@ms`, `read eni-1@ms`. */
  readonly calls: string[];
  readonly priorities: Set<string>;
  readonly results: string[];
  readonly readFailures: CloudError[];
  readonly stop: () => Promise<void>;
}

function rig(setup: Setup = {}): Rig {
  const clock = new VirtualClock();
  const orphans = new Orphans({
    isHeld: () => false,
    changedAt: () => -Infinity,
    consistencyWindow: 30_000,
    onLeft: () => undefined,
  });
  const calls: string[] = [];
  const priorities = new Set<string>();
  const results: string[] = [];
  const readFailures: CloudError[] = [];
  let existing = (setup.ids ?? ['eni-1']).map(
    (id): NetworkInterface => networkInterface({ id, attachment: undefined }),
  );
  let deletions = 0;
  let reads = 0;
  const note = (call: string, { caller }: CallContext): void => {
    calls.push(`${call}@${clock.monotonic()}`);
    priorities.add(caller.priority);
  };
  const ports = {
    implementation: scriptedImplementation({
      admit: async (_, { signal }) => {
        setup.whenAdmitted?.(orphans);
        await sleep(clock, 0, signal);
        return () => undefined;
      },
      perform: async (operation, context) => {
        const id = operation.kind === 'deleteInterface' ? operation.interfaceId : operation.kind;
        note(`delete ${id}`, context);
        await sleep(clock, 0, context.signal);
        const outcome = setup.outcome?.(deletions++) ?? done({ kind: 'deleted', interfaceId: id });
        if (outcome.kind === 'done') existing = existing.filter((item) => item.id !== id);
        return outcome;
      },
      readDetached: ({ ids = [] }, context) => {
        note(`read ${ids.join()}`, context);
        const trouble = setup.readFails?.(reads++);
        if (trouble !== undefined) return Promise.reject(new CloudError(trouble));
        const interfaces = existing.filter(({ id }) => ids.includes(id));
        return Promise.resolve({ startedAt: clock.monotonic(), interfaces });
      },
    }),
    orphans,
    clock,
    random: new Random('collection'),
    scope: { tags: { owner: 'headwater' }, networkId: undefined },
  };
  const collection = new OrphanGc(ports, {
    interval,
    dryRun: setup.dryRun ?? false,
    permission: new MutationPermission({ ...noPauses, withdrawalsHeld: setup.isHeld ?? false }),
    evidence: () => () => true,
    readings: {
      request: () => {
        const now = clock.monotonic();
        orphans.apply({ startedAt: now, endedAt: now, interfaces: existing });
        return Promise.resolve();
      },
    },
    emit: (event) => {
      if (event.kind === 'readFailed') readFailures.push(event.error);
      else {
        const { interface: item, detachedFor, result } = event.collected;
        results.push(`${item.id} ${result.kind} after ${detachedFor}`);
      }
    },
  });
  const stopping = new AbortController();
  const running = collection.run(stopping.signal);
  const stop = (): Promise<void> => {
    stopping.abort();
    return running;
  };
  return { clock, orphans, calls, priorities, results, readFailures, stop };
}

describe('the collection of orphaned interfaces', () => {
  test('reads a second time right before it deletes, at the lowest priority', async () => {
    const { clock, calls, results, priorities } = rig();

    await clock.advance(interval * 3);

    expect(calls).toEqual([`read eni-1@${interval}`, `delete eni-1@${interval}`]);
    expect(results).toEqual([`eni-1 deleted after ${interval}`]);
    expect([...priorities]).toEqual(['housekeeping']);
  });

  test.each<[string, Outcome, string, number]>([
    ['is in use', failed('conflict'), 'inUse', 2],
    ['is gone', failed('interfaceGone'), 'gone', 2],
    ['may not be deleted', failed('notAuthorized'), 'failed', 1],
    ['is deleted by a call whose answer got lost', lost, 'failed', 1],
  ])('reports one that %s, and tries it again once it is due', async (_, outcome, kind, again) => {
    const { clock, calls, results } = rig({ outcome: (number) => (number === 0 ? outcome : undefined) });

    await clock.advance(interval * 3 + 1000);

    expect(results[0]).toBe(`eni-1 ${kind} after ${interval}`);
    // An interface that was dropped must be seen for an interval again.
    expect(calls.filter((call) => call.startsWith('delete'))).toEqual([
      `delete eni-1@${interval}`,
      `delete eni-1@${interval * (1 + again)}`,
    ]);
    expect(results).toHaveLength(2);
  });

  test('ends a pass silently when nothing may be taken away', async () => {
    const { clock, calls, results } = rig({
      ids: ['eni-1', 'eni-2'],
      outcome: (number) => (number === 0 ? failed('fenced') : undefined),
    });

    await clock.advance(interval + 1000);
    const first = [...calls];
    await clock.advance(interval);

    expect(first).toEqual([`read eni-1,eni-2@${interval}`, `delete eni-1@${interval}`]);
    expect(results.map((line) => line.split(' after')[0])).toEqual(['eni-1 deleted', 'eni-2 deleted']);
  });

  test('tries again soon when the second read fails, and more and more rarely', async () => {
    const { clock, calls, readFailures } = rig({
      readFails: (number) => (number < 5 ? failure('throttled') : undefined),
    });

    await clock.advance(interval + 60_000);

    const reads = calls.filter((call) => call.startsWith('read'));
    expect(reads).toHaveLength(6);
    expect(readFailures).toHaveLength(5);
    expect(calls.at(-1)).toMatch(/^delete eni-1/);
  });

  test('leaves out what this process took meanwhile', async () => {
    let taken = false;
    const { clock, calls } = rig({
      ids: ['eni-1', 'eni-2'],
      whenAdmitted: (orphans) => {
        taken ||= orphans.claim('eni-2') !== undefined;
      },
    });

    await clock.advance(interval * 5);

    expect(taken).toBe(true);
    expect(calls.filter((call) => call.startsWith('delete'))).toEqual([`delete eni-1@${interval}`]);
  });

  test('only logs in a dry run, once for each interface', async () => {
    const { clock, calls, results } = rig({ dryRun: true, ids: ['eni-1', 'eni-2'] });

    await clock.advance(interval * 5);

    expect(calls).toEqual([]);
    expect(results).toEqual([`eni-1 wouldDelete after ${interval}`, `eni-2 wouldDelete after ${interval}`]);
  });

  test('does nothing while nothing may be taken away', async () => {
    const { clock, calls, results } = rig({ isHeld: true, ids: ['eni-1'] });

    await clock.advance(interval * 5);

    expect([...calls, ...results]).toEqual([]);
  });

  test('ends on request', async () => {
    const { clock, calls, stop } = rig();
    await clock.advance(1000);

    await stop();
    await clock.advance(interval * 3);

    expect(calls).toEqual([]);
  });
});
