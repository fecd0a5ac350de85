import { describe, expect, test } from '@jest/globals';
import { nodeStatusReport } from '../../../../src/controller/reporting/node-status-report.ts';
import { eni } from '../../node/allocation-facts.ts';
import { servedEntry, unservedEntry } from '../node-summaries.ts';

const facts = { state: 'leading', leader: undefined, now: 60_000 } as const;

const full = { reason: 'SubnetsExhausted', message: 'no address is left' } as const;

describe('the answer of /status about one node', () => {
  test('is all that is known, even if the node is satisfied', () => {
    const summaries = [servedEntry('other'), servedEntry('one', { interfaces: [eni(0, 4)] })];

    expect(nodeStatusReport('one', summaries, facts)).toMatchObject({
      known: true,
      standing: 'satisfied',
      name: 'one',
      wanted: 0,
      needed: 0,
      interfaces: [expect.objectContaining({ id: 'eni-0' })],
      warnings: [],
      excluded: [],
    });
  });

  test('includes what it lacks, since when and why', () => {
    const entry = servedEntry('one', {
      assessment: { needed: 8, wanted: 8 },
      figures: { condition: full, inDeficitSince: 30_000 },
    });

    expect(nodeStatusReport('one', [entry], facts)).toMatchObject({
      standing: 'in_deficit',
      wanted: 8,
      inDeficitForSeconds: 30,
      reason: full.reason,
      why: full.message,
    });
  });

  test('includes why its CiliumNode is not served', () => {
    expect(nodeStatusReport('one', [unservedEntry('one')], facts)).toMatchObject({
      known: true,
      standing: 'blocked',
      reason: 'NodeUnreadable',
    });
  });

  test('names the leader if the node is unknown', () => {
    const name = 'x'.repeat(10_000);

    expect(nodeStatusReport(name, [], { ...facts, state: 'standby', leader: 'headwater-b' })).toEqual({
      known: false,
      node: 'x'.repeat(253),
      state: 'standby',
      leader: 'headwater-b',
    });
  });
});
