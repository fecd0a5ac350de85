// The checked parts of a cluster, and how a violated invariant is reported.
import type { CloudNetwork } from '../cloud/cloud-network.ts';
import type { JsonObject } from '../workload/json.ts';
import type { NodeView } from '../workload/node-view.ts';
import type { Violation as AgentViolation } from '../workload/violation-log.ts';

/** A cluster that is checked: an embedded cluster, or one with another Kubernetes API. */
export interface CheckedCluster {
  /** The network that the cloud truly holds. */
  readonly network: CloudNetwork;
  readonly workload: { readonly views: readonly NodeView[]; readonly violations: readonly AgentViolation[] };
  readonly kubernetes: ShownNodes;
}

/** CiliumNodes as stored in the Kubernetes API. */
export interface ShownNodes {
  readonly get: (resourcePath: 'ciliumnodes.cilium.io', name: string) => JsonObject | undefined;
  readonly list: (resourcePath: 'ciliumnodes.cilium.io') => readonly JsonObject[];
}

/** A violated invariant. */
export interface InvariantViolation {
  readonly what:
    | 'used-address-not-held'
    | 'used-address-hidden'
    | 'address-used-twice'
    | 'address-offered-twice'
    | 'agent-violation';
  readonly node: string;
  readonly address: string;
  /** The user of the address: `namespace/name` of a pod, or the agent's own purpose. */
  readonly user: string;
  readonly text: string;
}
