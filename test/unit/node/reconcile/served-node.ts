// A reconciler of a node that is served, with a CiliumNode that keeps what is written and a cloud whose answers a test
// scripts, in virtual time.
import { AddressIndex } from '../../../../src/manager/claims/address-index.ts';
import type { ReadOutcome, WriteOutcome } from '../../../../src/kubernetes/transport/write-outcome.ts';
import { isObject, type JsonObject } from '../../../../src/runtime/json.ts';
import { applyMergePatch } from '../../../../src/kubernetes/transport/merge-patch.ts';
import type { NodeContext } from '../../../../src/node/reconcile/node-context.ts';
import { NodeReconciler } from '../../../../src/node/reconcile/node-reconciler.ts';
import type { CloudTraits } from '../../../../src/providers/contract/cloud.ts';
import type { InstanceView } from '../../../../src/providers/contract/facts.ts';
import type { Operation, Outcome } from '../../../../src/providers/contract/operations.ts';
import { MutationPermission, noPauses } from '../../../../src/providers/gate/mutation-permission.ts';
import { Random } from '../../../../src/runtime/random.ts';
import { VirtualClock } from '../../../support/virtual-clock.ts';
import { ciliumNode } from '../../kubernetes/cilium-node-fixture.ts';
import { scriptedImplementation, traits } from '../../providers/scripted-implementation.ts';
import { infrastructure, m5Large, subnet } from '../allocation-facts.ts';
import { wellFormed } from '../cilium-nodes.ts';

export interface ServedSetup {
  readonly view: InstanceView;
  /** `spec.ipam` and `status.ipam`. */
  readonly spec: JsonObject;
  readonly status: JsonObject;
  readonly outcome: (operation: Operation) => Outcome;
  /** What one call changes. */
  readonly change: CloudTraits['change'];
}

const nothing = (): undefined => undefined;

/** Claims of a node that shares nothing with others. */
export function soleClaims(): AddressIndex {
  return new AddressIndex(nothing, {
    evidence: () => 'shown',
    now: () => 0,
    maxWait: 0,
    onWait: nothing,
  });
}

export class ServedNode {
  readonly clock = new VirtualClock();
  readonly bugs: unknown[] = [];
  readonly operations: Operation[] = [];
  view: InstanceView;
  readonly reconciler: NodeReconciler;
  #raw: JsonObject;

  constructor({ view, spec, status, outcome, change }: ServedSetup) {
    this.view = view;
    this.#raw = ciliumNode({ spec: { ipam: null }, status: null });
    this.#raw = applyMergePatch(this.#raw, { spec: { ipam: spec }, status: { ipam: status } }) as JsonObject;
    const { clock } = this;
    const context: unknown = {
      cloud: {
        implementation: scriptedImplementation({
          traits: { ...traits, change },
          admit: () => Promise.resolve(nothing),
          perform: (operation) => {
            this.operations.push(operation);
            return Promise.resolve(outcome(operation));
          },
        }),
        inventory: {
          view: () => this.view,
          track: nothing,
          untrack: nothing,
          agentGaveUp: nothing,
          applyAnswer: () => [],
          invalidate: nothing,
          movedAway: () => [],
        },
        network: {
          infrastructure: infrastructure([subnet('subnet-1')], { networkIds: new Set(['vpc-1']) }),
          covers: () => true,
        },
        instances: {
          refreshAwaited: nothing,
          failures: { unreadBecause: nothing, unlistedBecause: nothing },
        },
        supply: {
          ledger: { free: () => 100, maxPrefixes: () => 0 },
          orphans: { of: () => ({ read: true, fit: [], unclear: [] }) },
          blocked: { refusalOf: nothing },
        },
        limits: { get: () => m5Large },
      },
      writer: {
        own: {
          get: () => Promise.resolve<ReadOutcome>({ kind: 'found', raw: this.#raw }),
          patchSpec: (_: unknown, spec: JsonObject) => this.#write({ spec }),
          patchStatus: (_: unknown, status: JsonObject) => this.#write({ status }),
          isAnswer: () => true,
        },
        known: { observe: (raw: JsonObject) => this.reconciler.update(wellFormed(raw)) },
        schema: { knows: () => true, prune: (value: unknown) => value },
        publications: {
          enter: (_: unknown, begin: (leave: () => void) => void) => {
            begin(nothing);
            return nothing;
          },
          reconsider: nothing,
        },
        others: { check: nothing, mayBePreviousLeaders: () => false },
      },
      fleet: {
        claims: soleClaims(),
        identities: { isKnown: false, isVerified: () => true },
        kubelets: { admittedPods: () => undefined },
      },
      permission: new MutationPermission(noPauses),
      settings: {
        timing: { callTimeout: 10_000, consistencyWindow: 30_000 },
        release: { enabled: true, delay: 60_000, hiddenFor: 75_000, idleDelay: undefined },
        assessment: { usePrimaryAddress: false, prefixDelegation: false, networkId: undefined },
      },
      runtime: {
        clock,
        random: new Random('node'),
        onBug: (error: unknown) => this.bugs.push(error),
        meters: {},
      },
      emit: nothing,
    };
    this.reconciler = new NodeReconciler(wellFormed(this.#raw), view.id, context as NodeContext, []);
  }

  /** `status.ipam.release-ips`, as last written. */
  get handshake(): unknown {
    const { status } = this.#raw;
    const ipam = isObject(status) ? status['ipam'] : undefined;
    return isObject(ipam) ? ipam['release-ips'] : undefined;
  }

  #write(change: JsonObject): Promise<WriteOutcome> {
    this.#raw = applyMergePatch(this.#raw, change) as JsonObject;
    return Promise.resolve({ kind: 'written', raw: this.#raw });
  }
}
