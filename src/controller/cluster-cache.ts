// What Headwater keeps of the cluster: CiliumNodes and the pods that wait on them, as the watches bring them. Kept warm
// on a standby too: a new leader lists once more, and reads of that only what its watch had not told yet.
import { ciliumNodesPath } from '../kubernetes/cilium-node-writer.ts';
import type { JsonObject } from '../kubernetes/json.ts';
import { PendingPods } from '../kubernetes/pending-pods.ts';
import { Reflector, type ReflectorFigures, type ReflectorState } from '../kubernetes/reflector.ts';
import type { KubernetesTransport } from '../kubernetes/transport.ts';
import { type WatchedNode, watchedNode } from '../kubernetes/watched-node.ts';
import type { Logger } from '../observability/logger.ts';
import type { Metrics } from '../observability/metrics.ts';
import type { Clock } from '../scheduling/clock.ts';
import type { Random } from '../scheduling/random.ts';

export interface ClusterCacheDeps {
  readonly transport: KubernetesTransport;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  readonly onBug: (error: unknown) => void;
  /** The newest state of a CiliumNode; undefined once it is gone. */
  readonly onNode: (name: string, watched: WatchedNode | undefined) => void;
  /** The number of pods that wait on this node changed. */
  readonly onWaitingPods: (name: string) => void;
}

/** A watch is renewed every 10 min at the latest: one that is silent for longer does not work any more, in ms. */
const longestSilence = 15 * 60_000;

export class ClusterCache {
  readonly #deps: ClusterCacheDeps;
  readonly #nodes: Reflector<WatchedNode>;
  readonly #pods: PendingPods;
  /** Why the last try to read them failed, until one succeeds: the next try does not make it untrue. */
  #nodesProblem: string | undefined;
  readonly #shown = { ciliumnodes: { relists: 0, restarts: 0 }, pods: { relists: 0, restarts: 0 } };

  constructor(deps: ClusterCacheDeps) {
    this.#deps = deps;
    const { transport, clock, random, log, onBug, onNode, onWaitingPods } = deps;
    const shared = { transport, clock, random, onBug };
    this.#nodes = new Reflector({
      ...shared,
      path: ciliumNodesPath,
      transform: watchedNode,
      onChange: ({ type, key, object }) => onNode(key, type === 'deleted' ? undefined : object),
      onState: (state) => {
        if ('problem' in state) this.#nodesProblem = state.problem;
        if (state.kind === 'watching') this.#nodesProblem = undefined;
        this.#say('ciliumnodes', state);
      },
    });
    this.#pods = new PendingPods({
      ...shared,
      onChange: onWaitingPods,
      onDenied: (problem) =>
        log.warn('cannot see which pods wait: nodes get no addresses ahead for them', { problem }),
      onState: (state) => {
        if (state.kind !== 'denied') this.#say('pods', state);
      },
    });
  }

  /** By name. Changes in place. */
  get nodes(): ReadonlyMap<string, WatchedNode> {
    return this.#nodes.objects;
  }

  /** Whatever was written to CiliumNodes until this resource version is known; undefined while that cannot be said. */
  get nodesVersion(): string | undefined {
    return this.#nodes.resourceVersion;
  }

  /** Pods that wait for an address on a node. */
  waitingPods(name: string): number {
    return this.#pods.waitingOn(name);
  }

  /** Resolves once all CiliumNodes are known. */
  get synced(): Promise<void> {
    return this.#nodes.synced;
  }

  /** Resolves once all that was written to CiliumNodes before this call is known, however late the watch is. */
  caughtUp(): Promise<void> {
    return this.#nodes.refresh();
  }

  /** Takes the answer to one of our own writes. */
  observe(raw: JsonObject): void {
    this.#nodes.observe(raw);
  }

  async run(signal: AbortSignal): Promise<void> {
    await Promise.all([this.#nodes.run(signal), this.#pods.run(signal)]);
  }

  /** What keeps CiliumNodes from becoming known. */
  waitingFor(): string {
    const { state } = this.#nodes.figures();
    if ('problem' in state) return state.problem;
    return this.#nodesProblem ?? 'CiliumNodes are being listed';
  }

  /** Undefined as long as the watch of CiliumNodes works, or says itself why it doesn't. */
  problem(): string | undefined {
    const { state, lastActivity } = this.#nodes.figures();
    const silence = this.#deps.clock.monotonic() - (lastActivity ?? Infinity);
    if (state.kind !== 'watching' || silence < longestSilence) return undefined;
    return `nothing was heard from the watch of CiliumNodes for ${Math.round(silence / 60_000)} min`;
  }

  show(metrics: Metrics): void {
    for (const [resource, figures] of this.#figures()) {
      const shown = this.#shown[resource];
      metrics.headwater_watch_relists_total.add({ resource }, figures.relists - shown.relists);
      metrics.headwater_watch_restarts_total.add({ resource }, figures.watchRestarts - shown.restarts);
      this.#shown[resource] = { relists: figures.relists, restarts: figures.watchRestarts };
    }
  }

  #figures(): (readonly ['ciliumnodes' | 'pods', ReflectorFigures])[] {
    return [
      ['ciliumnodes', this.#nodes.figures()],
      ['pods', this.#pods.figures()],
    ];
  }

  #say(resource: string, state: ReflectorState): void {
    const { log } = this.#deps;
    if (state.kind === 'denied')
      log.warn('cannot read from Kubernetes', { resource, problem: state.problem });
    else if (state.kind === 'backing-off' && state.failures > 1) {
      log.warn('cannot read from Kubernetes for now', { resource, problem: state.problem });
    } else log.debug('watching Kubernetes', { resource, state: state.kind });
  }
}
