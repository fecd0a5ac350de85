// Tells Kubernetes that the Cilium agent of a Node serves it, as cilium-operator does: it removes the taint that keeps pods
// away until then, and sets the condition NetworkUnavailable to false. Pods of agents are read only while this process leads.
import {
  awaitsAgent,
  ciliumIsUp,
  nodeOfReadyAgent,
  saysCiliumIsUp,
  taintRemoval,
} from '../kubernetes/agent-taint.ts';
import { NodeWriter } from '../kubernetes/node/node-writer.ts';
import type { JsonObject } from '../runtime/json.ts';
import type { WriteFailure, WriteOutcome } from '../kubernetes/transport/write-outcome.ts';
import { readIdentity } from '../kubernetes/object-identity.ts';
import type { ClusterNode } from '../kubernetes/watch/cluster-nodes.ts';
import { Reflector } from '../kubernetes/watch/reflector.ts';
import type { Options } from '../config/option-table.ts';
import { writeTimeoutOf } from '../config/release-window.ts';
import { randomWait } from '../runtime/backoff.ts';
import { type Result, WorkQueue } from '../runtime/work-queue.ts';
import type { ModeDeps } from './host.ts';

const workers = 10;
const backoff = { base: 1000, cap: 60_000 };

/** The writes, part by part, and what the failure of each means. */
const consequences = {
  taint: 'a Node stays closed for pods although its agent is ready',
  condition: 'the condition NetworkUnavailable of a Node is not set to false although its agent is ready',
} as const;

type Part = keyof typeof consequences;

type AgentTaintsDeps = Pick<ModeDeps, 'host' | 'kubernetes' | 'leadership' | 'reads' | 'scope'> & {
  /** By name. A live map. */
  readonly nodes: () => ReadonlyMap<string, ClusterNode>;
};

/** Undefined unless an option turns it on. */
export function agentTaints(deps: AgentTaintsDeps): AgentTaints | undefined {
  return deps.host.options.manageAgentTaint ? new AgentTaints(deps) : undefined;
}

/** The key of the taint, if Nodes with it are to be opened. */
export function agentTaintOf({
  manageAgentTaint,
  agentNotReadyTaintKey,
}: Pick<Options, 'manageAgentTaint' | 'agentNotReadyTaintKey'>): string | undefined {
  return manageAgentTaint ? agentNotReadyTaintKey : undefined;
}

class AgentTaints {
  readonly #deps: AgentTaintsDeps;
  readonly #writer: NodeWriter;
  readonly #pods: Reflector<{ readonly node: string | undefined }>;
  readonly #queue: WorkQueue<string>;
  readonly #failures = new Map<string, number>();
  /** The last problem that was logged: by Node, or by part if the permission for it lacks. */
  readonly #told = new Map<string, string>();
  /** How many ready agents each Node has. */
  readonly #ready = new Map<string, number>();
  /** Nodes that await an end of the dry run, which has named them. */
  readonly #named = new Set<string>();
  #isAbsenceTold = false;

