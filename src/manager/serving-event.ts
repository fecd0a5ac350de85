// Events of a CiliumNode, whether or not it is served, and events of the cloud that concern nodes.
import type { CiliumNode, NodeReference } from '../kubernetes/cilium-node/cilium-node.ts';
import type { NodeCondition } from '../node/conditions/node-condition.ts';
import type { ReportedNodeEvent } from '../node/reconcile/node-event.ts';

/** Events of each node that the manager tells, in the order in which they happened. */
export type ReportedEvent = ReportedNodeEvent | ServingEvent;

type ServingEvent =
  /** Why a CiliumNode is not served; undefined once it has no reason. */
  | { readonly kind: 'blocked'; readonly node: NodeReference; readonly condition: NodeCondition | undefined }
  /** Malformed entries of a CiliumNode are left out. */
  | { readonly kind: 'malformed'; readonly node: CiliumNode }
  | { readonly kind: 'removed'; readonly name: string };

/** News of the cloud, for the nodes that depend on it. */
export type CloudEvent =
  /** These instances changed, as far as they are known, or they could not be read. */
  { readonly kind: 'instancesChanged'; readonly instanceIds: ReadonlySet<string> } | SupplyEvent;

/** Supply that several nodes may lack. */
export type SupplyEvent =
  /** Addresses returned to a subnet. */
  | { readonly kind: 'spaceFreed' }
  /** `reshaped`: more than the free address counts changed. */
  | { readonly kind: 'networkRead'; readonly reshaped: boolean }
  /** Addresses or an interface may have come back, or were looked for. */
  | { readonly kind: 'supplyChanged' }
  /** Limits of instance types are known. */
  | { readonly kind: 'limitsRead' }
  /** A read that nodes may wait for ended, or failed. */
  | { readonly kind: 'readEnded' };

export interface CloudListener {
  cloudChanged(event: CloudEvent): void;
}
