import { describe, expect, test } from '@jest/globals';
import type { NodeContext } from '../../../../src/node/reconcile/node-context.ts';
import { NodeReconciler } from '../../../../src/node/reconcile/node-reconciler.ts';
import { MutationPermission, noPauses } from '../../../../src/providers/gate/mutation-permission.ts';
import { Random } from '../../../../src/runtime/random.ts';
import { VirtualClock } from '../../../support/virtual-clock.ts';
import { scriptedImplementation } from '../../providers/scripted-implementation.ts';
import { eni, infrastructure, view } from '../allocation-facts.ts';
import { nodeOf } from '../cilium-nodes.ts';
import { lost } from '../outcomes.ts';
import { ServedNode, soleClaims } from './served-node.ts';

/** An instance of which the cloud has said nothing yet. */
const unread: unknown = {
  id: 'i-1',
  read: false,
  presence: 'unread',
  interfaces: [],
  unreadable: [],
  obscured: [],
  possiblyGone: new Set(),
  awaited: new Map(),
};

/**
 * A reconciler of a node whose instance is not known. A bug ends each decision while `hasBug`. `showsAnother`: the
 * CiliumNode still shows an address of another instance.
 */
class Rig {
  readonly clock = new VirtualClock();
  readonly bugs: unknown[] = [];
  hasBug = false;
  /** Decisions that were made to the end. */
  decisions = 0;
  requests = 0;
  /** Writes that wait for their turn. */
  queued = 0;
  readonly reconciler: NodeReconciler;
  readonly #showsAnother: boolean;

  constructor({ showsAnother = false } = {}) {
    this.#showsAnother = showsAnother;
    const { clock } = this;
    const nothing = (): undefined => undefined;
    const context: unknown = {
      cloud: {
        implementation: scriptedImplementation({}),
        inventory: { view: () => this.#view(), track: nothing, untrack: nothing, agentGaveUp: nothing },
        network: { infrastructure: infrastructure([]), covers: () => true },
        instances: {
          failures: { unreadBecause: () => void this.decisions++, unlistedBecause: () => undefined },
        },
        supply: {},
        limits: { get: () => undefined },
      },
      writer: {
        own: {},
        known: {},
        schema: { knows: () => true, prune: (value: unknown) => value },
        publications: { enter: () => this.#queue() },
        others: {},
      },
      fleet: {
        claims: soleClaims(),
        identities: { isKnown: false, isVerified: () => true },
        kubelets: { admittedPods: () => undefined },
      },
      permission: new MutationPermission(noPauses),
      settings: { timing: { callTimeout: 10_000, consistencyWindow: 30_000 }, release: {}, assessment: {} },
      runtime: {
        clock,
        random: new Random('node'),
        onBug: (error: unknown) => this.bugs.push(error),
        meters: { maintenance: { requested: () => this.requests++, ran: nothing }, publication: undefined },
      },
      emit: nothing,
    };
    const node = nodeOf(showsAnother ? { pool: { '10.0.0.10': { resource: 'eni-1' } } } : {});
    this.reconciler = new NodeReconciler(node, 'i-1', context as NodeContext, showsAnother ? undefined : []);
  }

  #view(): unknown {
    if (this.hasBug) throw new Error('a bug');
    return this.#showsAnother ? unread : undefined;
  }

  #queue(): () => void {
    this.queued++;
    return () => undefined;
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

  test('does not count on a write that is to withdraw an address before it has begun', async () => {
    const rig = new Rig({ showsAnother: true });
    const before = rig.reconciler.removal;

    await rig.clock.advance(600_000);

    expect({ before, queued: rig.queued, after: rig.reconciler.removal }).toEqual({
      before: 'leaving',
      queued: 1,
      after: 'stuck',
    });
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

describe('the CiliumNode', () => {
  test('says that an address is released once its lost call has ended, although nothing else happens', async () => {
    const rig = new ServedNode({
      view: view([eni(1, 2)]),
      spec: { 'pre-allocate': 1, pool: { '10.0.1.10': { resource: 'eni-1' } } },
      status: { used: {}, 'release-ips': { '10.0.1.11': 'ready-for-release' } },
      outcome: () => lost,
      change: 'perInstance',
    });
    await rig.clock.advance(30_000);
    const sent = rig.operations.map(({ kind }) => kind);
    // A read shows that the call took effect. It says so before the call is sure to have ended.
    rig.view = view([eni(1, 1)]);
    rig.reconciler.wake();
    await rig.clock.advance(1000);
    const meanwhile = rig.handshake;

    await rig.clock.advance(120_000);

    expect({ sent, bugs: rig.bugs }).toEqual({ sent: ['releaseIPs'], bugs: [] });
    expect(meanwhile).toEqual({ '10.0.1.11': 'ready-for-release' });
    expect(rig.handshake).toEqual({ '10.0.1.11': 'released' });
  });
});
