// The entry that the node manager keeps under one node name.
import type { CiliumNode, NodeReference } from '../kubernetes/cilium-node/cilium-node.ts';
import type { WatchedNode } from '../kubernetes/cilium-node/cilium-node-reader.ts';
import type { NodeCondition } from '../node/conditions/node-condition.ts';
import { unreadableNode } from '../node/conditions/claim-condition.ts';
import type { NodeReconciler } from '../node/reconcile/node-reconciler.ts';

export interface NodeEntry {
  /** Undefined once the object is deleted. */
  newest: WatchedNode | undefined;
  /** Whether the Node asks to ignore its CiliumNode. */
  isIgnored: boolean;
  reconciler: NodeReconciler | undefined;
  /** The previous reconciler is stopping. */
  isEnding: boolean;
  /** Whether what its CiliumNode says about the network is remembered. */
  isNetworkRestored: boolean;
  /** The newest state of the node last reconciled under this name. */
  last: CiliumNode | undefined;
  condition: NodeCondition | undefined;
  /** The object that the condition was reported for. */
  reportedUid: string | undefined;
  /** Since when it has had a condition, in monotonic ms. */
  blockedSince: number | undefined;
}

/** The service that a CiliumNode gets. */
export type Served =
  | { readonly kind: 'node'; readonly node: CiliumNode; readonly instanceId: string }
  | { readonly kind: 'blocked'; readonly watched: WatchedNode; readonly condition: NodeCondition }
  | { readonly kind: 'none' };

/** Whether it is served for the instance that it claims depends on others. */
interface ServedByClaim {
  readonly kind: 'claim';
  readonly watched: WatchedNode;
  readonly node: CiliumNode;
  readonly instanceId: string;
}

/** The service that follows without the other CiliumNodes. */
export function servedAlone(entry: NodeEntry): Exclude<Served, { readonly kind: 'node' }> | ServedByClaim {
  const { newest: watched } = entry;
  if (watched === undefined || isUnmanaged(entry)) return { kind: 'none' };
  const unreadable = (problems: readonly string[]): Served & { readonly kind: 'blocked' } => ({
    kind: 'blocked',
    watched,
    condition: unreadableNode(problems),
  });
  if (watched.kind === 'unreadable')
    return unreadable(watched.problems.map(({ field, problem }) => `${field}: ${problem}`));
  const { node } = watched;
  const { instanceId } = node;
  if (instanceId === undefined) return unreadable(['spec.instance-id is missing']);
  return { kind: 'claim', watched, node, instanceId };
}

/** Sets why the object is not served, since `now`. Returns whether that is to be reported. */
export function setCondition(
  entry: NodeEntry,
  { uid }: NodeReference,
  condition: NodeCondition | undefined,
  now: number,
): boolean {
  const isReported = entry.reportedUid === uid || condition === undefined;
  if (entry.condition?.message === condition?.message && isReported) return false;
  entry.condition = condition;
  entry.reportedUid = uid;
  entry.blockedSince = condition && (entry.blockedSince ?? now);
  return true;
}

export function emptyEntry(): NodeEntry {
  return {
    newest: undefined,
    isIgnored: false,
    reconciler: undefined,
    isEnding: false,
    isNetworkRestored: false,
    last: undefined,
    condition: undefined,
    reportedUid: undefined,
    blockedSince: undefined,
  };
}

/** The instance that it claims; undefined if it claims none or must not be served. */
export function claimedBy(entry: NodeEntry | undefined): string | undefined {
  if (entry?.newest?.kind !== 'node' || isUnmanaged(entry)) return undefined;
  return entry.newest.node.instanceId;
}

/** The CiliumNode is excluded by its owner, on itself or on its Node, or is being deleted. */
function isUnmanaged({ newest, isIgnored }: NodeEntry): boolean {
  if (newest?.kind === 'node') return isIgnored || newest.node.ignored || newest.node.deleting;
  return isIgnored || newest?.ignored === true;
}

/** Whether the reconciler serves this very node. */
export function isSame(reconciler: NodeReconciler, node: CiliumNode, instanceId: string): boolean {
  return reconciler.uid === node.uid && reconciler.instanceId === instanceId;
}
