import { describe, expect, test } from '@jest/globals';
import { type ReportedSession, statusReport } from '../../../../src/controller/reporting/status-report.ts';
import type { NodeSummary } from '../../../../src/node/reconcile/node-summary.ts';
import { servedEntry, unservedEntry } from '../node-summaries.ts';
import { noPauses } from '../../../../src/providers/gate/mutation-permission.ts';

const facts = {
  version: '1.2.3',
  identity: 'headwater-a',
  leader: undefined,
  buckets: [],
  denied: [],
  identityProblem: undefined,
  pauses: noPauses,
  now: 0,
} as const;

function sessionOf(count: number): ReportedSession {
  const summaries = Array.from(
    { length: count },
    (_, index): NodeSummary => ({
      kind: 'blocked',
      name: `node-${index}`,
      condition: { reason: 'NodeUnreadable', message: 'x'.repeat(300) },
      pendingPods: 0,
      blockedSince: 0,
    }),
  );
  return {
    summaries: () => summaries,
    cloud: { subnets: () => [], heldWithdrawals: undefined, lastRead: {} },
    conflictingWrite: undefined,
  };
}

describe('the answer of /status', () => {
  test('names the leader and leaves out the unknown fleet when a standby gives it', () => {
    const report = statusReport({ ...facts, state: 'standby', leader: 'headwater-b', session: undefined });

    expect(report).toEqual({
      version: '1.2.3',
      state: 'standby',
      identity: 'headwater-a',
      leader: 'headwater-b',
      paused: [],
      denied: [],
      buckets: [],
    });
  });

  test('names every node by state where it is asked to, and none otherwise', () => {
    const session = {
      ...sessionOf(0),
      summaries: () => [servedEntry('a'), unservedEntry('b'), servedEntry('c')],
      leftAlone: ['d'],
    };
    const of = { ...facts, state: 'leading', session } as const;

    expect(statusReport(of, true).nodeNames).toEqual({
      satisfied: ['a', 'c'],
      blocked: ['b'],
      leftAlone: ['d'],
    });
    expect(statusReport(of)).not.toHaveProperty('nodeNames');
    expect(statusReport({ ...of, session: undefined }, true)).not.toHaveProperty('nodeNames');
  });

  test('shows an empty fleet as empty when a leader gives it', () => {
    const report = statusReport({ ...facts, state: 'leading', session: sessionOf(0) });

    expect(report).toMatchObject({ nodes: { total: 0 }, inDeficit: [], warnings: [], excluded: [] });
    expect(report).not.toHaveProperty('leader');
  });

  test('starts with how many nodes lack something, by reason, the most frequent first', () => {
    const full = { reason: 'SubnetsExhausted', message: 'full' } as const;
    const summaries = [
      servedEntry('fine'),
      servedEntry('full', { figures: { condition: full } }),
      servedEntry('full too', { figures: { condition: full } }),
      unservedEntry('odd'),
    ].toReversed();
    const report = statusReport({
      ...facts,
      state: 'leading',
      session: { ...sessionOf(0), summaries: () => summaries },
    });

    const text = JSON.stringify(report);

    expect(text).toMatch(/^{"reasons":{"SubnetsExhausted":2,"NodeUnreadable":1},/);
    expect(report.inDeficit?.map(({ name }) => name)).toEqual(['odd', 'full too', 'full']);
  });

  test('counts the pods that wait on a node under one name, whether the node is served or not', () => {
    const summaries = [
      servedEntry('served', { figures: { pendingPods: 2 } }),
      unservedEntry('odd', { pendingPods: 3 }),
    ];
    const session = { ...sessionOf(0), summaries: () => summaries };

    const { nodes, inDeficit, pendingPods } = statusReport({ ...facts, state: 'leading', session });

    expect(nodes).toMatchObject({ total: 2 });
    expect(pendingPods).toBe(5);
    expect(inDeficit).toContainEqual(expect.objectContaining({ name: 'odd', pendingPods: 3 }));
  });

  test('takes the figures of the fleet once, however large it is', () => {
    const taken: string[] = [];
    const session = sessionOf(3);
    const counted = {
      summaries: () => (taken.push('summaries'), session.summaries()),
      cloud: { ...session.cloud, subnets: () => (taken.push('subnets'), []) },
    };

    statusReport({ ...facts, state: 'leading', session: { ...session, ...counted } });

    expect(taken.toSorted()).toEqual(['subnets', 'summaries']);
  });

  test('stays within a megabyte for any number of nodes, and says what it leaves out', () => {
    const report = statusReport({ ...facts, state: 'leading', session: sessionOf(20_000) });

    expect(report).toMatchObject({ nodes: { total: 20_000 }, omitted: { inDeficit: 19_000 } });
    expect(report.inDeficit).toHaveLength(1000);
    expect(JSON.stringify(report, null, 2).length).toBeLessThan(1_000_000);
  });
});
