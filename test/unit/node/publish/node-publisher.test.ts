import { expect, test } from '@jest/globals';
import type { ReadOutcome, WriteOutcome } from '../../../../src/kubernetes/transport/write-outcome.ts';
import {
  NodePublisher,
  type OpenWrite,
  type PublishedObject,
  type PublishResult,
} from '../../../../src/node/publish/node-publisher.ts';
import { Random } from '../../../../src/runtime/random.ts';
import { VirtualClock } from '../../../support/virtual-clock.ts';
import { nodeOf } from '../cilium-nodes.ts';

const refusals: readonly WriteOutcome[] = [
  { kind: 'denied', message: 'by a webhook' },
  { kind: 'invalid', message: 'by a webhook' },
];

/** A publisher whose first write has this outcome, while the desired text changes. */
function rig(
  outcome: WriteOutcome | Promise<WriteOutcome> | readonly WriteOutcome[],
  read?: ReadOutcome | Promise<ReadOutcome>,
): {
  publisher: NodePublisher;
  object: PublishedObject;
  written: unknown[];
  changeTo: string;
  run: () => Promise<PublishResult>;
} {
  const node = nodeOf({});
  let operatorError = 'one';
  const written: unknown[] = [];
  const ends = [outcome].flat();
  const setup = { changeTo: 'two' };
  const object: PublishedObject = {
    node,
    pendingPods: 0,
    priority: 'normal',
    writtenAt: -Infinity,
    openWrite: undefined,
    seenAt: 0,
    agentWroteAt: 0,
    implementation: { traits: { poolRequests: false } },
    refusal: () => undefined,
    tell: () => undefined,
  };
  const runtime = { clock: new VirtualClock(), random: new Random('publisher') };
  const publisher = new NodePublisher(object, runtime, {
    own: {
      patchSpec: () => Promise.reject(new Error('nothing is offered')),
      patchStatus: (_, patch) => {
        written.push(patch);
        operatorError = setup.changeTo;
        const [next = { kind: 'gone' } as const] = ends.splice(0, ends.length > 1 ? 1 : 0).concat(ends);
        return Promise.resolve(next);
      },
      get: () => (read ? Promise.resolve(read) : Promise.reject(new Error('nothing is to be read'))),
    },
    known: { observe: () => undefined },
  });
  const run = async (): Promise<PublishResult> => {
    publisher.beginRun();
    for (;;) {
      const result = await publisher.step({ offer: undefined, handshake: undefined, operatorError }, signal);
      if (result.kind !== 'goesOn') return result;
    }
  };
  return Object.assign(setup, { publisher, object, written, run });
}

const signal = new AbortController().signal;
const refused = { kind: 'paused', requeueAfter: 30_000 };
const texts = (written: readonly unknown[]): readonly unknown[] =>
  written.map(
    (patch) => (patch as { ipam: { 'operator-status': { error: string } } }).ipam['operator-status'].error,
  );

test.each(refusals)('a change made during a refused write is written afterwards: $kind', async (outcome) => {
  const { run, written } = rig(outcome);

  const again = await run();

  expect(texts(written)).toEqual(['one', 'two']);
  expect(again).toEqual(refused);
});

test.each(refusals)('a refused write is not repeated for a while: $kind', async (outcome) => {
  const made = rig(outcome);
  made.changeTo = 'one';

  expect(await made.run()).toEqual(refused);
  expect(texts(made.written)).toEqual(['one']);
});

test('a busy API server is asked again when it allows, however often it refused', async () => {
  const { run } = rig({ kind: 'unavailable', message: 'busy', retryAfterMs: 1000 });

  for (let refused = 0; refused < 10; refused++) {
    const { requeueAfter = 0 } = (await run()) as { readonly requeueAfter?: number };
    expect(requeueAfter).toBeGreaterThanOrEqual(1000);
    expect(requeueAfter).toBeLessThanOrEqual(1250);
  }
});

test('an object that is not found is read again, because it may exist', async () => {
  expect(await rig({ kind: 'gone' }).run()).toEqual(refused);
});

test.each<[string, WriteOutcome, ReadOutcome | undefined, boolean]>([
  ['gives no answer to the write', { kind: 'unavailable', message: 'silence' }, undefined, true],
  ['refuses the write', { kind: 'denied', message: 'by a webhook' }, undefined, false],
  [
    'gives no answer to the read after a conflict',
    { kind: 'conflict', message: 'newer' },
    { kind: 'unavailable', message: 'silence' },
    true,
  ],
  [
    'no longer has the object after a conflict',
    { kind: 'conflict', message: 'newer' },
    { kind: 'gone' },
    false,
  ],
])('tells whether a write is stuck when the API server %s', async (_, outcome, read, isStuck) => {
  const { publisher, run } = rig(outcome, read);

  await run();

  expect(publisher.isStuck).toBe(isStuck);
});

test.each<[string, WriteOutcome | undefined, boolean]>([
  ['write, which may have any effect', undefined, true],
  ['read after a conflict, and has no effect any more', { kind: 'conflict', message: 'newer' }, false],
])('a write is stuck while the API server owes the answer to the %s', async (_, outcome, isWriting) => {
  const owed = Promise.withResolvers<Extract<WriteOutcome & ReadOutcome, { kind: 'gone' }>>();
  const { publisher, object, run } = rig(outcome ?? owed.promise, owed.promise);
  const state = (): readonly boolean[] => [publisher.isStuck, object.openWrite?.until === Infinity];
  const before = state();

  const running = run();
  await Promise.resolve();
  await Promise.resolve();
  const meanwhile = state();
  owed.resolve({ kind: 'gone' });
  await running;

  expect([before, meanwhile, state()]).toEqual([
    [false, false],
    [true, isWriting],
    [false, false],
  ]);
});

test.each<[string, WriteOutcome, OpenWrite | undefined]>([
  [
    'may take effect for a minute, on the version that it is about',
    { kind: 'unavailable', message: 'silence' },
    { version: nodeOf({}).resourceVersion, until: 60_000 },
  ],
  ['has no effect any more', { kind: 'denied', message: 'no' }, undefined],
])('a lost or refused write %s: %j', async (_, outcome, expected) => {
  const { object, run } = rig(outcome);

  await run();

  expect(object.openWrite).toEqual(expected);
});

const silence: WriteOutcome = { kind: 'unavailable', message: 'silence' };

test.each<[string, WriteOutcome, number | undefined]>([
  ['is refused', { kind: 'denied', message: 'no' }, 60_000],
  ['is invalid', { kind: 'invalid', message: 'no' }, 60_000],
  ['finds another version', { kind: 'conflict', message: 'newer' }, undefined],
  ['changes the version', { kind: 'written', raw: { metadata: { resourceVersion: 'another' } } }, undefined],
])('how long a lost write counts after one of the same version that %s', async (_, later, until) => {
  const { object, run } = rig([silence, later], { kind: 'gone' });

  await run();
  await run();

  expect(object.openWrite?.until).toBe(until);
});
