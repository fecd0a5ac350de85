import { describe, expect, test } from '@jest/globals';
import { JoinJournal } from '../../../../bench/rig/join-journal.ts';
import type { WorkloadEventKind } from '../../../../src/simulator/workload/journal.ts';

type Line = readonly [at: number, node: string, kind: WorkloadEventKind, detail?: string];

function journalOf(...lines: readonly Line[]): JoinJournal {
  const journal = new JoinJournal();
  for (const [at, node, kind, detail = ''] of lines) journal.note({ at, node, kind, detail });
  return journal;
}

describe('the journal of joining nodes', () => {
  test.each<[string, readonly Line[], readonly number[], number]>([
    ['has nothing of a node that is not ready', [[0, 'a', 'written']], [], 0],
    [
      'measures from the first write of a CiliumNode',
      [
        [1000, 'a', 'written'],
        [1500, 'a', 'written'],
        [1750, 'a', 'agent-serving'],
      ],
      [0.75],
      0,
    ],
    [
      'counts a node once whose agent met several writes of ours',
      [
        [0, 'a', 'written'],
        [10, 'a', 'write-refused', '409 Conflict'],
        [60_000, 'a', 'write-refused', '409 Conflict'],
        [120_000, 'a', 'agent-serving'],
      ],
      [120],
      1,
    ],
    [
      'counts neither another refusal, nor one after the node was ready',
      [
        [0, 'a', 'write-refused', '409 AlreadyExists'],
        [0, 'a', 'written'],
        [10, 'a', 'write-refused', '503 ServiceUnavailable'],
        [500, 'a', 'agent-serving'],
        [600, 'a', 'write-refused', '409 Conflict'],
      ],
      [0.5],
      0,
    ],
  ])('%s', (_, lines, seconds, conflicts) => {
    const journal = journalOf(...lines);

    expect([journal.seconds, journal.conflicts]).toEqual([seconds, conflicts]);
  });
});
