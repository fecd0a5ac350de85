// Caches cluster state from watches: CiliumNodes, pending pods, and the Nodes that map names to instances. A
// standby keeps it warm too. A new leader lists once more and reads only what its watch has not delivered
// yet.
import type { CiliumNodeGc, GcCandidate } from '../../kubernetes/cilium-node/cilium-node-gc.ts';
import { allLabels } from '../../kubernetes/object-identity.ts';
import { ownersOfUsed } from '../../kubernetes/cilium-node/cilium-node-entries.ts';
import { ciliumNodesPath } from '../../kubernetes/cilium-node/cilium-node-writer.ts';
import { type ClusterNode, ClusterNodes, unlistedNodes } from '../../kubernetes/watch/cluster-nodes.ts';
import { ShownPods } from '../../kubernetes/watch/shown-pods.ts';
import { type JsonObject, textAt } from '../../runtime/json.ts';
import { PendingPods } from '../../kubernetes/watch/pending-pods.ts';
import { Reflector } from '../../kubernetes/watch/reflector.ts';
import type { KubernetesTransport } from '../../kubernetes/transport/transport.ts';
import { readCiliumNode, type WatchedNode } from '../../kubernetes/cilium-node/cilium-node-reader.ts';
import { NodeIdentities, type TouchedIdentities } from '../../manager/claims/node-identities.ts';
import type { Metrics } from '../../observability/metrics.ts';
import type { CiliumNodeSection } from '../../providers/contract/cilium-node-section.ts';
import { sleep } from '../../runtime/clock.ts';
import type { Host, ModeDeps } from '../host.ts';
import type { Unserved } from '../reporting/process-status-report.ts';
import { type ReadLog, readProblemOf, silenceProblem, WatchCounters } from '../reporting/watch-counters.ts';

export interface ClusterCacheDeps {
  readonly host: Pick<Host, 'clock' | 'random' | 'log' | 'onBug'>;
  readonly reads: ReadLog;
  readonly transport: KubernetesTransport;
  /** Reads a Node's provider ID; undefined if it names no instance of the cloud. */
  readonly instanceIdOf: (providerId: string) => string | undefined;
  readonly section: CiliumNodeSection;
  /** The taint of Nodes that await their agent; undefined if that is somebody else's duty. */
  readonly agentTaint?: string | undefined;
  readonly scope: ModeDeps['scope'];
  /** Who else learns that a Node appeared, or shows something else. */
  readonly duties?: Pick<CiliumNodeGc, 'noteNode'>;
}

/** The part that follows the cluster. */
export interface ServedCluster {
  /** The newest state of a CiliumNode; undefined once it is gone. */
  apply(name: string, watched: WatchedNode | undefined): void;
  /** The Nodes for these identities changed. */
  identitiesChanged(touched: TouchedIdentities): void;
  /** The number of pending pods on this node changed. */
  pendingPodsChanged(name: string): void;
}

/** How long to wait for the first list of Nodes, in ms. */
const maxWaitForNodes = 10_000;

export class ClusterCache {
  readonly #deps: ClusterCacheDeps;
  readonly #nodes: Reflector<WatchedNode>;
  /** Pods that wait for an address. */
  readonly pods: PendingPods;
  /** Who learns of changes; undefined while nobody serves nodes. */
  served: ServedCluster | undefined;
  /** Live reads. */
  readonly shownPods: ShownPods;
  readonly #clusterNodes: ClusterNodes;
  /** Updated in place. */
  readonly identities: NodeIdentities;
  #nodesAreListed = false;
  /** The reason why Nodes are waited for; undefined if they are not. */
  #awaited: string | undefined;
  readonly #counters = new WatchCounters();

