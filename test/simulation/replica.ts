// One controller process of a simulated cluster, from its start to its end.
import { loadOptions } from '../../src/config/load-options.ts';
import type { LiveReading } from '../../src/config/read-live-options.ts';
import type { Options } from '../../src/config/option-table.ts';
import { composeAws } from '../../src/controller/clouds/aws.ts';
import { Controller } from '../../src/controller/controller.ts';
import type { Logger } from '../../src/observability/logger.ts';
import type { Ec2Api } from '../../src/providers/aws/ec2-api.ts';
import type { Random } from '../../src/runtime/random.ts';
import type { KubernetesHandler } from '../../src/simulator/kubernetes/exchange.ts';
import { deafRegistry } from './noop-metric-registry.ts';
import { type CallListener, type CloudListeners, cloudPort, kubernetesPort } from './ports.ts';
import type { SimulatedProcess } from './process.ts';

export interface ReplicaSetup {
  readonly process: SimulatedProcess;
  readonly options: Options;
  readonly readLiveOptions: () => LiveReading;
  readonly handler: KubernetesHandler;
  readonly api: Ec2Api;
  readonly random: Random;
  readonly log: Logger;
  readonly hear: CallListener;
  readonly show: CloudListeners['show'];
  readonly take: CloudListeners['take'];
  /** A write of a CiliumNode was taken for somebody else's. */
  readonly onForeignWrite: () => void;
  readonly onBug: (error: unknown) => void;
}

export class Replica {
  readonly process: SimulatedProcess;
  readonly controller: Controller;
  readonly outcome: Promise<'stopped' | 'lost'>;
  readonly #stop = new AbortController();

  constructor(setup: ReplicaSetup) {
    const {
      process,
      options,
      readLiveOptions,
      handler,
      api,
      random,
      log,
      hear,
      show,
      take,
      onForeignWrite,
      onBug,
    } = setup;
    this.process = process;
    const transport = kubernetesPort(process, handler, hear);
    this.controller = new Controller({
      options,
      kubernetes: transport,
      leaseTransport: transport,
      composeCloud: (deps) => composeAws(cloudPort(process, api, { hear, show, take }), deps),
      clock: process,
      random: random.fork(process.identity),
      log,
      registry: deafRegistry(onForeignWrite),
      identity: process.identity,
      readLiveOptions,
      onBug,
    });
    this.outcome = this.controller.run(this.#stop.signal);
  }

  get isLeading(): boolean {
    return this.controller.state === 'leading';
  }

  /** Tells it to end in good order; time has to pass for it to do so. */
  stop(): void {
    this.#stop.abort();
  }
}

export function optionsOf(flags: Readonly<Record<string, string>>): Options {
  const given = new Map(Object.entries(flags).map(([name, value]) => [name, [value]]));
  const loaded = loadOptions(given, { environment: {}, readFile: absent, readDirectory: absent });
  if (loaded.kind === 'refused') throw new Error(loaded.problems.join('\n'));
  return loaded.options;
}

function absent(path: string): never {
  throw Object.assign(new Error(path), { code: 'ENOENT' });
}
