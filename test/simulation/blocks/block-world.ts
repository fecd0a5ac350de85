// A cluster whose nodes get blocks, in virtual time: the Kubernetes model, machines that come and go, and two processes of
// Headwater that faults kill, freeze and cut off. One seed gives one history.
import { blockChecks } from '../../../src/blocks/settings/block-pools.ts';
import { nodeIpamMode } from '../../../src/blocks/modes/node-modes.ts';
import { clusterPoolMode } from '../../../src/blocks/modes/cluster-pool-mode.ts';
import type { Mode, ModeDeps } from '../../../src/controller/host.ts';
import { multiPoolMode } from '../../../src/blocks/modes/multi-pool-mode.ts';
import { Controller } from '../../../src/controller/controller.ts';
import type { BlockNodeReport, BlockStatusReport } from '../../../src/blocks/modes/block-status-report.ts';
import { loadOptions } from '../../../src/config/load-options.ts';
import type { OptionCommand } from '../../../src/config/option-scope.ts';
import type { Options } from '../../../src/config/option-table.ts';
import type { MetricRegistry } from '../../../src/observability/metrics.ts';
import { Random } from '../../../src/runtime/random.ts';
import { VirtualClock } from '../../support/virtual-clock.ts';
import { ciliumNodeCrd } from '../../../src/simulator/kubernetes/ciliumnode-crd.ts';
import { ciliumPodIpPoolCrd } from '../../../src/simulator/kubernetes/ciliumpodippool-crd.ts';
import type { KubernetesHandler, KubernetesRequest } from '../../../src/simulator/kubernetes/exchange.ts';
import { KubernetesModel } from '../../../src/simulator/kubernetes/kubernetes-model.ts';
import { BlockMachine } from '../../../src/simulator/workload/block-machine.ts';
import {
  isObject,
  type JsonObject,
  listAt,
  parseObject,
  textAt,
} from '../../../src/simulator/workload/json.ts';
import { KubernetesClient } from '../../../src/simulator/workload/kubernetes-client.ts';
import type { LiveReading } from '../../../src/config/live-options.ts';
import { emptyEnvironment, rawFlags } from '../../support/given-options.ts';
import { recordingLogger } from '../../support/recording-logger.ts';
import { noopMetricRegistry } from '../noop-metric-registry.ts';
import { kubernetesPort } from '../ports.ts';
import { SimulatedProcess } from '../process.ts';

export type BlockController = Controller<BlockStatusReport, BlockNodeReport>;

export interface BlockReplica {
  readonly process: SimulatedProcess;
  readonly controller: BlockController;
  readonly outcome: Promise<'lost' | 'stopped'>;
  readonly log: ReturnType<typeof recordingLogger>;
  readonly stop: () => void;
}

export interface BlockWorldOptions {
  readonly seed: string;
  readonly command: OptionCommand;
  /** Options of every process. */
  readonly flags: Readonly<Record<string, string>>;
  /** Decides what happens to a request of a process. Default: nothing but its answer. */
  readonly intercept?: (process: SimulatedProcess, handler: KubernetesHandler) => KubernetesHandler;
  /** Whether the definition of CiliumNodes is missing at first. */
  readonly withoutDefinition?: true;
  /** `spec.providerID` of a machine's Node. Default: none. */
  readonly providerIdOf?: (machine: string) => string;
  /** The machines. Default: those with one block of each family. */
  readonly machine?: typeof BlockMachine;
  /** The metric registry of every process. Default: one that keeps nothing. */
  readonly registry?: MetricRegistry;
  /** The mode of every process. Default: the one that its options select. */
  readonly mode?: (deps: ModeDeps) => Mode<BlockStatusReport, BlockNodeReport>;
  /** Options that change while a process runs. Default: none do. */
  readonly readLiveOptions?: () => LiveReading;
}

/** A write of a process that took effect. */
export interface EffectiveWrite {
  readonly at: number;
  readonly method: string;
  readonly path: string;
  readonly process: string;
  /** The object before and after it; undefined where there is none. */
  readonly before: JsonObject | undefined;
  readonly after: JsonObject | undefined;
}

const never = new AbortController().signal;

export class BlockWorld {
  readonly clock = new VirtualClock();
  readonly random: Random;
  readonly model: KubernetesModel;
  readonly machines = new Map<string, BlockMachine>();
  readonly replicas: BlockReplica[] = [];
  readonly bugs: unknown[] = [];
  readonly writes: EffectiveWrite[] = [];
  readonly form: 'CiliumNode' | 'Node';
  /** Called after each write of a process that took effect. */
  onWrite: (write: EffectiveWrite) => void = () => undefined;
  /** Called before each write that a process sends to an object, whatever becomes of it. */
  onSend: (identity: string, request: KubernetesRequest) => void = () => undefined;
  readonly #options: BlockWorldOptions;
  readonly #client: KubernetesClient;
  #generation = 0;

  constructor(options: BlockWorldOptions) {
    this.#options = options;
    this.random = new Random(options.seed);
    this.form = options.command === 'nodeipam' ? 'Node' : 'CiliumNode';
    this.model = new KubernetesModel({
      clock: this.clock,
      random: this.random.fork('model'),
      crds: options.withoutDefinition === true ? [] : [ciliumNodeCrd, ciliumPodIpPoolCrd],
      collectGarbage: true,
    });
    this.#client = new KubernetesClient(this.model.handle, 'agent');
  }

  get path(): string {
    return this.form === 'Node' ? '/api/v1/nodes' : '/apis/cilium.io/v2/ciliumnodes';
  }

