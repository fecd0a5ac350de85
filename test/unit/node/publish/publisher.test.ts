import { expect, test } from '@jest/globals';
import type { ReadOutcome, WriteOutcome } from '../../../../src/kubernetes/cilium-node/cilium-node-writer.ts';
import { NodePublisher } from '../../../../src/node/publish/publisher.ts';
import { Random } from '../../../../src/runtime/random.ts';
import { VirtualClock } from '../../../../src/runtime/virtual-clock.ts';
import { nodeOf } from '../cilium-nodes.ts';

const refusals: readonly WriteOutcome[] = [
  { kind: 'denied', message: 'by a webhook' },
  { kind: 'invalid', message: 'by a webhook' },
];

/** A publisher whose first write has this outcome, while the desired text changes. */
function rig(
  outcome: WriteOutcome,
  read?: ReadOutcome,
): { publisher: NodePublisher; written: unknown[]; changeTo: string } {
  const node = nodeOf({});
  let operatorError = 'one';
  const written: unknown[] = [];
  const setup = { changeTo: 'two' };
  const publisher = new NodePublisher({
    writer: {
      patchSpec: () => Promise.reject(new Error('nothing is offered')),
      patchStatus: (_, patch) => {
        written.push(patch);
        operatorError = setup.changeTo;
        return Promise.resolve(outcome);
      },
      get: () => (read ? Promise.resolve(read) : Promise.reject(new Error('nothing is to be read'))),
    },
    permission: { refusal: () => undefined },
    clock: new VirtualClock(),
    random: new Random('publisher'),
    object: { node, writtenAt: -Infinity },
    desired: () => ({ offer: undefined, handshake: undefined, operatorError }),
    observe: () => undefined,
    onWrite: () => undefined,
    onTrouble: () => undefined,
    onHeld: () => undefined,
    onPublished: () => undefined,
  });
  return Object.assign(setup, { publisher, written });
}

const signal = new AbortController().signal;
const texts = (written: readonly unknown[]): readonly unknown[] =>
  written.map(
    (patch) => (patch as { ipam: { 'operator-status': { error: string } } }).ipam['operator-status'].error,
  );

test.each(refusals)('a change made during a refused write is written afterwards: $kind', async (outcome) => {
  const { publisher, written } = rig(outcome);

  const again = await publisher.run(signal);

  expect(texts(written)).toEqual(['one', 'two']);
  expect(again).toBe(30_000);
});

test.each(refusals)('a refused write is not repeated for a while: $kind', async (outcome) => {
  const made = rig(outcome);
  made.changeTo = 'one';

  expect(await made.publisher.run(signal)).toBe(30_000);
  expect(texts(made.written)).toEqual(['one']);
});

test('an object that is not found is read again, because it may exist', async () => {
  expect(await rig({ kind: 'gone' }).publisher.run(signal)).toBe(30_000);
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
  const { publisher } = rig(outcome, read);

  await publisher.run(signal);

  expect(publisher.isStuck).toBe(isStuck);
});
