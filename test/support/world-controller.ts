// A controller in a test cluster, with records of its logs, calls and writes.
import { type AuditLine, auditInto } from './audit-lines.ts';
import { metricIn } from '../../rig/metric-text.ts';
import type { ProcessEnvironment } from '../../src/config/option-row.ts';
import { readLiveOptions } from '../../src/config/live-options.ts';
import { MeteredTransport } from '../../src/controller/reporting/metered-transport.ts';
import { Controller } from '../../src/controller/controller.ts';
import { EniMode } from '../../src/controller/eni/eni-mode.ts';
import { InProcessTransport } from './in-process-transport.ts';
import type { KubernetesTransport, TransportRequest } from '../../src/kubernetes/transport/transport.ts';
import type { Logger } from '../../src/observability/logger.ts';
import { createMetricRegistry } from '../../src/observability/metrics.ts';
import type { Clock } from '../../src/runtime/clock.ts';
import type { KubernetesHandler } from '../../src/simulator/kubernetes/exchange.ts';
import { isObject, type Json, type JsonObject } from '../../src/simulator/workload/json.ts';
import { emptyEnvironment, type GivenFlags, optionsOf, rawFlags } from './given-options.ts';
import { recordingLogger, type LogLine } from './recording-logger.ts';
import type { ClusterWorld } from './cluster-world.ts';

export interface CloudCall {
  /** In monotonic ms. */
  readonly at: number;
  readonly action: string;
  readonly input: JsonObject;
  /** `OK` or a code. */
  readonly result: string;
}

export interface ApiWrite {
  readonly at: number;
  readonly method: string;
  readonly path: string;
  readonly body: JsonObject;
  /** 0 without an answer. */
  readonly status: number;
}

/** The mutating call, of the cloud or of a CiliumNode, at which a process dies. */
export interface Death {
  /** Index of the call, from 0. */
  readonly at: number;
  readonly when: 'before it is sent' | 'once it is sent' | 'before its answer is taken in';
  readonly onDeath: () => void;
}

export interface ControllerSetup {
  readonly flags?: GivenFlags;
  /** Other sources of its configuration; none by default. */
  readonly processEnvironment?: ProcessEnvironment;
  readonly identity?: string;
  /** In addition to the recording one. */
  readonly log?: Logger;
  readonly onCall?: (action: string, input: unknown, result: string) => void;
  /** Changes an answer of the cloud before it is read. Page tokens of its own begin with `test-`. */
  readonly tamper?: (action: string, output: object, input: object) => object;
  /** Whether to count its requests to Kubernetes. */
  readonly metered?: true;
  /** Whether to keep the audit of its changes. */
  readonly audited?: true;
  /** Its process dies at one of its calls. */
  readonly death?: Death;
  /** Runs in the cluster between a write to Kubernetes and its answer. */
  readonly beforeAnswer?: (write: ApiWrite) => Promise<void>;
}

export class WorldController {
  readonly controller: Controller;
  readonly logged: readonly LogLine[];
  readonly calls: CloudCall[] = [];
  readonly writes: ApiWrite[] = [];
  /** Lines of the audit of its changes. */
  readonly audited: AuditLine[] = [];
  readonly outcome: Promise<'stopped' | 'lost'>;
  /** Names of mutating calls, in the order in which they started. */
  readonly started: string[] = [];
  readonly #stop = new AbortController();
  readonly #registry = createMetricRegistry({ measureProcess: false });
  readonly #death: Death | undefined;
  #isDead = false;

