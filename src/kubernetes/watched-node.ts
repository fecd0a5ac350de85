// What is kept in memory of every CiliumNode, readable or not: also of one that cannot be served it must be known which
// addresses it shows to its agent.
import { isIPv4 } from './addresses.ts';
import type { CiliumNode } from './cilium-node.ts';
import { readCiliumNode } from './cilium-node-reader.ts';
import type { FieldProblem } from './field-problem.ts';
import { isList, isObject, type Json, type JsonObject, memberOf, textAt, valueAt } from './json.ts';

export type WatchedNode =
  | { readonly kind: 'node'; readonly node: CiliumNode }
  | {
      readonly kind: 'unreadable';
      readonly name: string;
      readonly uid: string;
      readonly ignored: boolean;
      readonly problems: readonly FieldProblem[];
      readonly offer: ShownAddresses;
    };

/** Addresses that a CiliumNode shows to its agent, in the pool or on an interface. */
export interface ShownAddresses {
  readonly networkId: string;
  readonly addresses: readonly string[];
}

export function watchedNode(raw: JsonObject): WatchedNode {
  const reading = readCiliumNode(raw);
  if (reading.kind === 'node') return reading;
  const { name = '', uid = '', ignored, problems } = reading;
  return { kind: 'unreadable', name, uid, ignored, problems, offer: shownIn(raw) };
}

export function shownBy(watched: WatchedNode): ShownAddresses {
  if (watched.kind === 'unreadable') return watched.offer;
  const { ipam, status, eni } = watched.node;
  const onInterfaces = [...status.eni.values()].flatMap(({ addresses }) => addresses);
  return { networkId: eni?.vpcId ?? '', addresses: [...ipam.pool.keys(), ...onInterfaces] };
}

/** Leniently: whatever looks like an address at its place counts. */
function shownIn(raw: JsonObject): ShownAddresses {
  const pool = membersOf(valueAt(raw, 'spec', 'ipam', 'pool')).map(([address]) => address);
  const onInterfaces = membersOf(valueAt(raw, 'status', 'eni', 'enis')).flatMap(([, eni]) => {
    const addresses = memberOf(eni, 'addresses');
    return isList(addresses) ? addresses.filter((address) => typeof address === 'string') : [];
  });
  const addresses = [...pool, ...onInterfaces].filter((address) => isIPv4(address));
  return { networkId: textAt(raw, 'spec', 'eni', 'vpc-id') ?? '', addresses };
}

function membersOf(value: Json | undefined): [string, Json][] {
  return isObject(value) ? Object.entries(value) : [];
}
