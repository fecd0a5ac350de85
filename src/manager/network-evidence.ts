// Proofs that nodes give about networks: their CiliumNodes of what was known before this process started, their instances of
// which network must be read.
import type { CiliumNode } from '../kubernetes/cilium-node/cilium-node.ts';
import type { CloudPort, VerifiedIdentities } from '../node/reconcile/node-context.ts';
import type { NodeReconciler } from '../node/reconcile/node-reconciler.ts';
import { restoredState } from '../node/publish/restored-state.ts';
import type { KnownNetwork } from '../providers/contract/infrastructure.ts';
import { networkShownTo } from './fleet.ts';
import type { NodeEntry } from './node-entry.ts';

export class NetworkEvidence {
  readonly #cloud: Pick<CloudPort, 'network' | 'implementation'>;
  readonly #identities: Pick<VerifiedIdentities, 'isVerified'>;
  readonly #networkId: string | undefined;

  /** `networkId`: the only network to serve; undefined for all networks. */
  constructor(
    cloud: Pick<CloudPort, 'network' | 'implementation'>,
    identities: Pick<VerifiedIdentities, 'isVerified'>,
    networkId: string | undefined,
  ) {
    this.#cloud = cloud;
    this.#identities = identities;
    this.#networkId = networkId;
  }

  /** Once, and as soon as the node is verified: claims that anyone may have written must not outlive it. */
  restore(entry: NodeEntry, node: CiliumNode, instanceId: string, known?: KnownNetwork): void {
    const cloud = this.#cloud;
    if (entry.isNetworkRestored || !this.#identities.isVerified(node.name, instanceId)) return;
    entry.isNetworkRestored = true;
    cloud.network.remember(known ?? restoredState(node, instanceId, cloud.implementation.section));
  }

  /** Reports the network only once the cloud shows the instance there: a CiliumNode alone does not justify a resync. */
  report(reconciler: NodeReconciler): void {
    const found = networkShownTo(reconciler);
    if (found !== undefined && (this.#networkId ?? found) === found) this.#cloud.network.shownIn(found);
  }
}
