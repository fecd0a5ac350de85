// The part of every CiliumNode, readable or not, that stays in memory.
import type { CiliumNodeSection } from '../../providers/contract/cilium-node-section.ts';
import type { CiliumNode, NodeReference } from './cilium-node.ts';
import { readCiliumNode } from './cilium-node-reader.ts';
import type { FieldProblem } from './field-problems.ts';
import type { JsonObject } from '../../runtime/json.ts';

/** `labels`: where they decide whether it is ours. */
export type WatchedNode = { readonly labels?: Readonly<Record<string, string>> } & (
  | { readonly kind: 'node'; readonly node: CiliumNode }
  | {
      readonly kind: 'unreadable';
      readonly name: string;
      readonly uid: string;
      readonly ignored: boolean;
      readonly problems: readonly FieldProblem[];
    }
);

export function watchedNode(raw: JsonObject, section: CiliumNodeSection): WatchedNode {
  const reading = readCiliumNode(raw, section);
  if (reading.kind === 'node') return reading;
  const { name = '', uid = '', ignored, problems } = reading;
  return { kind: 'unreadable', name, uid, ignored, problems };
}

export function nameOf(watched: WatchedNode): string {
  return watched.kind === 'node' ? watched.node.name : watched.name;
}

export function referenceTo(watched: WatchedNode): NodeReference {
  return watched.kind === 'node'
    ? watched.node
    : { name: watched.name, uid: watched.uid, nodeUid: undefined };
}
