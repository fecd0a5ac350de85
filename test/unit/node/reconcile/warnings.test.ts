import { expect, test } from '@jest/globals';
import { assess } from '../../../../src/node/conditions/assessment.ts';
import type { NodeCondition } from '../../../../src/node/conditions/node-condition.ts';
import { Warnings } from '../../../../src/node/reconcile/warnings.ts';
import { awsSection } from '../../../../src/providers/aws/cilium-node-section.ts';
import type { NetworkInterface } from '../../../../src/providers/contract/network-interface.ts';
import { VirtualClock } from '../../../../src/runtime/virtual-clock.ts';
import { ciliumNode } from '../../kubernetes/cilium-node-fixture.ts';
import { traits } from '../../providers/scripted-implementation.ts';
import { eni, infrastructure, m5Large, subnet, view } from '../allocation-facts.ts';
import { wellFormed } from '../cilium-nodes.ts';

/** What is said after a minute about an agent that wants 30 free addresses, on an m5.large without prefix delegation. */
async function warningsOf(interfaces: readonly NetworkInterface[]): Promise<readonly string[]> {
  const clock = new VirtualClock();
  const found: NodeCondition[] = [];
  const node = wellFormed(
    ciliumNode({
      spec: {
        ipam: { pool: null, 'pre-allocate': 30, 'min-allocate': null, 'max-allocate': null, pools: null },
        eni: { 'first-interface-index': 0, 'vpc-id': 'vpc-1', 'instance-type': 'm5.large' },
      },
      status: null,
    }),
  );
  const known = view(interfaces);
  const assessment = assess({
    node,
    view: { ...known, read: true },
    pendingPods: 0,
    outgoing: new Set(),
    infrastructure: { ...infrastructure([subnet('subnet-1')]), networkIds: new Set(['vpc-1']) },
    limitsOf: () => m5Large,
    options: { networkId: undefined, prefixDelegation: false, usePrimaryAddress: false },
    words: awsSection.words,
    traits,
  });
  const warnings = new Warnings({
    hooks: { onWarning: (_, warning) => found.push(warning), onExclusions: () => undefined },
    clock,
    updateIn: () => undefined,
  });
  const update = (): void => warnings.update(node, { view: known, assessment, staticIp: undefined });

  update();
  await clock.advance(60_000);
  update();

  return found.map(({ reason }) => reason);
}

test.each<[string, readonly NetworkInterface[], readonly string[]]>([
  [
    'is reported once its node has all that the instance type can have',
    [eni(0, 9), eni(1, 9), eni(2, 9)],
    ['AgentCannotStart'],
  ],
  [
    'is not reported while its node may have more, because it has a prefix from before',
    [{ ...eni(0, 8), prefixes: ['10.0.9.16/28'] }, eni(1, 4)],
    [],
  ],
])('an agent that cannot start %s', async (_, interfaces, expected) => {
  expect(await warningsOf(interfaces)).toEqual(expected);
});
