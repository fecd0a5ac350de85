// What happens to a CiliumNode whether or not it is served.
import type { CiliumNode, NodeReference } from '../kubernetes/cilium-node/cilium-node.ts';
import type { NodeCondition } from '../node/conditions/node-condition.ts';
import type { ReportedNodeEvent } from '../node/reconcile/node-event.ts';

/** What the node manager tells of each node, in the order in which it happened. */
export type ReportedEvent = ReportedNodeEvent | ServingEvent;

type ServingEvent =
  /** Why a CiliumNode is not served; undefined once it has no reason. */
  | { readonly kind: 'blocked'; readonly node: NodeReference; readonly condition: NodeCondition | undefined }
  /** Malformed entries of a CiliumNode are left out. */
  | { readonly kind: 'malformed'; readonly node: CiliumNode }
  | { readonly kind: 'removed'; readonly name: string };
