import { describe, expect, test } from '@jest/globals';
import {
  assess,
  type AssessmentFacts,
  type AssessmentRules,
} from '../../../../src/node/conditions/assessment.ts';
import { traits, words } from '../../providers/scripted-implementation.ts';
import { eni, infrastructure, subnet, view } from '../allocation-facts.ts';
import { nodeOf } from '../cilium-nodes.ts';

const limits = { addressesPerInterface: 256, prefixes: false };

function facts(change: Partial<AssessmentFacts> = {}): AssessmentFacts {
  return {
    node: nodeOf({}),
    view: view([eni(1, 5), eni(2)]),
    pendingPods: 0,
    unreportedPods: 0,
    outgoing: new Set(),
    infrastructure: infrastructure([subnet('subnet-1')], { networkIds: new Set(['vpc-1']) }),
    ...change,
  };
}

const rules: AssessmentRules = {
  limitsOf: () => 'unread',
  options: { usePrimaryAddress: false, prefixDelegation: false, networkId: undefined },
  words,
  traits: { ...traits, limits },
  showsIpv6: true,
};

describe('limits that are the same for all instances', () => {
  test('are not read by type', () => {
    expect(assess(facts(), rules)).toMatchObject({ kind: 'served', limits: { ...limits, interfaces: 2 } });
  });

  test('count the interfaces that pods may use', () => {
    const excluded = eni(2, 0, { reservedFor: 'an appliance' });

    expect(assess(facts({ view: view([eni(1, 5), excluded]) }), rules)).toMatchObject({
      limits: { interfaces: 1 },
    });
  });
});
