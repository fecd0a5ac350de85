// A cluster whose API server is reached over HTTP, with a faster clock. Agents, the cloud and a controller run in this
// process; all requests of the controller and an attacker to Kubernetes go over a socket. Time passes in small steps while
// this process runs, and stands still while it does not: on a busy machine, a leader would lose its Lease otherwise.
import { composeAws } from '../../src/controller/clouds/aws.ts';
import { Controller } from '../../src/controller/controller.ts';
import { EniMode } from '../../src/controller/eni/eni-mode.ts';
import { UndiciTransport } from '../../src/kubernetes/transport/undici-transport.ts';
import { createMetricRegistry } from '../../src/observability/metrics.ts';
import { sleep } from '../../src/runtime/clock.ts';
import { Random } from '../../src/runtime/random.ts';
import { systemClock } from '../../src/runtime/system-clock.ts';
import { VirtualClock } from './virtual-clock.ts';
import type { Topology } from '../../src/simulator/cloud/topology.ts';
import { createEmbeddedCluster, type EmbeddedCluster } from '../../src/simulator/cluster/embedded-cluster.ts';
import {
  type KubernetesServer,
  startKubernetesServer,
} from '../../src/simulator/kubernetes/kubernetes-server.ts';
import type { JsonObject } from '../../src/simulator/workload/json.ts';
import type { NodeFacts } from '../../src/simulator/workload/node-facts.ts';
import { accessTo } from './cluster-access.ts';
import { type GivenFlags, optionsOf } from './given-options.ts';
import { InProcessEc2 } from './in-process-ec2.ts';
import { recordingLogger } from './recording-logger.ts';

export interface HttpClusterOptions {
  readonly cloud: Topology;
  readonly configure: (index: number) => Partial<NodeFacts>;
  readonly flags: GivenFlags;
  /** Speed-up of its clock, at most. */
  readonly pace: number;
  /** Puts something between the controller and the API server: from the URL of the server to the one to use. */
  readonly through?: (url: string) => Promise<string>;
}

/** Time limit of a wait at pace 1, in ms of the cluster. */
const patience = 30_000;
/** Between two steps of its clock, in real ms. */
const betweenSteps = 5;

export class HttpCluster {
  readonly clock = new VirtualClock();
  readonly cluster: EmbeddedCluster;
  readonly machines: NodeFacts[] = [];
  readonly bugs: unknown[] = [];
  /** Calls that removed something: their names and targets. */
  readonly taken: string[] = [];
  controller: Controller | undefined;
  readonly #options: HttpClusterOptions;
  #server: KubernetesServer | undefined;
  /** Where the controller reaches the API server. */
  #url = '';
  #stop: (() => Promise<unknown>) | undefined;
  readonly #ending = new AbortController();
  /** Why time does not pass any more. */
  #standstill: unknown;
  #generation = 0;

  constructor(options: HttpClusterOptions) {
    this.#options = options;
    this.cluster = createEmbeddedCluster({
      topology: options.cloud,
      clock: this.clock,
      random: new Random('http-cluster'),
      pace: 1,
      configure: (facts, index) => {
        const machine = { ...facts, protocol: 'crd-allocator', ...options.configure(index) } as const;
        this.machines.push(machine);
        return machine;
      },
    });
  }

  async start(): Promise<void> {
    this.#letTimePass().catch((error: unknown) => {
      this.#standstill = error;
    });
    const { kubernetes: model } = this.cluster;
    const { through = (url) => Promise.resolve(url) } = this.#options;
    this.#server = await startKubernetesServer({ model, clock: this.clock, port: 0 });
    this.#url = await through(this.#server.url);
    this.startController();
  }

  startController(): void {
    const transport = new UndiciTransport({ access: accessTo(this.#url), clock: this.clock });
    const identity = `headwater-${this.#generation++}`;
    const api = new InProcessEc2(this.cluster.ec2.gateway, (action, input) => {
      if (/^(?:Unassign|Detach|Delete)/.test(action)) this.taken.push(`${action} ${JSON.stringify(input)}`);
    });
    const stopping = new AbortController();
    this.controller = new Controller({
      host: {
        options: optionsOf(this.#options.flags),
        clock: this.clock,
        random: new Random(identity),
        log: recordingLogger(),
        registry: createMetricRegistry({ measureProcess: false }),
        onBug: (error) => this.bugs.push(error),
      },
      kubernetes: transport,
      leaseTransport: transport,
      composeMode: (deps) => new EniMode(deps, (cloud) => composeAws(api, cloud)),
      identity,
      readLiveOptions: undefined,
    });
    const outcome = this.controller.run(stopping.signal);
    this.#stop = async () => {
      stopping.abort();
      await outcome;
      await transport.close();
    };
  }

  /** The controller stops, and another one takes over. */
  async changeLeader(): Promise<void> {
    await this.#stop?.();
    this.startController();
    await this.until('another one leads', () => this.controller?.state === 'leading');
  }

  /** Sends a request as an attacker; resolves to the status code. */
  async send(method: string, path: string, body: JsonObject): Promise<number> {
    const type = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json';
    const response = await fetch(new URL(path, this.#server?.url), {
      method,
      headers: { 'content-type': type },
      body: JSON.stringify(body),
    });
    await response.arrayBuffer();
    return response.status;
  }

  async until(what: string, done: () => boolean): Promise<void> {
    const end = this.clock.monotonic() + patience * this.#options.pace;
    while (!done()) {
      if (this.#standstill !== undefined) throw this.#standstill as Error;
      if (this.clock.monotonic() > end) throw new Error(`it did not come about that ${what}`);
      await sleep(systemClock, betweenSteps, this.#ending.signal);
    }
  }

  /** Waits for this much of its time. */
  async pass(ms: number): Promise<void> {
    const end = this.clock.monotonic() + ms;
    await this.until(`${ms} ms have passed`, () => this.clock.monotonic() >= end);
  }

  async end(): Promise<void> {
    await this.#stop?.();
    await this.cluster.workload.stop();
    await this.#server?.close();
    this.#ending.abort();
  }

  async #letTimePass(): Promise<void> {
    for (;;) {
      await sleep(systemClock, betweenSteps, this.#ending.signal);
      await this.clock.advance(betweenSteps * this.#options.pace);
    }
  }
}
