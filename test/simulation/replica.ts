// One controller process of a simulated cluster, from start to end.
import type { LiveReading } from '../../src/config/live-options.ts';
import type { Options } from '../../src/config/option-table.ts';
import type { Cloud, CloudDeps } from '../../src/controller/clouds/cloud.ts';
import { Controller } from '../../src/controller/controller.ts';
import { EniMode } from '../../src/controller/eni/eni-mode.ts';
import type { Logger } from '../../src/observability/logger.ts';
import type { Random } from '../../src/runtime/random.ts';
import type { KubernetesHandler } from '../../src/simulator/kubernetes/exchange.ts';
import { noopMetricRegistry } from './noop-metric-registry.ts';
import type { PhaseListener, SimulatedProcess } from './process.ts';
import { kubernetesPort } from './ports.ts';
import { SilentConnections } from './silent-connections.ts';

export interface ReplicaSetup {
  readonly process: SimulatedProcess;
  readonly options: Options;
  readonly readLiveOptions: () => LiveReading;
  readonly handler: KubernetesHandler;
  /** Composes the cloud of this process. */
  readonly compose: (deps: CloudDeps) => Cloud;
  readonly random: Random;
  readonly log: Logger;
  readonly onPhase: PhaseListener;
  /** The controller took a write of this CiliumNode for a conflicting writer's. */
  readonly onConflictingWrite: (name: string) => void;
  readonly onBug: (error: unknown) => void;
}

export class Replica {
  readonly process: SimulatedProcess;
  readonly controller: Controller;
  readonly outcome: Promise<'stopped' | 'lost'>;
  /** To the API server. */
  readonly connections = new SilentConnections();
  readonly #stop = new AbortController();

  constructor(setup: ReplicaSetup) {
    const {
      process,
      options,
      readLiveOptions,
      handler,
      compose,
      random,
      log,
      onPhase,
      onConflictingWrite,
      onBug,
    } = setup;
    this.process = process;
    const transport = kubernetesPort(process, this.connections.over(handler), onPhase);
    this.controller = new Controller({
      host: {
        options,
        clock: process,
        random: random.fork(process.identity),
        log,
        registry: noopMetricRegistry(() => onConflictingWrite(this.#conflictingNode)),
        onBug,
      },
      kubernetes: transport,
      leaseTransport: transport,
      composeMode: (deps) => new EniMode(deps, compose),
      identity: process.identity,
      readLiveOptions,
    });
    this.outcome = this.controller.run(this.#stop.signal);
  }

  /** The CiliumNode of the last conflicting write. */
  get #conflictingNode(): string {
    const node = this.controller.status().paused.find(({ reason }) => reason === 'conflictingWriter')?.node;
    if (node === undefined) throw new Error('nothing is paused because of a conflicting write');
    return node;
  }

  get isLeading(): boolean {
    return this.controller.state === 'leading';
  }

  /** Requests a graceful shutdown, which takes virtual time. */
  stop(): void {
    this.#stop.abort();
  }
}