  /** The process that leads, if any. */
  get leader(): BlockReplica | undefined {
    return this.replicas.find(({ process, controller }) => !process.isDead && controller.state === 'leading');
  }

  startReplica(flags: Readonly<Record<string, string>> = {}): BlockReplica {
    const identity = `headwater-${this.#generation++}`;
    const process = new SimulatedProcess(identity, this.clock);
    const { intercept = (_, handler) => handler, registry } = this.#options;
    const options = this.#optionsOf(flags);
    const port = this.#watchingWrites(identity, intercept(process, this.#noting(identity)));
    const transport = kubernetesPort(process, port, () => undefined);
    const lease = kubernetesPort(process, this.#noting(identity), () => undefined);
    const stop = new AbortController();
    const log = recordingLogger();
    const controller: BlockController = new Controller({
      host: {
        options,
        clock: process,
        random: this.random.fork(identity),
        log,
        registry: registry ?? noopMetricRegistry(() => undefined),
        onBug: (error) => this.bugs.push(error),
      },
      kubernetes: transport,
      leaseTransport: lease,
      composeMode: this.#modeOf(options),
      identity,
      readLiveOptions: this.#options.readLiveOptions,
    });
    const outcome = controller.run(stop.signal);
    outcome.catch((error: unknown) => this.bugs.push(error));
    const replica = { process, controller, outcome, log, stop: () => stop.abort() };
    this.replicas.push(replica);
    return replica;
  }

  #modeOf({ ipam }: Options): (deps: ModeDeps) => Mode<BlockStatusReport, BlockNodeReport> {
    const { mode } = this.#options;
    if (mode !== undefined) return mode;
    if (this.form === 'Node') return nodeIpamMode;
    return ipam === 'multi-pool' ? multiPoolMode : clusterPoolMode;
  }

  join(name: string, isOwned = false, labels: Readonly<Record<string, string>> = {}): BlockMachine {
    const { clock, random, form } = this;
    const machine = new (this.#options.machine ?? BlockMachine)({
      name,
      form,
      client: this.#client,
      clock,
      random: random.fork(`${name} ${clock.monotonic()}`),
      isOwned,
      labels,
      providerId: this.#options.providerIdOf?.(name) ?? '',
    });
    this.machines.set(name, machine);
    machine.run().catch((error: unknown) => this.bugs.push(error));
    return machine;
  }

  async leave(name: string, leavesObject = false): Promise<void> {
    const machine = this.machines.get(name);
    this.machines.delete(name);
    await machine?.end(leavesObject);
  }

  /** All objects that hold blocks. */
  async objects(): Promise<readonly JsonObject[]> {
    return listAt(await this.ask('GET', this.path), 'items').filter(isObject);
  }

  /** Sends a request as an administrator. */
  async ask(method: string, url: string, body?: JsonObject): Promise<JsonObject> {
    const type = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json';
    const response = await this.model.handle(
      {
        method,
        url,
        headers: { accept: 'application/json', ...(body !== undefined && { 'content-type': type }) },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      },
      never,
    );
    return typeof response.body === 'string' ? parseObject(response.body) : {};
  }

  /** Takes every finalizer from an object that is being deleted. */
  async endDeletion(name: string): Promise<void> {
    await this.ask('PATCH', `${this.path}/${name}`, { metadata: { finalizers: null } });
  }

  /** Runs until `isSo`; throws after `limit` ms. */
  async until(what: string, isSo: () => boolean, limit = 120_000): Promise<void> {
    if (!(await this.clock.runUntil(isSo, limit))) throw new Error(`it did not come about that ${what}`);
  }

  isServed(): boolean {
    return [...this.machines.values()].every(({ inUse }) => inUse.length > 0);
  }

  #optionsOf(flags: Readonly<Record<string, string>>): Options {
    const { command } = this.#options;
    const loaded = loadOptions(rawFlags({ ...this.#options.flags, ...flags }), emptyEnvironment, {
      command,
      checks: blockChecks,
    });
    if (loaded.kind === 'refused') throw new Error(loaded.problems.join('\n'));
    return loaded.options;
  }

  /** Who has the Lease; undefined if nobody has. */
  get leaseHolder(): string | undefined {
    const [lease] = this.model.list('leases.coordination.k8s.io');
    return textAt(lease, 'spec', 'holderIdentity') || undefined;
  }

  /** The CiliumNode that a write is about. */
  #objectAt(request: KubernetesRequest): JsonObject | undefined {
    const [, name] = /\/ciliumnodes\/([^/?]+)/.exec(request.url) ?? [];
    if (name === undefined || !isWriteOfObject(request)) return undefined;
    return this.model.get('ciliumnodes.cilium.io', decodeURIComponent(name));
  }

  #watchingWrites(identity: string, handler: KubernetesHandler): KubernetesHandler {
    return (request, signal) => {
      if (isWriteOfObject(request)) this.onSend(identity, request);
      return handler(request, signal);
    };
  }

  /** Tells of each write of the process that took effect, whatever becomes of its answer. */
  #noting(identity: string): KubernetesHandler {
    return async (request, signal) => {
      const { method, url } = request;
      const before = this.#objectAt(request);
      const answer = await this.model.handle(request, signal);
      if (isWriteOfObject(request) && answer.status < 300) {
        const after = this.#objectAt(request);
        const write = { at: this.clock.monotonic(), method, path: url, process: identity, before, after };
        this.writes.push(write);
        this.onWrite(write);
      }
      return answer;
    };
  }
}

function isWriteOfObject({ method, url }: Pick<KubernetesRequest, 'method' | 'url'>): boolean {
  return method !== 'GET' && /\/(ciliumnodes|nodes)\/[^/]+/.test(url);
}
