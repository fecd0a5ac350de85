import { describe, expect, test } from '@jest/globals';
import { AddressIndex } from '../../../../src/manager/claims/address-index.ts';
import type { NodeContext } from '../../../../src/node/reconcile/node-context.ts';
import { NodeReconciler } from '../../../../src/node/reconcile/node-reconciler.ts';
import { MutationPermission, noPauses } from '../../../../src/providers/gate/mutation-permission.ts';
import { Random } from '../../../../src/runtime/random.ts';
import { VirtualClock } from '../../../support/virtual-clock.ts';
import { scriptedImplementation } from '../../providers/scripted-implementation.ts';
import { infrastructure } from '../allocation-facts.ts';
import { nodeOf } from '../cilium-nodes.ts';

/** A reconciler of a node whose instance is not known. A bug ends each decision while `hasBug`. */
class Rig {
  readonly clock = new VirtualClock();
  readonly bugs: unknown[] = [];
  hasBug = false;
  /** Decisions that were made to the end. */
  decisions = 0;
  requests = 0;
  readonly reconciler: NodeReconciler;

  constructor() {
    const { clock } = this;
    const nothing = (): undefined => undefined;
    const context: unknown = {
      cloud: {
        implementation: scriptedImplementation({}),
        inventory: { view: () => this.#view(), track: nothing, untrack: nothing, agentGaveUp: nothing },
        network: { infrastructure: infrastructure([]) },
        instances: { unreadBecause: () => void this.decisions++ },
        supply: {},
      },
      writer: { own: {}, known: {}, schema: { knows: () => true }, publications: {}, others: {} },
      claims: new AddressIndex({
        onFreed: nothing,
        evidence: () => 'shown',
        now: () => 0,
        maxWait: 0,
        onWait: nothing,
      }),
      identities: { isKnown: false, isVerified: () => true },
      permission: new MutationPermission(noPauses),
      settings: { timing: { callTimeout: 10_000, consistencyWindow: 30_000 }, release: {}, assessment: {} },
      runtime: { clock, random: new Random('node'), onBug: (error: unknown) => this.bugs.push(error) },
      emit: ({ kind }: { kind: string }) => {
        if (kind === 'maintenanceRequested') this.requests++;
      },
    };
    this.reconciler = new NodeReconciler(nodeOf({}), 'i-1', context as NodeContext, []);
  }

  #view(): undefined {
    if (this.hasBug) throw new Error('a bug');
    return undefined;
  }
}

describe('the loop of a node', () => {
  test('goes on after a bug, although nothing happens meanwhile', async () => {
    const rig = new Rig();
    rig.hasBug = true;
    await rig.clock.advance(60_000);
    rig.hasBug = false;
    const before = { bugs: rig.bugs.length, decisions: rig.decisions };

    await rig.clock.advance(60_000);

    expect(before.bugs).toBeGreaterThan(1);
    expect(rig.bugs).toHaveLength(before.bugs);
    expect(rig.decisions).toBe(before.decisions + 1);
  });

  test('sets no timer after a stop', async () => {
    const rig = new Rig();
    rig.hasBug = true;
    await rig.clock.advance(100);

    await rig.reconciler.stop(new AbortController().signal);
    const before = rig.requests;
    await rig.clock.advance(600_000);

    expect(rig.requests).toBe(before);
  });
});
