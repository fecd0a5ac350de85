// Decides which CiliumNode is served for an instance that several may name. Pure. Every agent may write every
// CiliumNode, so a CiliumNode alone proves nothing: the Node of the same name and its provider ID decide.
import type { NodeCondition } from '../../node/conditions/node-condition.ts';
import {
  duplicateInstance,
  instanceMismatch,
  instanceOfAnother,
  missingNode,
} from '../../node/conditions/claim-condition.ts';

export interface InstanceClaim {
  readonly name: string;
  /** From the CiliumNode. */
  readonly instanceId: string;
  /** The instance named by the Node of that name; undefined without such a Node, or if it names none. */
  readonly ownInstance: string | undefined;
  /** Nodes that name the instance, oldest first. */
  readonly nodes: readonly string[];
  /** The CiliumNode currently served for the instance. */
  readonly served: string | undefined;
  /** Whether a CiliumNode of that name also claims the instance and may be served. */
  readonly isClaimedBy: (name: string) => boolean;
  /** Whether an instance is served only if a Node names it. */
  readonly requireNode: boolean;
}

export type ClaimVerdict =
  | { readonly kind: 'granted' }
  /** The CiliumNode served now must stop being served first. */
  | { readonly kind: 'waiting'; readonly for: string }
  | { readonly kind: 'blocked'; readonly condition: NodeCondition };

const granted: ClaimVerdict = { kind: 'granted' };

export function checkClaim(claim: InstanceClaim): ClaimVerdict {
  const { name, instanceId, ownInstance, nodes, served } = claim;
  if (ownInstance !== undefined && ownInstance !== instanceId)
    return blocked(instanceMismatch(name, instanceId, ownInstance));
  if (ownInstance === undefined) return checkUnverified(claim);
  const older = nodes.slice(0, nodes.indexOf(name)).find((other) => claim.isClaimedBy(other));
  if (older !== undefined) return blocked(duplicateInstance(instanceId, older));
  return served === undefined || served === name ? granted : { kind: 'waiting', for: served };
}

function checkUnverified({ name, instanceId, nodes, served, requireNode }: InstanceClaim): ClaimVerdict {
  const [owner] = nodes;
  if (owner !== undefined) return blocked(instanceOfAnother(instanceId, owner));
  if (requireNode) return blocked(missingNode(name, instanceId));
  return served === undefined || served === name ? granted : blocked(duplicateInstance(instanceId, served));
}

function blocked(condition: NodeCondition): ClaimVerdict {
  return { kind: 'blocked', condition };
}

/** A CiliumNode that exists when a leader starts. */
export interface Candidate {
  readonly name: string;
  /** Whether it shows an address of its own Node as the primary one of an interface, and others name the instance too. */
  readonly hasNodeAddress: boolean;
  /** Whether it shows addresses. */
  readonly hasAddresses: boolean;
  /** RFC 3339 in UTC, so that texts sort by time; undefined if unknown. */
  readonly createdAt: string | undefined;
}

/**
 * The order in which candidates are checked. If several name one instance and no Node decides, the first is served: one
 * with the address of its own Node, because no other one can be its instance's; then one with addresses, because it is
 * more likely alive; and of those the oldest, because an age cannot be forged.
 */
export function inStartOrder<T extends Candidate>(candidates: readonly T[]): readonly T[] {
  const age = ({ createdAt = '9999' }: T): string => createdAt;
  const rank = ({ hasNodeAddress, hasAddresses }: T): number =>
    Number(!hasNodeAddress) * 2 + Number(!hasAddresses);
  return candidates.toSorted((a, b) => rank(a) - rank(b) || (age(a) < age(b) ? -1 : Number(age(a) > age(b))));
}
