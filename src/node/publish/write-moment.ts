// Decides when a write is made. A multi-pool agent writes its CiliumNode as a whole, from what its watch showed. If a
// write of ours is faster, its own is refused, and it repeats that a minute later: a joining node is not ready before
// that. So no write is made while the agent is about to make one, and none that nobody waits for
// (docs/ciliumnode-contract.md 1.6 and 1.7). Pure.
import type { CiliumNode } from '../../kubernetes/cilium-node/cilium-node.ts';
import { poolName, protocolOf } from '../demand/demand.ts';
import type { Desired, Write } from './next-write.ts';

/** Times of the agent's own writes, as far as they are known, in monotonic ms. */
export interface AgentActivity {
  /** When the node was first seen. */
  readonly seenAt: number;
  /** When the agent was last seen to change what it requests or lists; `seenAt` if never. */
  readonly agentWroteAt: number;
  /** When we last wrote the object, or may have; -Infinity if never. */
  readonly writtenAt: number;
}

/**
 * From a new CiliumNode to the first request of its agent, in ms, at most. An agent that requests nothing loses no time:
 * it looks for its addresses every 5 s.
 */
export const requestDue = 2_000;
/** For how long an agent writes nothing after a write, in ms: less than its update rate of 15 s. */
export const agentRests = 12_000;
/** How long addresses are shown without being in the pool of a multi-pool agent, in ms. */
export const poolMayLag = 20_000;

/**
 * Whether the first addresses are on their way, before which an agent does not start: nobody needs a write that shows
 * only interfaces without them. `isComing`: the end of that wakes the node.
 */
export function awaitsFirstAddress(
  node: Pick<CiliumNode, 'ipam' | 'status'>,
  { offer, operatorError }: Desired,
  isComing: boolean,
): boolean {
  if (!isComing || offer === undefined || offer.pool.size > 0) return false;
  return showsNothing(node) && operatorError === '' && (node.status.operatorError ?? '') === '';
}

/** How long this write waits for one of the agent, in ms. What the agent writes ends the wait. */
export function waitBefore(
  write: Pick<Write, 'isOnlyPool'>,
  node: CiliumNode,
  { seenAt, agentWroteAt, writtenAt }: AgentActivity,
  now: number,
): number {
  if (isAboutToRequest(node)) return Math.max(0, seenAt + requestDue - now);
  const isAgentResting = now < agentWroteAt + agentRests;
  if (write.isOnlyPool !== true || protocolOf(node) === 'crd' || isAgentResting) return 0;
  // Shown a moment ago, the addresses go to waiting pods, and the agent writes that.
  return Math.max(0, writtenAt + poolMayLag - now);
}

/** Its object is new: a multi-pool agent requests addresses before anything else. */
function isAboutToRequest(node: CiliumNode): boolean {
  return !node.ipam.requested.some(({ pool }) => pool === poolName) && showsNothing(node);
}

function showsNothing({ ipam, status }: Pick<CiliumNode, 'ipam' | 'status'>): boolean {
  return ipam.pool.size + status.interfaces.size + status.releaseIps.size + status.used.size === 0;
}
