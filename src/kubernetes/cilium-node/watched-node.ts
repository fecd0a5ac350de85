// The part of every CiliumNode, readable or not, that stays in memory.
import type { NodeReference } from './cilium-node.ts';
import type { CiliumNodeReading } from './cilium-node-reader.ts';

/** `labels`: where they decide whether it is ours. */
export type WatchedNode = CiliumNodeReading & { readonly labels?: Readonly<Record<string, string>> };

export function nameOf(watched: WatchedNode): string {
  return watched.kind === 'node' ? watched.node.name : watched.name;
}

export function referenceTo(watched: WatchedNode): NodeReference {
  return watched.kind === 'node'
    ? watched.node
    : { name: watched.name, uid: watched.uid, nodeUid: undefined };
}
