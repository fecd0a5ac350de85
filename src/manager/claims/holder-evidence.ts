// Decides how strong the claim of a CiliumNode to an address is, from what the cloud shows of its instance. Pure. Any
// agent may write an address into a CiliumNode; only the cloud knows which instance holds it.
import { type InstanceView, isUnseen as isInstanceUnseen } from '../../providers/contract/facts.ts';
import {
  expandHolding,
  secondaryAssignments,
  hasAddress,
  type NetworkInterface,
} from '../../providers/contract/network-interface.ts';
import type { RemovalProgress } from '../../node/reconcile/node-reconciler.ts';
import type { ClaimEvidence } from './rival-claims.ts';

export interface Holder {
  /** Whether the node claims an instance that the initial pass has not reached yet. */
  readonly isToBeServed: boolean;
  /** The state of its instance; undefined while it is not served. */
  readonly view: InstanceView | undefined;
  /** Whether a Node names the instance as its own, as far as Nodes are known. */
  readonly isVerified: boolean;
  /** Whether a Node does name it. */
  readonly isNamed: boolean;
  /** Whether the cloud answered the last read of the instance, and refused it. */
  readonly isReadRefused: boolean;
  /** The progress of removing an address that the holder shows and should not. */
  readonly removal: RemovalProgress;
}

export function evidenceOf(address: string, holder: Holder): ClaimEvidence {
  const { isToBeServed, view } = holder;
  if (view === undefined) return isToBeServed ? openClaim(holder) : 'none';
  if (!view.read) return openClaim(holder);
  const item = view.interfaces.find((each) => hasAddress(each, address));
  if (item === undefined) return removalBy(holder);
  return isUnseen(item, address, view) ? openClaim(holder) : 'shown';
}

/** The cloud says nothing about the address. */
function openClaim(holder: Holder): ClaimEvidence {
  return holder.isVerified && !isDisproved(holder) ? 'unanswered' : 'unasked';
}

/** Headwater takes away nothing that a CiliumNode shows of an instance that is not found, unless it is elsewhere. */
function removalBy(holder: Holder): ClaimEvidence {
  const { removal } = holder;
  return removal === 'leaving' && isDisproved(holder) ? 'unasked' : removal;
}

/** Whether the cloud does not find the instance or refuses to read it, and no Node names it. */
function isDisproved({ view, isNamed, isReadRefused }: Holder): boolean {
  const isFound = view?.read !== true || !isInstanceUnseen(view);
  return !isNamed && (isReadRefused || !isFound);
}

/** Whether it is known only from the CiliumNode. */
function isUnseen(item: NetworkInterface, address: string, { unseen }: InstanceView): boolean {
  if (unseen.size === 0) return false;
  const holdings = secondaryAssignments(item).filter((each) => unseen.has(each));
  return unseen.has(item.id) || holdings.some((holding) => expandHolding(holding).includes(address));
}