  constructor(world: ClusterWorld, setup: ControllerSetup) {
    this.#death = setup.death;
    const flags = { ...world.flags, ...setup.flags };
    const { processEnvironment = emptyEnvironment, identity = 'headwater-0', log, onCall } = setup;
    const { clock, cluster } = world;
    const recording = recordingLogger();
    this.logged = recording.lines;
    const transport = this.#transport(cluster.kubernetes.handle, clock, setup);
    const compose = world.connect({
      pass: (action, isChange, send) => this.#pass(action, isChange, send),
      onCall: (action, input, result) => {
        this.calls.push({ at: clock.monotonic(), action, input: input as JsonObject, result });
        onCall?.(action, input, result);
      },
      tamper: setup.tamper ?? ((_, output) => output),
    });
    this.controller = new Controller({
      host: {
        options: optionsOf(flags, processEnvironment),
        clock,
        random: world.random.fork(identity),
        log: log ?? recording,
        registry: this.#registry,
        ...(setup.audited === true && {
          audit: auditInto(this.audited, { clock, ...this.#registry, leader: identity }),
        }),
        onBug: (error) => world.bugs.push(error),
      },
      kubernetes:
        setup.metered === true ? new MeteredTransport(transport, this.#registry.metrics) : transport,
      leaseTransport: transport,
      composeMode: (deps) => new EniMode(deps, compose),
      identity,
      version: '1.2.3',
      readLiveOptions: () => readLiveOptions(rawFlags(flags), processEnvironment),
    });
    this.outcome = this.controller.run(this.#stop.signal);
  }

  /** Mutating calls. */
  get changes(): readonly CloudCall[] {
    return this.calls.filter(({ action }) => !action.startsWith('Describe'));
  }

  /** Calls that take something away. */
  get removals(): readonly CloudCall[] {
    return this.calls.filter(({ action }) => /^(?:Unassign|Detach|Delete)/.test(action));
  }

  /** Writes of CiliumNodes. */
  get publications(): readonly ApiWrite[] {
    return this.writes.filter(({ path }) => path.startsWith('/apis/cilium.io/'));
  }

  /** Logged messages of that level, or above `info`. */
  warnings(): readonly string[] {
    return this.logged
      .filter(({ level }) => level === 'warn' || level === 'error')
      .map(({ message }) => message);
  }

  /** Requests a shutdown, which takes virtual time. */
  stop(): void {
    this.#stop.abort();
  }

  /** Kills its process: nothing of it has an effect from then on. */
  kill(): void {
    this.#isDead = true;
  }

  /** Value of a series, such as `headwater_leader` or `x{a="b"}`; undefined if there is none. */
  async metric(series: string): Promise<number | undefined> {
    return metricIn(await this.scrape(), series);
  }

  /** All series, as Prometheus gets them. */
  scrape(): Promise<string> {
    return this.#registry.scrape();
  }

  #pass<T>(action: string, isChange: boolean, send: () => Promise<T>): Promise<T> {
    if (this.#isDead) return new Promise(() => undefined);
    return isChange ? this.#mortally(action, send) : send();
  }

  /** Performs a call, unless the process must die at it. */
  async #mortally<T>(name: string, send: () => Promise<T>): Promise<T> {
    const death = this.started.push(name) - 1 === this.#death?.at ? this.#death : undefined;
    if (death?.when === 'before it is sent') return this.#die(death);
    const answer = send();
    if (death?.when === 'once it is sent') {
      answer.catch(() => undefined);
      return this.#die(death);
    }
    await answer;
    return death === undefined ? answer : this.#die(death);
  }

  #die(death: Death): Promise<never> {
    this.kill();
    death.onDeath();
    return new Promise(() => undefined);
  }

  #transport(
    handler: KubernetesHandler,
    clock: Clock,
    { beforeAnswer }: ControllerSetup,
  ): KubernetesTransport {
    const inner = new InProcessTransport(
      (request, signal) => (this.#isDead ? new Promise(() => undefined) : handler(request, signal)),
      clock,
    );
    const note = ({ method, path, body = '{}' }: TransportRequest, at: number, status: number): ApiWrite => {
      const write = { at, method, path, body: bodyOf(body), status };
      this.writes.push(write);
      return write;
    };
    return {
      stream: (request, signal) => inner.stream(request, signal),
      send: async (request, signal) => {
        // A query for permissions changes nothing.
        const isQuestion = request.path.startsWith('/apis/authorization.k8s.io/');
        if (request.method === 'GET' || isQuestion) return inner.send(request, signal);
        const at = clock.monotonic();
        const send = (): ReturnType<typeof inner.send> => inner.send(request, signal);
        const part = /^\/apis\/cilium\.io\/.*?(\/status)?$/.exec(request.path);
        try {
          const answer = await (part === null
            ? send()
            : this.#mortally(part[1] === undefined ? 'patch spec' : 'patch status', send));
          const write = note(request, at, answer.status);
          await beforeAnswer?.(write);
          return answer;
        } catch (error) {
          note(request, at, 0);
          throw error;
        }
      },
    };
  }
}

/** A JSON patch is a list of operations. */
function bodyOf(text: string): JsonObject {
  const body = JSON.parse(text) as Json;
  return isObject(body) ? body : { operations: body };
}

/** Starts a controller; it runs until it is stopped or killed, or the test ends. */
export function startController(world: ClusterWorld, setup: ControllerSetup = {}): WorldController {
  return new WorldController(world, setup);
}

/** Moves the clock until the controller has ended. */
export async function stopController(world: ClusterWorld, controller: WorldController): Promise<void> {
  let hasEnded = false;
  void controller.outcome.then(() => (hasEnded = true));
  controller.stop();
  await world.until('the controller has ended', () => hasEnded);
}

/** Another process takes over from a killed one. */
export function takeOver(
  world: ClusterWorld,
  former: WorldController,
  setup: ControllerSetup = {},
): WorldController {
  former.kill();
  return startController(world, { identity: 'headwater-1', ...setup });
}
