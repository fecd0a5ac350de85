import { describe, expect, test } from '@jest/globals';
import { CiliumNodeGc, type GcFacts, gcPlan } from '../../../../src/kubernetes/cilium-node/cilium-node-gc.ts';
import { ciliumNodeHolder } from '../../../../src/blocks/cluster-pool/cilium-node-holders.ts';
import { VirtualClock } from '../../../support/virtual-clock.ts';

const interval = 300_000;
const now = 1_000_000;
const wall = Date.UTC(2026, 0, 2);

function ciliumNode(name: string, metadata: object = {}): ReturnType<typeof ciliumNodeHolder> {
  const creationTimestamp = '2026-01-01T00:00:00Z';
  return ciliumNodeHolder({
    metadata: { name, uid: `uid-of-${name}`, resourceVersion: '1', creationTimestamp, ...metadata },
  });
}

/** Objects in their first state. */
function marked(uids: readonly string[], since: number): GcFacts['marks'] {
  return new Map(uids.map((uid) => [uid, { version: '1', since }]));
}

function planFor(facts: Partial<GcFacts>): readonly string[] {
  const marks = marked(['uid-of-a'], now - interval);
  const all = {
    ciliumNodes: [ciliumNode('a')],
    nodeNames: new Set(['other']),
    marks,
    tries: new Map(),
    interval,
    now,
    wall,
  };
  return gcPlan({ ...all, ...facts }).due.map(({ name }) => name);
}

describe('a pass over CiliumNodes', () => {
  test('finds one that an earlier pass saw without a Node', () => {
    expect(planFor({})).toEqual(['a']);
  });

  test.each<[string, Partial<GcFacts>]>([
    ['whose Node is there', { nodeNames: new Set(['a']) }],
    ['that no pass saw before', { marks: new Map() }],
    ['that was seen less than an interval ago', { marks: marked(['uid-of-a'], now - interval + 1) }],
    [
      'that something owns',
      { ciliumNodes: [ciliumNode('a', { ownerReferences: [{ kind: 'Node', uid: 'x' }] })] },
    ],
    [
      'that is ignored',
      { ciliumNodes: [ciliumNode('a', { annotations: { 'ipam.cilium.io/ignore': 'True' } })] },
    ],
    [
      'that is to be kept',
      { ciliumNodes: [ciliumNode('a', { annotations: { 'cilium.io/do-not-gc': 'True' } })] },
    ],
    [
      'that is younger than an interval',
      { ciliumNodes: [ciliumNode('a', { creationTimestamp: '2026-01-01T23:58:00Z' })] },
    ],
    [
      'that is being deleted',
      { ciliumNodes: [ciliumNode('a', { deletionTimestamp: '2026-01-01T12:00:00Z' })] },
    ],
    ['of unknown age', { ciliumNodes: [ciliumNode('a', { creationTimestamp: 'lately' })] }],
    ['that somebody wrote since', { ciliumNodes: [ciliumNode('a', { resourceVersion: '2' })] }],
    ['that replaced the one that was seen', { ciliumNodes: [ciliumNode('a', { uid: 'uid-of-another' })] }],
  ])('leaves one %s', (_, facts) => {
    expect(planFor(facts)).toEqual([]);
  });

  test('forgets one whose Node has come back', () => {
    const ciliumNodes = [ciliumNode('a')];
    const marks = marked(['uid-of-a'], 0);
    const facts = { ciliumNodes, nodeNames: new Set(['a']), marks, tries: new Map(), interval, now, wall };

    expect(gcPlan(facts).marks.size).toBe(0);
  });

  test('takes a tenth of all, or one', () => {
    const ciliumNodes = Array.from({ length: 25 }, (_, index) => ciliumNode(`n${index}`));
    const marks = marked(
      ciliumNodes.map(({ uid }) => uid),
      0,
    );
    const facts = {
      ciliumNodes,
      nodeNames: new Set(['other']),
      marks,
      tries: new Map(),
      interval,
      now,
      wall,
    };

    expect(gcPlan(facts)).toMatchObject({ due: { length: 25 }, max: 2 });
    expect(gcPlan({ ...facts, ciliumNodes: ciliumNodes.slice(0, 3) })).toMatchObject({ max: 1 });
  });

  test('begins with those that no pass tried to delete, and goes on with the one that waits the longest', () => {
    const ciliumNodes = ['a', 'b', 'c', 'd'].map((name) => ciliumNode(name));
    const marks = marked(
      ciliumNodes.map(({ uid }) => uid),
      0,
    );
    const tries = new Map([
      ['uid-of-a', 20],
      ['uid-of-c', 10],
    ]);

    expect(planFor({ ciliumNodes, marks, tries })).toEqual(['b', 'd', 'c', 'a']);
  });
});

describe('the garbage collection', () => {
  async function deletedWithin(passes: number, between: (gc: CiliumNodeGc, pass: number) => void) {
    const clock = new VirtualClock();
    await clock.advance(2 * interval);
    const deleted: string[] = [];
    const gc = new CiliumNodeGc({
      interval,
      ciliumNodes: () => [ciliumNode('a', { creationTimestamp: '1970-01-01T00:00:00Z' })],
      nodeNames: () => new Set(['other']),
      refusal: () => undefined,
      isNodeGone: () => Promise.resolve(true),
      remove: ({ name }) => {
        deleted.push(name);
        return Promise.resolve('deleted');
      },
      onOutcome: () => undefined,
      clock,
    });
    const ending = new AbortController();
    gc.run(ending.signal).catch(() => undefined);
    for (let pass = 1; pass <= passes; pass++) {
      between(gc, pass);
      await clock.advance(interval);
    }
    ending.abort();
    return deleted;
  }

  test('deletes a CiliumNode whose Node was away all the time', async () => {
    expect(await deletedWithin(1, () => undefined)).toEqual(['a']);
  });

  test('keeps one whose Node was there between two passes', async () => {
    expect(await deletedWithin(4, (gc) => gc.noteNode('a'))).toEqual([]);
  });
});