  constructor(deps: AgentTaintsDeps) {
    this.#deps = deps;
    const { host, kubernetes: transport, leadership, reads } = deps;
    const { options, clock, random, onBug } = host;
    const { permission, leads } = leadership;
    this.#writer = new NodeWriter(transport, leads, writeTimeoutOf(options));
    this.#queue = new WorkQueue<string>({
      clock,
      onBug,
      workers,
      mayStart: () => permission.refusal('publish') === undefined,
      reconcile: (name) => this.#reconcile(name),
      retryAfter: (name) => this.#waitOf(name),
    });
    permission.onChange(() => this.#queue.serve());
    this.#pods = new Reflector(
      { transport, clock, random: random.fork('agent pods'), onBug },
      {
        path: `/api/v1/namespaces/${options.ciliumPodNamespace ?? options.k8sNamespace}/pods`,
        labelSelector: options.ciliumPodLabels,
        transform: (pod) => ({ node: nodeOfReadyAgent(pod) }),
      },
      {
        onChange: ({ type, object, previous }) =>
          this.#take(previous?.node, type === 'deleted' ? undefined : object.node),
        onState: (state) => {
          reads.note('pods of Cilium agents', state);
          if (state.kind === 'watching') this.#noteAbsence();
        },
      },
    );
  }

  /** Call it when a Node appears or shows something else. */
  noteNode(name: string): void {
    const { nodes, scope } = this.#deps;
    const awaits = nodes().get(name)?.awaitsAgent === true;
    if (awaits && this.#ready.has(name) && !scope.isOutside(name)) {
      this.#queue.add(name);
      this.#nameInDryRun(name);
    } else this.#named.delete(name);
  }

  #nameInDryRun(node: string): void {
    const { host, leadership } = this.#deps;
    if (!leadership.permission.pauses.dryRun || this.#named.has(node)) return;
    this.#named.add(node);
    host.log.info('dry run: would open a Node for pods, because its agent is ready', { node });
  }

  /** Serves until `signal` aborts. */
  async run(signal: AbortSignal): Promise<void> {
    await this.#pods.run(signal);
    await this.#queue.stop(signal);
  }

  #take(before: string | undefined, after: string | undefined): void {
    if (before === after) return;
    if (before !== undefined) this.#count(before, -1);
    if (after === undefined) return;
    this.#count(after, 1);
    this.noteNode(after);
  }

  #count(node: string, change: number): void {
    const count = (this.#ready.get(node) ?? 0) + change;
    if (count === 0) this.#ready.delete(node);
    else this.#ready.set(node, count);
  }

  async #reconcile(name: string): Promise<Result> {
    const { host, scope } = this.#deps;
    if (scope.isOutside(name)) return {};
    const read = await this.#writer.get(name, this.#queue.deadline);
    if (read.kind !== 'found') return this.#failed(name, 'taint', read);
    const { raw } = read;
    const writes = {
      taint: () => this.#untaint(name, raw),
      condition: () => this.#setCondition(name, raw),
    };
    for (const part of ['taint', 'condition'] as const) {
      if (!this.#ready.has(name)) return {};
      const outcome = await writes[part]();
      if (outcome === undefined) continue;
      if (outcome.kind !== 'written') return this.#failed(name, part, outcome);
      this.#told.delete(part);
    }
    this.#forget(name);
    if (awaitsAgent(raw, host.options.agentNotReadyTaintKey))
      host.log.info('the agent of a Node serves it: it is open for pods', { node: name });
    return {};
  }

  #untaint(name: string, raw: JsonObject): Promise<WriteOutcome> | undefined {
    const patch = taintRemoval(raw, this.#deps.host.options.agentNotReadyTaintKey);
    return patch && this.#writer.patchTaints(name, patch, this.#queue.deadline);
  }

  #setCondition(name: string, raw: JsonObject): Promise<WriteOutcome> | undefined {
    if (saysCiliumIsUp(raw)) return undefined;
    const at = this.#deps.host.clock.wall();
    const { uid } = readIdentity(raw);
    return this.#writer.setNetworkReady({ name, uid, at, condition: ciliumIsUp }, this.#queue.deadline);
  }

  #failed(name: string, part: Part, failure: WriteFailure): Result {
    if (failure.kind === 'gone') {
      this.#forget(name);
      return {};
    }
    this.#failures.set(name, (this.#failures.get(name) ?? 0) + 1);
    if (failure.kind !== 'conflict') this.#warn(name, part, failure);
    return { isFailure: true, requeueAfter: this.#waitOf(name) };
  }

  /** Says a problem once until it changes: a permission that lacks is the problem of all Nodes. */
  #warn(name: string, part: Part, { kind, message }: Exclude<WriteFailure, { kind: 'gone' }>): void {
    const [about, problem] = kind === 'denied' ? [part, kind] : [name, `${part}: ${message}`];
    if (this.#told.get(about) === problem) return;
    this.#told.set(about, problem);
    this.#deps.host.log.warn(consequences[part], { node: name, problem: message });
  }

  #forget(name: string): void {
    this.#failures.delete(name);
    this.#told.delete(name);
  }

  #waitOf(name: string): number {
    return randomWait(backoff, this.#failures.get(name) ?? 1, this.#deps.host.random);
  }

  /** Says once that no agent is found: a wrong label or namespace looks like agents that are not ready. */
  #noteAbsence(): void {
    if (this.#isAbsenceTold || this.#pods.objects.size > 0) return;
    this.#isAbsenceTold = true;
    const { log, options } = this.#deps.host;
    log.warn('no pod of a Cilium agent is found: Nodes keep their taint', {
      namespace: options.ciliumPodNamespace ?? options.k8sNamespace,
      labels: options.ciliumPodLabels,
      remedy: 'set cilium-pod-namespace and cilium-pod-labels to those of the agents',
    });
  }
}
