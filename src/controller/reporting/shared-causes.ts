// Groups node problems by cause: one full subnet can block thousands of nodes and should be reported once.
// Each node's own status, /status and the metrics still report it per node.
import type { NodeCondition, ConditionReason } from '../../node/conditions/node-condition.ts';

export interface CauseReport {
  /** The first node with this cause: its log line represents the cause. */
  readonly isFirst: boolean;
  /** The node gets its own Events. */
  readonly onNode: boolean;
  /** The cause now affects several nodes and is reported once for the fleet. */
  readonly onCluster: boolean;
  /** The node was the last one with another cause, which was reported for the fleet. */
  readonly clusterEnded: boolean;
}

/** The end of a node's cause, and what ended with it. */
export interface Ending {
  /** The node had Events about it. */
  readonly onNode: boolean;
  /** A cause reported for the fleet ended for all its nodes. */
  readonly onCluster: boolean;
}

interface Cause {
  readonly nodes: Set<string>;
  isReported: boolean;
}

/** Causes outside of nodes. Any other reason is a problem of each node, even if the texts match. */
const shared: ReadonlySet<ConditionReason> = new Set([
  'SubnetsExhausted',
  'SubnetsRefused',
  'NoSubnetMatches',
  'NoSecurityGroupMatches',
  'NetworkUnreadable',
  'InstanceTypeUnreadable',
  'AccessDenied',
  'CredentialsExpired',
  'CredentialsInvalid',
  'ClockWrong',
  'Throttled',
  'Unreachable',
  'MutationsPaused',
  'WriteRefused',
  'InstanceNotManaged',
  'OutsideNetwork',
]);

/** Parts that name the node or its instance: the API server names the object in its answer. */
function withoutOwnName(text: string, name: string): string {
  return text
    .replaceAll(`"${name}"`, '"…"')
    .replaceAll(/\bi-[\da-f]{8,17}\b/g, 'i-…')
    .replaceAll(/\/virtualmachines\/[\w.-]+/g, '/virtualmachines/…');
}

/** Number of nodes that get their own Events for one cause. */
export const maxNodesReported = 5;

export class SharedCauses {
  readonly #causes = new Map<string, Cause>();
  readonly #keys = new Map<string, { readonly key: string; readonly onNode: boolean }>();

  /** The node now has this cause and no other. */
  beginCause(name: string, condition: NodeCondition): CauseReport {
    const { reason, message } = condition;
    const key = shared.has(reason) ? `${reason} ${withoutOwnName(message, name)}` : `${reason} of ${name}`;
    const isAnother = this.#keys.get(name)?.key !== key;
    const clusterEnded = this.end(name).onCluster && isAnother;
    const cause = this.#causes.get(key) ?? { nodes: new Set<string>(), isReported: false };
    this.#causes.set(key, cause);
    cause.nodes.add(name);
    const onNode = cause.nodes.size <= maxNodesReported;
    this.#keys.set(name, { key, onNode });
    const onCluster = cause.nodes.size > 1 && !cause.isReported;
    cause.isReported ||= onCluster;
    return { isFirst: cause.nodes.size === 1, onNode, onCluster, clusterEnded };
  }

  /** The node no longer has a cause. */
  end(name: string): Ending {
    const known = this.#keys.get(name);
    if (known === undefined) return { onNode: false, onCluster: false };
    this.#keys.delete(name);
    const cause = this.#causes.get(known.key);
    cause?.nodes.delete(name);
    const isLast = cause?.nodes.size === 0;
    if (isLast) this.#causes.delete(known.key);
    return { onNode: known.onNode, onCluster: isLast && cause.isReported };
  }
}
