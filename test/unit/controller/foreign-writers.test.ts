import { describe, expect, test } from '@jest/globals';
import { ForeignWriters } from '../../../src/controller/foreign-writers.ts';
import type { CiliumNode } from '../../../src/kubernetes/cilium-node.ts';
import { readCiliumNode } from '../../../src/kubernetes/cilium-node-reader.ts';
import { MutationPermission, noStops } from '../../../src/providers/mutation-permission.ts';
import { VirtualClock } from '../../../src/scheduling/virtual-clock.ts';
import { recordingLogger } from '../../support/recording-logger.ts';
import { ciliumNode } from '../kubernetes/cilium-node-fixture.ts';

function nodeAt(resourceVersion: string, pool: readonly string[]): CiliumNode {
  const entries = Object.fromEntries(pool.map((address) => [address, { resource: 'eni-1' }]));
  const reading = readCiliumNode(
    ciliumNode({ metadata: { resourceVersion }, spec: { ipam: { pool: { '10.0.0.1': null, ...entries } } } }),
  );
  if (reading.kind !== 'node') throw new Error(JSON.stringify(reading.problems));
  return reading.node;
}

/** What stops after a pool was seen to change, `after` ms into a term that learnt of version 100 as soon as it could. */
async function stopsAfter(
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
  const clock = new VirtualClock();
  const permission = new MutationPermission(noStops);
  const answers = [...versions];
  const writers = new ForeignWriters({
    clock,
    permission,
    ownWrites: { isAnswer: () => false, openOn: () => [], settle: () => undefined },
    leads: () => leads,
    knownVersion: () => known ?? version,
    collectionVersion: () => Promise.resolve(answers.shift()),
    statusKey: 'eni',
    log: recordingLogger(),
    metrics: { headwater_foreign_writes_total: { add: () => undefined } },
    tell: () => undefined,
  });
  void writers.run(new AbortController().signal);
  await clock.advance(after);
  writers.judge(nodeAt('90', ['10.0.0.1']), nodeAt(version, ['10.0.0.3']));
  writers.stop();
  return permission.stops.foreignWriter;
}

describe('a write that is not ours', () => {
  test.each([
    ['in the first 20 s of a term', 19_000, {}, 'none'],
    ['afterwards', 21_000, {}, 'suspected'],
    ['that the leader before made, of which the watch tells late', 900_000, { version: '100' }, 'none'],
    ['brought along by a later write, before the watch has come so far', 900_000, { known: '99' }, 'none'],
    [
      'before anybody could say what the leader before wrote',
      24_000,
      { versions: [undefined, '100'] },
      'none',
    ],
    ['once somebody could say it', 26_000, { versions: [undefined, '100'] }, 'suspected'],
    ['of versions that tell no order', 21_000, { version: 'b2' }, 'suspected'],
    ['told to a process that does not lead any more', 21_000, { leads: false }, 'none'],
  ])('%s', async (_, after, circumstances, stops) => {
    expect(await stopsAfter(after, circumstances)).toBe(stops);
  });
});
