import { describe, expect, test } from '@jest/globals';
import { awsSection } from '../../../../src/providers/aws/cilium-node-section.ts';
import { ConflictingWriters } from '../../../../src/controller/eni/conflicting-writers.ts';
import type { CiliumNode } from '../../../../src/kubernetes/cilium-node/cilium-node.ts';
import { readCiliumNode } from '../../../../src/kubernetes/cilium-node/cilium-node-reader.ts';
import { createMetricRegistry } from '../../../../src/observability/metrics.ts';
import { MutationPermission, noPauses } from '../../../../src/providers/gate/mutation-permission.ts';
import { VirtualClock } from '../../../support/virtual-clock.ts';
import { recordingLogger } from '../../../support/recording-logger.ts';
import { ciliumNode } from '../../kubernetes/cilium-node-fixture.ts';

function nodeAt(
  resourceVersion: string,
  pool: readonly string[],
  { name = 'node-1', manager }: { readonly name?: string; readonly manager?: string | undefined } = {},
): CiliumNode {
  const entries = Object.fromEntries(pool.map((address) => [address, { resource: 'eni-1' }]));
  const fieldsV1 = { 'f:spec': { 'f:ipam': { 'f:pool': {} } } };
  const managedFields = manager === undefined ? [] : [{ manager, fieldsV1 }];
  const reading = readCiliumNode(
    ciliumNode({
      metadata: { name, resourceVersion, managedFields },
      spec: { ipam: { pool: { '10.0.0.1': null, ...entries } } },
    }),
    awsSection,
  );
  if (reading.kind !== 'node') throw new Error(JSON.stringify(reading.problems));
  return reading.node;
}

interface Rig {
  readonly clock: VirtualClock;
  readonly permission: MutationPermission;
  readonly writers: ConflictingWriters;
  readonly reported: string[];
}

function rig(change: Partial<ConstructorParameters<typeof ConflictingWriters>[0]> = {}, leads = true): Rig {
  const clock = new VirtualClock();
  const permission = new MutationPermission(noPauses);
  const reported: string[] = [];
  const writers = new ConflictingWriters({
    host: { clock, log: recordingLogger(), registry: createMetricRegistry({ measureProcess: false }) },
    leadership: { leads: () => leads, permission },
    ownWrites: { isAnswer: () => false, openOn: () => [], settle: () => undefined },
    counts: () => true,
    cluster: { nodesVersion: '200' },
    writer: { collectionVersion: () => Promise.resolve('100') },
    section: awsSection,
    events: { record: (_, { message }) => void reported.push(message) },
    ...change,
  });
  return { clock, permission, writers, reported };
}

/** What is paused after a pool changed, `after` ms into a term whose leader learned of version 100 at once. */
async function stateAfter(
  after: number,
  {
    version = '101',
    known,
    leads = true,
    versions = ['100'],
  }: {
    readonly version?: string;
    readonly known?: string;
    readonly leads?: boolean;
    readonly versions?: readonly (string | undefined)[];
  } = {},
): Promise<string> {
  const answers = [...versions];
  const change = {
    cluster: { nodesVersion: known ?? version },
    writer: { collectionVersion: () => Promise.resolve(answers.shift()) },
  };
  const { clock, permission, writers } = rig(change, leads);
  void writers.run(new AbortController().signal);
  await clock.advance(after);
  writers.check(nodeAt('90', ['10.0.0.1']), nodeAt(version, ['10.0.0.3']));
  writers.stop();
  return permission.pauses.conflictingWriter;
}

describe('a write that is not ours, seen', () => {
  test.each([
    ['in the first 20 s of a term', 19_000, {}, 'none'],
    ['afterwards', 21_000, {}, 'suspected'],
    ['made by the previous leader, and shown late by the watch', 900_000, { version: '100' }, 'none'],
    ['brought along by a later write, before the watch has come so far', 900_000, { known: '99' }, 'none'],
    [
      'before it can be known what the previous leader wrote',
      24_000,
      { versions: [undefined, '100'] },
      'none',
    ],
    ['once that can be known', 26_000, { versions: [undefined, '100'] }, 'suspected'],
    ['of versions without an order', 21_000, { version: 'b2' }, 'suspected'],
    ['by a process that no longer leads', 21_000, { leads: false }, 'none'],
  ])('%s', async (_, after, circumstances, pauses) => {
    expect(await stateAfter(after, circumstances)).toBe(pauses);
  });
});

describe('the pause after several conflicting writes', () => {
  const all = 'no node gets anything, and nothing is released from any until';
  const own = 'this node gets nothing, and nothing is released from any until';
  const releases = 'nothing is released from any node until';

  test.each<[string, readonly (readonly [node: string, manager: string | undefined])[], object, string]>([
    ['one, releases', [['a', 'kubectl-patch']], { conflictingWriter: 'suspected' }, releases],
    [
      'two of one node, that node',
      [
        ['a', 'kubectl-patch'],
        ['a', 'kubectl-edit'],
      ],
      { conflictingWriter: 'atWork', conflictingNodes: ['a'] },
      own,
    ],
    [
      'one of each of two nodes by one writer, everything',
      [
        ['a', 'kubectl-patch'],
        ['b', 'kubectl-patch'],
      ],
      { conflictingWriter: 'atWork', conflictingNodes: undefined },
      all,
    ],
    [
      'one of each of two nodes by writers without a name, everything',
      [
        ['a', undefined],
        ['b', undefined],
      ],
      { conflictingWriter: 'atWork', conflictingNodes: undefined },
      all,
    ],
    [
      'one of each of two nodes by two writers, releases',
      [
        ['a', 'kubectl-patch'],
        ['b', 'kubectl-edit'],
      ],
      { conflictingWriter: 'suspected' },
      releases,
    ],
    [
      'another of a third node, no more than before',
      [
        ['a', 'kubectl-patch'],
        ['a', 'kubectl-patch'],
        ['b', 'kubectl-edit'],
      ],
      { conflictingWriter: 'atWork', conflictingNodes: ['a'] },
      releases,
    ],
    [
      'one by a cilium-operator, everything',
      [['a', 'cilium-operator-aws']],
      { conflictingWriter: 'atWork', conflictingNodes: undefined },
      all,
    ],
  ])('covers after %s', async (_, writes, pauses, effect) => {
    const { writers, permission, reported, clock } = rig();
    void writers.run(new AbortController().signal);
    await clock.advance(21_000);

    for (const [index, [name, manager]] of writes.entries()) {
      writers.check(
        nodeAt('100', ['10.0.0.1'], { name }),
        nodeAt(`${101 + index}`, ['10.0.0.3'], { name, manager }),
      );
    }

    expect(permission.pauses).toMatchObject(pauses);
    expect(reported.at(-1)).toContain(writes.at(-1)?.[1] ?? 'another program');
    expect(reported.at(-1)).toContain(`wrote the pool or the interfaces of this CiliumNode: ${effect}`);
    await clock.advance(300_001);
    expect(permission.pauses).toEqual(noPauses);
    writers.stop();
  });
});
