import { describe, expect, test } from '@jest/globals';
import type { NetworkInterface } from '../../../../src/providers/contract/network-interface.ts';
import type { ReleasableFacts, ReleaseRules } from '../../../../src/node/release/release-plan.ts';
import { ReleaseStore } from '../../../../src/node/release/release-store.ts';
import { traits } from '../../providers/scripted-implementation.ts';
import { eni, requirements, view } from '../allocation-facts.ts';
import { nodeOf } from '../cilium-nodes.ts';
import { policy, timing } from '../release-rig.ts';

const leaving = '10.0.9.9';

const rules: ReleaseRules = {
  policy: { ...policy, enabled: true },
  traits,
  consistencyWindow: timing.consistencyWindow,
  mayDecide: true,
  podUse: { keeps: () => false, isLookedAt: () => true },
  blocked: new Set(),
  refused: new Set(),
};

/** The agent agreed to the release of one address, and the earlier process hid it. */
function facts(interfaces: readonly NetworkInterface[], unseen: readonly string[] = []): ReleasableFacts {
  return {
    node: nodeOf({ handshake: { [leaving]: 'ready-for-release' } }),
    view: { ...view(interfaces), unseen: new Set(unseen) },
    requirements: requirements(),
    excess: 0,
    wanted: 0,
    retired: [],
    lastWrite: { at: -Infinity, openUntil: -Infinity },
    growing: new Set(),
  };
}

describe('an address that an earlier process was releasing', () => {
  test.each<[string, readonly NetworkInterface[], readonly string[], string | undefined]>([
    [
      'waits while another interface is changing',
      [eni(0, 1), eni(1, 1, { condition: 'changing' })],
      [],
      'ready-for-release',
    ],
    ['waits while another interface is not read', [eni(0, 1), eni(1, 1)], ['eni-1'], 'ready-for-release'],
    ['is released once all are read and none has it', [eni(0, 1), eni(1, 1)], [], 'released'],
  ])('and that no interface is known to have: %s, without a call', (_, interfaces, unseen, expected) => {
    const store = new ReleaseStore();
    // Before the first read any of them may have had it.
    store.step(facts([eni(0, 1), eni(1, 1)], ['eni-0', 'eni-1']), rules, 0);

    const now = facts(interfaces, unseen);
    store.step(now, rules, 1000);

    expect(store.due(1000)).toEqual([]);
    expect(store.handshake(now.node.status.releaseIps)?.get(leaving)).toBe(expected);
  });

  test('is due on the interface that a read shows with it', () => {
    const store = new ReleaseStore();
    const item = eni(0, 0, { addresses: [leaving] });
    store.step(facts([item]), rules, 0);

    store.step(facts([item]), rules, 1000);

    expect(store.due(1000).map(({ holding }) => [holding.interfaceId, holding.id])).toEqual([
      ['eni-0', leaving],
    ]);
  });
});
