// The state of address release on a node, in one word.
import type { NetworkInterface } from '../../src/simulator/cloud/records.ts';
import type { ShownNode } from './invariants/shown-node.ts';

/**
 * `hidden`: the cloud has addresses for the node that the node does not show. Else the state of the most advanced
 * handshake.
 */
export type HandshakeState = 'none' | 'marked' | 'ready' | 'refused' | 'released' | 'hidden';

export function handshakeStateOf(
  { handshakes, interfaces }: ShownNode,
  held: ReadonlyMap<string, NetworkInterface>,
): HandshakeState {
  const states = new Set(Object.values(handshakes));
  if (states.has('ready-for-release')) return 'ready';
  if (states.has('released')) return 'released';
  if (states.has('marked-for-release')) return 'marked';
  if (states.has('do-not-release')) return 'refused';
  const hides = Object.entries(interfaces).some(([id, { addresses = [], prefixes = [] }]) => {
    const item = held.get(id);
    if (item === undefined) return false;
    const isHidden = (address: string): boolean =>
      address !== item.primaryAddress && !addresses.includes(address);
    return item.addresses.some(isHidden) || item.prefixes.some((prefix) => !prefixes.includes(prefix));
  });
  return hides ? 'hidden' : 'none';
}
