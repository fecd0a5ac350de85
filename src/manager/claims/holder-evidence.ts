// Decides how strong the claim of a CiliumNode to an address is, from what the cloud shows of its instance. Pure. Any
// agent may write an address into a CiliumNode; only the cloud knows which instance holds it.
import type { InstanceView } from '../../providers/contract/instance-view.ts';
import {
  expandHolding,
  hasAddress,
  type NetworkInterface,
} from '../../providers/contract/network-interface.ts';
import type { RemovalProgress } from '../../node/reconcile/node-reconciler.ts';
import type { ClaimEvidence } from './rival-claims.ts';

export interface Holder {
  /** It claims an instance, but the initial pass has not reached it yet. */
  readonly isToBeServed: boolean;
  /** The state of its instance; undefined while it is not served. */
  readonly view: InstanceView | undefined;
  /** Whether a Node names the instance as its own, as far as Nodes are known. */
  readonly isVerified: boolean;
  /** What happens to an address that it shows and should not. */
  readonly removal: RemovalProgress;
}

export function evidenceOf(
  address: string,
  { isToBeServed, view, isVerified, removal }: Holder,
): ClaimEvidence {
  const open = isVerified ? 'unanswered' : 'unasked';
  if (view === undefined) return isToBeServed ? open : 'none';
  if (!view.read) return open;
  const item = view.interfaces.find((each) => hasAddress(each, address));
  if (item === undefined) return removal;
  return isUnseen(item, address, view) ? open : 'shown';
}

/** Whether it is known only from the CiliumNode. */
function isUnseen(item: NetworkInterface, address: string, { unseen }: InstanceView): boolean {
  if (unseen.size === 0) return false;
  const holdings = [...item.addresses, ...item.prefixes].filter((each) => unseen.has(each));
  return unseen.has(item.id) || holdings.some((holding) => expandHolding(holding).includes(address));
}
