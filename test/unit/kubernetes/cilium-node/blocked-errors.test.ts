import { describe, expect, test } from '@jest/globals';
import type { ReadOutcome, WriteOutcome } from '../../../../src/kubernetes/transport/write-outcome.ts';
import type { JsonObject } from '../../../../src/runtime/json.ts';
import { BlockedErrors } from '../../../../src/kubernetes/cilium-node/blocked-errors.ts';
import { Random } from '../../../../src/runtime/random.ts';
import { VirtualClock } from '../../../support/virtual-clock.ts';

const node = { name: 'one', uid: 'uid-1' };

function objectOf(error?: string, uid = node.uid): JsonObject {
  const status = error === undefined ? {} : { ipam: { 'operator-status': { error } } };
  return { metadata: { name: node.name, uid, resourceVersion: '7' }, status };
}

interface Rig {
  readonly errors: BlockedErrors;
  readonly clock: VirtualClock;
  readonly patches: unknown[];
}

function rigOf(
  reads: readonly ReadOutcome[],
  writes: readonly WriteOutcome[] = [{ kind: 'written', raw: {} }],
  mayWrite: () => boolean = () => true,
  observe: (raw: JsonObject) => void = () => undefined,
): Rig {
  const clock = new VirtualClock();
  const patches: unknown[] = [];
  const [nextRead, nextWrite] = [reads.values(), writes.values()];
  const writer: ConstructorParameters<typeof BlockedErrors>[1] = {
    get: () => Promise.resolve(nextRead.next().value ?? reads[0] ?? { kind: 'gone' }),
    patchStatus: (target, status) => {
      patches.push([target.resourceVersion, status]);
      return Promise.resolve(nextWrite.next().value ?? { kind: 'written', raw: {} });
    },
  };
  const ports = { clock, random: new Random('blocked'), onBug: (error: unknown) => patches.push(error) };
  const errors = new BlockedErrors(ports, writer, { observe }, mayWrite);
  return { errors, clock, patches };
}

const found = (raw: JsonObject): ReadOutcome => ({ kind: 'found', raw });
const said = (error: string): unknown => ['7', { ipam: { 'operator-status': { error } } }];
const away = { kind: 'unavailable', message: 'no answer' } as const;

describe('the reason why a CiliumNode is not served', () => {
  test.each<[string, Parameters<typeof rigOf>, readonly unknown[]]>([
    ['is written into its status', [[found(objectOf())]], [said('why')]],
    ['replaces another reason', [[found(objectOf('before'))]], [said('why')]],
    ['is not written when the status has it already', [[found(objectOf('why'))]], []],
    ['is not written into another object of that name', [[found(objectOf(undefined, 'uid-2'))]], []],
    ['is not written when the CiliumNode is gone', [[{ kind: 'gone' }]], []],
    ['is not written while writes are not allowed', [[found(objectOf())], undefined, () => false], []],
    [
      'is written again when the object has changed',
      [[found(objectOf())], [{ kind: 'conflict', message: '' }]],
      [said('why'), said('why')],
    ],
    ['is written again when no answer arrived', [[away, found(objectOf())]], [said('why')]],
    [
      'is not repeated after a refusal',
      [[found(objectOf())], [{ kind: 'denied', message: 'no' }]],
      [said('why')],
    ],
  ])('%s', async (_, [reads, writes, mayWrite], expected) => {
    const { errors, clock, patches } = rigOf(reads, writes, mayWrite);

    errors.writeError(node, 'why');
    await clock.advance(120_000);

    expect(patches).toEqual(expected);
  });

  test('is written as soon as a busy server allows', async () => {
    const busy = { kind: 'unavailable', message: 'busy', retryAfterMs: 20_000 } as const;
    const { errors, clock, patches } = rigOf([found(objectOf())], [busy]);

    errors.writeError(node, 'why');
    await clock.advance(19_999);
    const early = patches.length;
    await clock.advance(5001);

    expect([early, patches]).toEqual([1, [said('why'), said('why')]]);
  });

  test('is the last one that was reported, and none once the node is served', async () => {
    const { errors, clock, patches } = rigOf([found(objectOf())]);

    errors.writeError(node, 'first');
    errors.writeError(node, 'second');
    errors.writeError({ ...node, name: 'two' }, 'never');
    errors.writeError({ ...node, name: 'two' }, undefined);
    await clock.advance(1000);

    expect(patches.at(-1)).toEqual(said('second'));
    expect(patches).not.toContainEqual(said('never'));
  });

  test('is forgotten with its CiliumNode while it waits', async () => {
    let mayWrite = false;
    const { errors, clock, patches } = rigOf([found(objectOf())], undefined, () => mayWrite);
    errors.writeError(node, 'why');

    errors.forget(node.name);
    mayWrite = true;
    errors.resume();
    await clock.advance(1000);

    expect(patches).toEqual([]);
  });

  test('is not written when the object that is read is served again', async () => {
    const observed: JsonObject[] = [];
    const { errors, clock, patches } = rigOf([found(objectOf())], undefined, undefined, (raw) => {
      observed.push(raw);
      errors.writeError(node, undefined);
    });

    errors.writeError(node, 'why');
    await clock.advance(1000);

    expect(observed).toEqual([objectOf()]);
    expect(patches).toEqual([]);
  });

  test('waits while writes are not allowed, and is written once they are', async () => {
    let mayWrite = false;
    const { errors, clock, patches } = rigOf([found(objectOf())], undefined, () => mayWrite);
    errors.writeError(node, 'why');
    await clock.advance(120_000);
    const before = [...patches];

    mayWrite = true;
    errors.resume();
    await clock.advance(1000);

    expect([before, patches]).toEqual([[], [said('why')]]);
  });
});
