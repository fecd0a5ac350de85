// Watches the cluster's Nodes and keeps only what ties a Node to its instance (name, uid, age, provider ID and addresses), the
// labels that its user names, and whether the node is to be ignored. Agents cannot write Nodes, so a Node settles contradictions between two CiliumNodes.
import { isIPv4 } from 'node:net';
import { isDeepStrictEqual } from 'node:util';
import { intern } from '../../runtime/intern.ts';
import { awaitsAgent } from '../agent-taint.ts';
import { admittedPods, allLabels, isIgnored, readIdentity } from '../object-identity.ts';
import { type JsonObject, listAt, textAt } from '../../runtime/json.ts';
import type { Change } from './object-store.ts';
import type { ClientPorts } from '../transport/transport.ts';
import { Reflector, type ReflectorState } from './reflector.ts';

export interface ClusterNode {
  readonly uid: string;
  /** The instance ID in the cloud's form; undefined while the provider ID is missing or names no instance. */
  readonly instanceId: string | undefined;
  /**
   * The InternalIPs of the Node, `maxAddresses` at most. IPv6 is left out, because no cloud identifies an instance by it.
   */
  readonly addresses: readonly string[];
  /** The API server's wall clock, in ms; Infinity when unreadable. */
  readonly createdAt: number;
  /** Pods that its kubelet admits; undefined before it says so. */
  readonly admittedPods: number | undefined;
  /** The labels that are kept; undefined if the Node has none of them. */
  readonly labels?: Readonly<Record<string, string>>;
  /** True if the owner asks to ignore the CiliumNode of the same name. */
  readonly isIgnored?: true;
  /** True if the Node does not show yet that its Cilium agent serves it. Only with `agentTaint`. */
  readonly awaitsAgent?: true;
}

export interface ClusterNodesOptions {
  /** Reads a provider ID; undefined when it names no instance of this cloud. */
  readonly instanceIdOf: (providerId: string) => string | undefined;
  /** Names of labels, or all of them. Default: none. */
  readonly keptLabels?: readonly string[] | 'all';
  /** The key of the taint that says that the agent does not run yet. Default: not looked at. */
  readonly agentTaint?: string;
  /**
   * Called when a Node appears, disappears, or shows something else of what is kept. `node` is undefined after deletion.
   * `onBug` gets what it throws.
   */
  readonly onChange: (name: string, node: ClusterNode | undefined) => void;
  /** Called when read access to Nodes changes: with the problem, or with undefined once it is gone. */
  readonly onAccess: (problem: string | undefined) => void;
  readonly onState: (state: ReflectorState) => void;
}

export class ClusterNodes {
  readonly #options: ClusterNodesOptions;
  readonly reflector: Reflector<ClusterNode>;
  readonly #denied = Promise.withResolvers<void>();
  #problem: string | undefined;

  constructor(ports: ClientPorts, options: ClusterNodesOptions) {
    this.#options = options;
    this.reflector = new Reflector<ClusterNode>(
      ports,
      { path: '/api/v1/nodes', verifyEmptyLists: true, transform: (raw) => clusterNode(raw, options) },
      { onChange: (change) => this.#take(change), onState: (state) => this.#enter(state) },
    );
  }

  /** By name. A live map. Empty while access to Nodes is denied. */
  get nodes(): ReadonlyMap<string, ClusterNode> {
    return this.#problem === undefined ? this.reflector.objects : none;
  }

  /** Whether the Node of that name asks that its CiliumNode is ignored: the last that was read, while access is denied. */
  isIgnored(name: string): boolean {
    return this.reflector.objects.get(name)?.isIgnored === true;
  }

  /** Why access to Nodes is denied; undefined when it is granted. */
  get problem(): string | undefined {
    return this.#problem;
  }

  /** Resolves once all Nodes are known or access is denied. */
  get settled(): Promise<void> {
    return Promise.race([this.reflector.synced, this.#denied.promise]);
  }

  #take({ type, key, object, previous }: Change<ClusterNode>): void {
    // Kubelets write their Node status all the time; skip those events.
    const isSame = isDeepStrictEqual(previous, object);
    if (this.#problem !== undefined || (type === 'modified' && isSame)) return;
    this.#options.onChange(key, type === 'deleted' ? undefined : object);
  }

  #enter(state: ReflectorState): void {
    if (state.kind === 'denied') this.#setProblem(state.problem);
    if (state.kind === 'watching') this.#setProblem(undefined);
    this.#options.onState(state);
  }

  #setProblem(problem: string | undefined): void {
    const isNews = (problem === undefined) !== (this.#problem === undefined);
    this.#problem = problem;
    if (problem !== undefined) this.#denied.resolve();
    if (isNews) this.#options.onAccess(problem);
  }
}

/** A failed list of Nodes in words. `status`: of the answer, if there was one. */
export function unlistedNodes(status: number | undefined, why: string): string {
  const answer = status === undefined ? '' : ` (status ${status})`;
  return `cannot list Nodes${answer}: ${why}`;
}

const none: ReadonlyMap<string, ClusterNode> = new Map();
const noAddresses: readonly string[] = [];
/** A node has few; a kubelet may list any number. */
const maxAddresses = 16;

function clusterNode(
  raw: JsonObject,
  {
    instanceIdOf,
    keptLabels = [],
    agentTaint,
  }: Pick<ClusterNodesOptions, 'instanceIdOf' | 'keptLabels' | 'agentTaint'>,
): ClusterNode {
  const { uid, createdAt } = readIdentity(raw);
  const labels = labelsOf(raw, keptLabels);
  return {
    uid,
    instanceId: instanceIdOf(textAt(raw, 'spec', 'providerID') ?? ''),
    addresses: internalAddresses(raw),
    createdAt,
    admittedPods: admittedPods(raw),
    ...(labels !== undefined && { labels }),
    ...(isIgnored(raw) && { isIgnored: true }),
    ...(agentTaint !== undefined && awaitsAgent(raw, agentTaint) && { awaitsAgent: true }),
  };
}

function labelsOf(
  raw: JsonObject,
  kept: readonly string[] | 'all',
): Readonly<Record<string, string>> | undefined {
  if (kept === 'all') return allLabels(raw);
  const found = kept
    .map((name) => [name, textAt(raw, 'metadata', 'labels', name)] as const)
    .filter((each): each is readonly [string, string] => each[1] !== undefined);
  return found.length === 0 ? undefined : Object.fromEntries(found);
}

/** The InternalIPs of a Node, without those of IPv6. */
export function internalAddresses(raw: JsonObject): readonly string[] {
  const internal = listAt(raw, 'status', 'addresses').filter((each) => textAt(each, 'type') === 'InternalIP');
  const found = internal.map((each) => textAt(each, 'address') ?? '').filter((address) => isIPv4(address));
  return found.length === 0 ? noAddresses : [...new Set(found)].slice(0, maxAddresses).map(intern);
}
