// What nodes prove about networks: their CiliumNodes what was known before this process started, their instances which
// network must be read.
import type { CiliumNode } from '../kubernetes/cilium-node/cilium-node.ts';
import type { CloudPort, VerifiedIdentities } from '../node/reconcile/node-context.ts';
import type { NodeReconciler } from '../node/reconcile/node-reconciler.ts';
import { restoredState } from '../node/publish/restored-state.ts';
import type { KnownNetwork } from '../providers/contract/infrastructure.ts';
import { networkShownTo } from './fleet.ts';
import type { NodeEntry } from './node-entry.ts';

export interface NetworkEvidenceDeps {
  readonly cloud: Pick<CloudPort, 'network' | 'implementation'>;
  readonly identities: Pick<VerifiedIdentities, 'isVerified'>;
  /** The only network to serve; undefined for all networks. */
  readonly networkId: string | undefined;
}

export class NetworkEvidence {
  readonly #deps: NetworkEvidenceDeps;

  constructor(deps: NetworkEvidenceDeps) {
    this.#deps = deps;
  }

  /** Once, and as soon as the node is verified: claims that anyone may have written must not outlive it. */
  restore(entry: NodeEntry, node: CiliumNode, instanceId: string, known?: KnownNetwork): void {
    const { identities, cloud } = this.#deps;
    if (entry.isNetworkRestored || !identities.isVerified(node.name, instanceId)) return;
    entry.isNetworkRestored = true;
    cloud.network.remember(known ?? restoredState(node, instanceId, cloud.implementation.section));
  }

  /** Reports the network only once the cloud shows the instance there: a CiliumNode alone does not justify a resync. */
  report(reconciler: NodeReconciler): void {
    const { cloud, networkId } = this.#deps;
    const found = networkShownTo(reconciler);
    if (found !== undefined && (networkId ?? found) === found) cloud.network.shownIn(found);
  }
}