  constructor(deps: ClusterCacheDeps) {
    this.#deps = deps;
    const { transport, reads, instanceIdOf, section, agentTaint, scope, duties } = deps;
    this.identities = new NodeIdentities((name) => scope.isOutside(name));
    scope.onMove = (name) => {
      this.#identitiesChanged({ names: new Set([name]), instanceIds: new Set(), addresses: new Set() });
      duties?.noteNode(name);
    };
    const { clock, random, log, onBug } = deps.host;
    const shared = { transport, clock, random, onBug };
    const transform = (raw: JsonObject): WatchedNode => {
      this.pods.agentServes(textAt(raw, 'metadata', 'name') ?? '', ownersOfUsed(raw));
      const watched = readCiliumNode(raw, section);
      return scope.isSelective ? { ...watched, labels: allLabels(raw) } : watched;
    };
    this.#nodes = new Reflector(
      shared,
      { path: ciliumNodesPath, verifyEmptyLists: true, transform },
      {
        onChange: ({ type, key, object }) => {
          const newest = type === 'deleted' ? undefined : object;
          scope.noteCiliumNode(key, newest?.labels);
          this.served?.apply(key, newest);
        },
        onState: (state) => reads.note('ciliumnodes', state),
      },
    );
    this.shownPods = new ShownPods(transport, clock);
    this.pods = new PendingPods(shared, {
      onChange: (name) => this.served?.pendingPodsChanged(name),
      onDenied: (problem) =>
        log.warn('cannot read pods: nodes get no addresses in advance for pending pods', { problem }),
      onState: (state) => {
        if (state.kind !== 'denied') reads.note('pods', state);
      },
    });
    this.#clusterNodes = new ClusterNodes(
      { ...shared, random: random.fork('nodes') },
      {
        instanceIdOf,
        ...(scope.isSelective && { keptLabels: 'all' }),
        ...(agentTaint !== undefined && { agentTaint }),
        onChange: (name, node) => {
          scope.noteNode(name, node?.labels);
          this.#identitiesChanged(this.identities.set(name, node));
          if (node !== undefined) duties?.noteNode(name);
        },
        onAccess: (problem) => {
          if (problem !== undefined)
            log.warn(
              'cannot read Nodes: nothing verifies which instance is whose, and nothing is released or detached',
              { problem },
            );
          else log.info('reading Nodes again: instances are verified');
          const { nodes } = this.#clusterNodes;
          if (problem === undefined) scope.noteNodes(nodes);
          this.#identitiesChanged(this.identities.replace(nodes));
          for (const name of nodes.keys()) duties?.noteNode(name);
        },
        onState: (state) => {
          this.#nodesAreListed = state.kind === 'watching';
          if (state.kind === 'backing-off') this.#awaited &&= unlistedNodes(state.status, state.problem);
          if (state.kind !== 'denied') reads.note('nodes', state);
        },
      },
    );
  }

  /** CiliumNodes that may be deleted once their machine is gone. */
  *collectable(): Iterable<GcCandidate> {
    for (const watched of this.nodes.values()) {
      if (watched.kind === 'unreadable') continue;
      const { name, uid, resourceVersion: version, createdAt = '' } = watched.node;
      const { deleting: isDeleting, ignored: isIgnored, spared = false } = watched.node;
      const created = Date.parse(createdAt);
      yield {
        name,
        uid,
        version,
        createdAt: Number.isNaN(created) ? Infinity : created,
        isDeleting,
        isIgnored,
        isKept: spared,
        isOwned: spared,
      };
    }
  }

  /** Names of all Nodes; undefined while they are not known for sure. */
  nodeNames(): ReadonlySet<string> | undefined {
    return this.#nodesAreListed ? new Set(this.#clusterNodes.nodes.keys()) : undefined;
  }

  /** The Nodes of the cluster, by name. Empty while they may not be read. */
  get clusterNodes(): ReadonlyMap<string, ClusterNode> {
    return this.#clusterNodes.nodes;
  }

  #identitiesChanged(touched: TouchedIdentities): void {
    this.served?.identitiesChanged(touched);
  }

  /** By name. Updated in place. */
  get nodes(): ReadonlyMap<string, WatchedNode> {
    return this.#nodes.objects;
  }

  /** Everything written to CiliumNodes up to this resource version is known; undefined while that is uncertain. */
  get nodesVersion(): string | undefined {
    return this.#nodes.resourceVersion;
  }

  /** Why a node of that name gets nothing; undefined if it is served, or not known. */
  unserved(name: string): Unserved | undefined {
    const { scope } = this.#deps;
    if (scope.isOutside(name)) return scope.unserved(name);
    const watched = this.nodes.get(name);
    if (watched !== undefined && (watched.kind === 'node' ? watched.node : watched).ignored)
      return { standing: 'leftAlone', annotated: 'CiliumNode' };
    if (this.identities.isIgnored(name)) return { standing: 'leftAlone', annotated: 'Node' };
    return watched === undefined && this.clusterNodes.has(name) ? { standing: 'awaitsAgent' } : undefined;
  }

  /** How many CiliumNodes are ignored because their owner asks for that. */
  get leftAlone(): readonly string[] {
    return [...this.nodes.keys()].filter((name) => this.unserved(name)?.standing === 'leftAlone');
  }

  /** Resolves once all CiliumNodes are known and Nodes are known too or cannot be read for now. */
  get synced(): Promise<void> {
    return this.#nodes.synced.then(() => this.#nodesSettled());
  }

  /** Why Nodes cannot be read; undefined if they can. */
  get identityProblem(): string | undefined {
    return this.#clusterNodes.problem;
  }

  /** The uid of a Node; undefined if none of that name is known. */
  nodeUid(name: string): string | undefined {
    return this.#clusterNodes.nodes.get(name)?.uid;
  }

  /**
   * With a selector, Nodes say which nodes are ours: before they are listed, none is known. Otherwise they only verify identities,
   * so the wait for them is bounded.
   */
  async #nodesSettled(): Promise<void> {
    const { scope, host } = this.#deps;
    const { state } = this.#clusterNodes.reflector.figures();
    const isFailing = state.kind === 'backing-off';
    this.#awaited = isFailing ? unlistedNodes(state.status, state.problem) : 'Nodes are being listed';
    const known = new AbortController();
    const late = sleep(host.clock, maxWaitForNodes, known.signal).catch(() => undefined);
    await Promise.race([this.#clusterNodes.settled, ...(scope.isSelective ? [] : [late])]);
    known.abort();
    this.#awaited = undefined;
  }

  /** Resolves once everything written to CiliumNodes before this call is known, however far the watch lags. */
  caughtUp(): Promise<void> {
    return this.#nodes.refresh();
  }

  /** Applies the answer to one of our own writes. */
  observe(raw: JsonObject): void {
    this.#nodes.observe(raw);
  }

  async run(signal: AbortSignal): Promise<void> {
    await Promise.all(this.#reflectors().map(([, each]) => each.run(signal)));
  }

  /** Why the last attempt to list CiliumNodes failed; undefined if none has, or while they are known. */
  readProblem(): string | undefined {
    return readProblemOf(this.#nodes.figures(), this.#nodes.problem, this.#deps.host.clock.monotonic());
  }

  /** The condition that the first lists of CiliumNodes and Nodes wait for. */
  waitingFor(): string {
    return this.readProblem() ?? this.#awaited ?? 'CiliumNodes are being listed';
  }

  /** Undefined while the watch of CiliumNodes works, or reports its own problem. */
  problem(): string | undefined {
    return silenceProblem(this.#nodes.figures(), this.#deps.host.clock.monotonic(), 'CiliumNodes');
  }

  /** Which watch is silent, and for how long; undefined while all are heard, or wait for an administrator. */
  silence(): string | undefined {
    for (const [resource, reflector] of this.#reflectors()) {
      const silence = reflector.silence();
      if (silence !== undefined)
        return `it hears nothing of ${resource} from the API server, for ${Math.round(silence / 1000)} s now`;
    }
    return undefined;
  }

  show(metrics: Metrics): void {
    for (const [resource, reflector] of this.#reflectors())
      this.#counters.show(metrics, resource, reflector.figures());
  }

  #reflectors(): (readonly [string, Pick<Reflector<unknown>, 'run' | 'figures' | 'silence'>])[] {
    return [
      ['ciliumnodes', this.#nodes],
      ['pods', this.pods.reflector],
      ['nodes', this.#clusterNodes.reflector],
    ];
  }
}
