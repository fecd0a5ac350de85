// The part of every CiliumNode, readable or not, that stays in memory.
import type { CiliumNode, NodeReference } from './cilium-node.ts';
import { readCiliumNode } from './cilium-node-reader.ts';
import type { FieldProblem } from './field-problem.ts';
import type { JsonObject } from '../transport/json.ts';

export type WatchedNode =
  | { readonly kind: 'node'; readonly node: CiliumNode }
  | {
      readonly kind: 'unreadable';
      readonly name: string;
      readonly uid: string;
      readonly ignored: boolean;
      readonly problems: readonly FieldProblem[];
    };

/** Addresses that a CiliumNode shows its agent, in the pool or on an interface. */
export interface ShownAddresses {
  readonly networkId: string;
  readonly addresses: readonly string[];
}

export function watchedNode(raw: JsonObject): WatchedNode {
  const reading = readCiliumNode(raw);
  if (reading.kind === 'node') return reading;
  const { name = '', uid = '', ignored, problems } = reading;
  return { kind: 'unreadable', name, uid, ignored, problems };
}

const nothingShown: ShownAddresses = { networkId: '', addresses: [] };

export function shownBy(watched: WatchedNode): ShownAddresses {
  // Its instance is unknown, so what it shows is no claim to an address.
  if (watched.kind === 'unreadable') return nothingShown;
  const { ipam, status, eni } = watched.node;
  const onInterfaces = [...status.eni.values()].flatMap(({ addresses }) => addresses);
  return { networkId: eni?.vpcId ?? '', addresses: [...ipam.pool.keys(), ...onInterfaces] };
}

export function nameOf(watched: WatchedNode): string {
  return watched.kind === 'node' ? watched.node.name : watched.name;
}

export function referenceTo(watched: WatchedNode): NodeReference {
  return watched.kind === 'node'
    ? watched.node
    : { name: watched.name, uid: watched.uid, nodeUid: undefined };
}
