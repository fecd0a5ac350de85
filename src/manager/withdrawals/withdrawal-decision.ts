// Decides whether what the cloud does not show may be withdrawn, and whether it is the right cloud at all. Pure.
//
// It counts instances, not addresses: those that lose something now, may lose it next, or lost it within 10 minutes. At
// most 3 of them or 5 % of the nodes that use addresses may lose something, whichever is more. If there are two or more
// nodes, never all of them may.
//
// Only withdrawals by absence count. Releases agreed with agents, terminated instances, deleted CiliumNodes and
// addresses shown elsewhere bypass this: it never delays a scale-down.
import type { NodeReference } from '../../kubernetes/cilium-node/cilium-node.ts';
import { createHash } from 'node:crypto';
import type { InstanceView } from '../../providers/contract/facts.ts';

/** The facts about a served node that matter here. */
export interface NodeMember {
  readonly node: NodeReference;
  /**
   * Whether the cluster has a Node of its name. While no Node is known: whether the CiliumNode has an owner reference
   * to one.
   */
  readonly hasNode: boolean;
  readonly instanceId: string;
  readonly networkId: string | undefined;
  /** Whether its agent uses addresses. */
  readonly usesAddresses: boolean;
  readonly presence: InstanceView['presence'];
}

/** How long an admitted withdrawal counts, in ms. */
export const countedFor = 600_000;

/** Number of nodes that may lose something missing, however small the fleet. */
const minLimit = 3;
/** Alternatively, this fraction of the nodes that use addresses. */
const limitRatio = 0.05;

export interface WithdrawalCandidates {
  /** Instances with a withdrawal now. */
  readonly instanceIds: ReadonlySet<string>;
  /** Instances that a read missed something of once, which may be withdrawn next. */
  readonly suspected: () => ReadonlySet<string>;
  /** Instances with a withdrawal that was admitted earlier, with its time in monotonic ms. */
  readonly admitted: ReadonlyMap<string, number>;
  readonly members: readonly Pick<NodeMember, 'hasNode' | 'instanceId' | 'usesAddresses'>[];
  /** In monotonic ms. */
  readonly now: number;
}

/**
 * Whether these withdrawals, with those of the last 10 minutes, are few enough to be plausible. CiliumNodes without a
 * Kubernetes Node make the fleet no larger: an agent can make up as many as it likes.
 */
export function isWithinLimit(candidates: WithdrawalCandidates): boolean {
  const { instanceIds, suspected, admitted, members, now } = candidates;
  if (instanceIds.size === 0) return true;
  const recent = [...admitted].filter(([, at]) => now - at < countedFor).map(([id]) => id);
  const living = members.filter(({ hasNode }) => hasNode);
  const users = living.filter(({ usesAddresses }) => usesAddresses);
  const limit = Math.max(minLimit, limitRatio * users.length);
  if (instanceIds.size > limit) return false;
  const counted = new Set([...instanceIds, ...suspected(), ...recent]);
  if (counted.size > limit) return false;
  const allUsers = members.filter(({ usesAddresses }) => usesAddresses);
  return [users, living, allUsers, members].every((part) => !isWhole(part, counted));
}

/** Whether there are two or more members and all are counted. */
function isWhole(members: readonly Pick<NodeMember, 'instanceId'>[], counted: ReadonlySet<string>): boolean {
  return members.length >= 2 && members.every(({ instanceId }) => counted.has(instanceId));
}

/**
 * Whether Headwater looks at the right cloud: one that shows this cluster's instances. `unknown` while too few have been
 * read, `empty` while no node has a Kubernetes Node.
 */
export type CloudMatch = 'unknown' | 'empty' | 'right' | 'wrong';

/**
 * Considers only nodes with a Kubernetes Node. Others may remain from deleted machines or be invented by an agent, and
 * must not stop all withdrawals.
 */
export function cloudMatchOf(members: readonly Pick<NodeMember, 'hasNode' | 'presence'>[]): CloudMatch {
  const living = members.filter(({ hasNode }) => hasNode);
  if (living.length === 0) return 'empty';
  const missing = missingIn(living).length;
  const unread = living.filter(({ presence }) => presence === 'unread').length;
  if (missing * 2 > living.length) return 'wrong';
  return (living.length - missing - unread) * 2 >= living.length ? 'right' : 'unknown';
}

export function missingIn<Member extends Pick<NodeMember, 'presence'>>(
  members: readonly Member[],
): readonly Member[] {
  return members.filter(({ presence }) => presence === 'notFound');
}

/**
 * The token with which a user approves one set of withdrawals. `since`, in ms since the epoch, is when they were first
 * held: a token that stays configured approves nothing later, even for the same nodes.
 */
export function tokenOf(instanceIds: ReadonlySet<string>, since: number): string {
  const text = [String(since), ...[...instanceIds].sort()].join('\n');
  return createHash('sha256').update(text).digest('hex').slice(0, 10);
}
