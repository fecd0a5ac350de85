import { describe, expect, test } from '@jest/globals';
import { missingDataOf } from '../../../src/manager/missing-data.ts';
import type { NodeSummary } from '../../../src/node/reconcile/node-summary.ts';
import type { ConditionReason } from '../../../src/node/conditions/node-condition.ts';
import { servedEntry, unservedEntry } from '../controller/node-summaries.ts';

const blocked = unservedEntry('node-9', { condition: { reason: 'NoSubnetMatches', message: '' } });

function served(wanted: number, reason?: ConditionReason): NodeSummary {
  const condition = reason && { reason, message: '' };
  return servedEntry('node-1', { assessment: { wanted }, figures: { condition } });
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
