import { describe, expect, test } from '@jest/globals';
import { missingDataOf } from '../../../../src/controller/reporting/deficit.ts';
import type { NodeSummary } from '../../../../src/node/reconcile/node-summary.ts';
import type { Assessment } from '../../../../src/node/conditions/assessment.ts';
import type { ConditionReason } from '../../../../src/node/conditions/node-condition.ts';

const blocked: NodeSummary = {
  kind: 'blocked',
  name: 'node-9',
  condition: { reason: 'NoSubnetMatches', message: '' },
  waitingPods: 0,
  blockedSince: 0,
};

function served(wanted: number, reason?: ConditionReason): NodeSummary {
  const assessment = { kind: 'served', wanted } as Assessment;
  return {
    kind: 'managed',
    name: 'node-1',
    figures: {
      protocol: 'crd',
      isVerified: true,
      isPublished: true,
      waitingPods: 0,
      assessment,
      condition: reason && { reason, message: '' },
      warnings: [],
      view: undefined,
      releasing: 0,
      inDeficitSince: undefined,
    },
  };
}

describe('the need for a reading of the network', () => {
  test.each<[string, readonly NodeSummary[], string]>([
    ['nothing when no node is in deficit', [served(0), blocked], 'nothing'],
    ['addresses when one is', [served(0), served(3)], 'addresses'],
    [
      'more than addresses when a subnet is full',
      [served(3), served(1, 'SubnetsExhausted')],
      'infrastructure',
    ],
    ['more than addresses when no subnet fits', [served(1, 'NoSubnetMatches')], 'infrastructure'],
    [
      'nothing when a node with such a condition is not in deficit',
      [served(0, 'SubnetsExhausted')],
      'nothing',
    ],
  ])('covers %s', (_, summaries, expected) => {
    expect(missingDataOf(summaries)).toBe(expected);
  });
});
