// Decides whether the first write to a CiliumNode waits. Before its pool has an address, an agent does not start
// (docs/ciliumnode-contract.md 1.6). So while a node's first addresses are on their way, nobody needs a write that shows
// only interfaces without them: a joining node gets its status and its pool once each. Pure.
import type { CiliumNode } from '../../kubernetes/cilium-node/cilium-node.ts';
import type { Desired } from './next-write.ts';

/** `isComing`: addresses are on their way, and the end of that wakes the node. */
export function awaitsFirstAddress(
  { ipam, status }: Pick<CiliumNode, 'ipam' | 'status'>,
  { offer, operatorError }: Desired,
  isComing: boolean,
): boolean {
  if (!isComing || offer === undefined || offer.pool.size > 0) return false;
  const isEmpty = ipam.pool.size + status.interfaces.size + status.releaseIps.size === 0;
  return isEmpty && operatorError === '' && (status.operatorError ?? '') === '';
}
