// Writes the pod CIDRs of Nodes, the condition of their network, and their taints. The API server refuses any change of CIDRs
// that are there: https://kubernetes.io/docs/reference/kubernetes-api/cluster-resources/node-v1/
import type { JsonObject } from '../../runtime/json.ts';
import { ObjectWriter, type WrittenKind } from '../transport/object-writer.ts';
import type { KubernetesTransport } from '../transport/transport.ts';
import type { WriteOutcome, WriteTarget } from '../transport/write-outcome.ts';
import { networkUnavailable, nodesPath } from './node-blocks.ts';

const kind: WrittenKind = {
  path: nodesPath,
  resource: ['nodes', ''],
  // A server names these if CIDRs are there already.
  lateFields: ['spec.podCIDRs', 'spec.podCIDR'],
};

const routed = { reason: 'RouteCreated', message: 'the cloud routes the pod CIDRs of this node to it' };

export class NodeWriter extends ObjectWriter {
  /** `mayWrite`: whether a write may start at this instant. `timeoutMs`: time limit of a write. */
  constructor(transport: KubernetesTransport, mayWrite: () => boolean, timeoutMs: number) {
    super(transport, kind, mayWrite, timeoutMs);
  }

  /** Sets `podCIDR` and `podCIDRs`. Rejects only with the signal's reason. */
  setPodCidrs(target: WriteTarget, podCIDRs: readonly string[], signal: AbortSignal): Promise<WriteOutcome> {
    return this.merge(target, { spec: { podCIDR: podCIDRs[0] ?? null, podCIDRs } }, signal);
  }

  /**
   * Sets the condition NetworkUnavailable to false, for the Node of this uid, whatever else of it changes meanwhile. Rejects
   * only with the signal's reason.
   */
  setNetworkReady(
    {
      name,
      uid,
      at,
      condition: { reason, message } = routed,
    }: Pick<WriteTarget, 'name' | 'uid'> & {
      readonly at: number;
      /** Default: the cloud routes the pod CIDRs. */
      readonly condition?: { readonly reason: string; readonly message: string };
    },
    signal: AbortSignal,
  ): Promise<WriteOutcome> {
    const time = new Date(at).toISOString().replace(/\.\d+Z$/, 'Z');
    const times = { lastHeartbeatTime: time, lastTransitionTime: time };
    const condition = { type: networkUnavailable, status: 'False', reason, message, ...times };
    const body = { metadata: { uid }, status: { conditions: [condition] } };
    const type = 'strategic-merge-patch+json';
    return this.write(name, { method: 'PATCH', type, body, subresource: 'status' }, signal);
  }

  /** Applies a JSON patch of taints, which tests what it replaces. Rejects only with the signal's reason. */
  async patchTaints(name: string, body: readonly JsonObject[], signal: AbortSignal): Promise<WriteOutcome> {
    const outcome = await this.write(name, { method: 'PATCH', type: 'json-patch+json', body }, signal);
    // A failed test is 422 without a field: the taints are others by now.
    return outcome.kind === 'invalid' ? { kind: 'conflict', message: outcome.message } : outcome;
  }
}
