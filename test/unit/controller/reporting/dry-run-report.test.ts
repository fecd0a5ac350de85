import { describe, expect, test } from '@jest/globals';
import {
  type Change,
  comparedTo,
  type DryRunTrack,
  dryRunReport,
  type FleetFindings,
} from '../../../../src/controller/reporting/dry-run-report.ts';
import { OtherDecisions } from '../../../../src/controller/reporting/other-decisions.ts';
import type { NodeFigures, NodeSummary } from '../../../../src/node/reconcile/node-summary.ts';

interface Shown {
  readonly interfaces?: number;
  readonly addresses?: number;
  readonly assign?: number;
  readonly toRelease?: number;
  readonly excess?: number;
  readonly isUnread?: true;
  readonly id?: string;
}

/** The parts that are compared. */
function figures({ interfaces = 1, addresses = 8, assign = 0, toRelease = 0, ...shown }: Shown): NodeFigures {
  const held = Array.from({ length: interfaces }, (_, index) => ({
    addresses: index === 0 ? Array.from({ length: addresses }, (__, each) => `10.0.0.${each}`) : [],
    prefixes: [],
  }));
  const step = { kind: 'allocateIPs', interfaceId: 'eni-1', subnetId: 'subnet-1', count: assign };
  return {
    view: shown.isUnread === true ? undefined : { id: shown.id ?? 'i-1', interfaces: held },
    planned: assign === 0 ? [] : [step],
    toRelease,
    assessment: { kind: 'served', excess: shown.excess ?? 0 },
  } as unknown as NodeFigures;
}

const settled: DryRunTrack = {
  instanceId: 'i-1',
  base: { interfaces: 1, addresses: 8 },
  would: undefined,
  looks: 0,
  isReleasing: false,
};
const eight: Change = { createInterfaces: 0, assign: 8 };
const planning: DryRunTrack = { ...settled, would: eight };

describe('what happens to an instance during a dry run', () => {
  test.each<[string, DryRunTrack | undefined, Shown, Change | undefined, unknown]>([
    ['at the first look', undefined, {}, undefined, undefined],
    ['if nothing happens', settled, {}, undefined, undefined],
    ['if the plan is carried out', planning, { addresses: 16 }, undefined, { kind: 'same' }],
    ['if a plan of the last minute is', settled, { addresses: 16 }, eight, { kind: 'same' }],
    ['if the need ends and nobody acts', planning, {}, undefined, undefined],
    ['while the plan is carried out', planning, { addresses: 12, assign: 4 }, undefined, undefined],
    [
      'if other numbers are assigned',
      planning,
      { interfaces: 2, addresses: 18 },
      undefined,
      { kind: 'otherwise', would: 'assign 8 addresses', did: 'attach 1 interface and assign 10 addresses' },
    ],
    [
      'if nobody carries it out for minutes',
      { ...planning, looks: 3 },
      { assign: 8 },
      undefined,
      { kind: 'otherwise', would: 'assign 8 addresses', did: 'nothing' },
    ],
    [
      'if more is assigned than anything asks for',
      settled,
      { addresses: 12, excess: 4 },
      undefined,
      { kind: 'otherwise', would: 'nothing', did: 'assign 4 addresses' },
    ],
    ['if what is assigned is needed', settled, { addresses: 12, excess: 1 }, undefined, undefined],
    [
      'if what goes was to be released',
      { ...settled, isReleasing: true },
      { addresses: 4 },
      undefined,
      undefined,
    ],
    [
      'if more goes than was to be released',
      settled,
      { addresses: 7 },
      undefined,
      { kind: 'otherwise', would: 'nothing', did: 'release 1 address' },
    ],
    ['if it cannot be read', planning, { isUnread: true }, undefined, undefined],
    ['if its node has another instance by now', settled, { id: 'i-2', addresses: 3 }, undefined, undefined],
  ])('is compared with what it would do: %s', (_, track, shown, begun, outcome) => {
    expect(comparedTo(track, figures(shown), begun).outcome).toEqual(outcome);
  });

  test('is compared with the first plan until the need is met', () => {
    const looks = [{ addresses: 11, assign: 5 }, { addresses: 11, assign: 5 }, { addresses: 16 }];
    let track: DryRunTrack | undefined = { ...planning, looks: 3 };
    const outcomes = looks.map((shown) => {
      const compared = comparedTo(track, figures(shown), undefined);
      track = compared.track;
      return compared.outcome;
    });

    const other = { kind: 'otherwise', would: 'assign 8 addresses', did: 'assign 3 addresses' };
    expect(outcomes).toEqual([other, other, { kind: 'same' }]);
  });
});

describe('the verdict of a dry run', () => {
  const good: NodeSummary = {
    kind: 'reconciled',
    name: 'a',
    figures: { ...figures({}), isVerified: true },
  };
  const bad: NodeSummary = {
    kind: 'blocked',
    name: 'b',
    condition: { reason: 'InstanceMismatch', message: 'no' },
    pendingPods: 0,
    blockedSince: undefined,
  };
  const unread: NodeSummary = { kind: 'reconciled', name: 'c', figures: figures({ isUnread: true }) };
  const decisions = new OtherDecisions({ info: () => undefined });
  decisions.note('a', { kind: 'otherwise', would: 'x', did: 'y' });

  const unverified: NodeSummary = {
    kind: 'reconciled',
    name: 'd',
    figures: { ...figures({}), isVerified: false },
  };
  const nothing: FleetFindings = {
    access: { denied: 0, missing: [] },
    identityProblem: undefined,
    readProblem: undefined,
    unannounced: 0,
    isAskable: true,
  };
  const verbOnNodes = (verb: string) => ({ verb: verb as 'get', resource: 'nodes' });
  const unasked = 'permissions to change were not asked: headwater check asks what it can';

  test.each<[readonly NodeSummary[], Partial<FleetFindings>, string]>([
    [[], {}, 'no-go: no node is known'],
    [
      [],
      { unannounced: 3 },
      'no-go: no node is known; 3 Nodes have no CiliumNode yet: their agents have not started',
    ],
    [
      [good],
      {},
      `go: 1 node would be served, after a look at 1 node where another program decided otherwise; ${unasked}`,
    ],
    [
      [unverified],
      { unannounced: 1, isAskable: false },
      'go: 1 node would be served; 1 Node has no CiliumNode yet: its agent has not started; permissions to change were not asked: the cloud tells them only by a change',
    ],
    [[good, bad], {}, 'no-go: InstanceMismatch on 1 node'],
    [[good, unread], {}, 'no-go: 1 instance not read yet'],
    [[good], { access: { denied: 2, missing: [] } }, 'no-go: 2 permissions denied'],
    [[good], { access: { denied: 0, missing: undefined } }, 'no-go: permissions in Kubernetes not asked yet'],
    [
      [good],
      { access: { denied: 1, missing: ['get', 'list', 'patch', 'watch'].map(verbOnNodes) } },
      'no-go: 1 permission denied, 4 permissions in Kubernetes missing (get nodes, list nodes, patch nodes, 1 more)',
    ],
    [
      [good, unverified],
      { identityProblem: 'forbidden' },
      'no-go: Nodes cannot be read (1 CiliumNode unverified)',
    ],
    [[good], { readProblem: 'denied' }, 'no-go: the last read of the cloud failed'],
  ])('names what stands against it: %#', (summaries, found, sentence) => {
    const report = dryRunReport(summaries, {
      ...nothing,
      ...found,
      decided: decisions.report(new Set(summaries.map(({ name }) => name))),
      deleteCiliumNodes: 0,
    });

    expect(report.sentence).toBe(sentence);
    expect(report.verdict).toBe(sentence.split(':')[0]);
  });
});
