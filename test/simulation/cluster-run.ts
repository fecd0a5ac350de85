// One run of a whole cluster with its controller, in one process and in virtual time, with a journal of its events.
import { readFileSync } from 'node:fs';
import type { LogDetails, Logger } from '../../src/observability/logger.ts';
import type { VirtualClock } from '../support/virtual-clock.ts';
import { readTopology, type Topology } from '../../src/simulator/cloud/topology.ts';
import type { EmbeddedCluster } from '../../src/simulator/cluster/embedded-cluster.ts';
import { World } from '../support/world.ts';
import { startController } from '../support/world-controller.ts';

export interface ClusterRun {
  readonly clock: VirtualClock;
  readonly cluster: EmbeddedCluster;
  /** One line per event, with its virtual time. */
  readonly journal: string[];
  /** Violated invariants, in the history so far and now. */
  readonly violations: () => readonly unknown[];
  /** Stops the controller and the cluster. */
  readonly end: () => Promise<'stopped' | 'lost'>;
}

export interface ClusterRunOptions {
  readonly seed: string;
  /** Name of an example. */
  readonly topology: string;
  readonly flags?: Readonly<Record<string, string>>;
  readonly protocolOf?: (index: number) => 'crd-allocator' | 'multi-pool';
}

export async function startClusterRun({
  seed,
  topology,
  flags = {},
  protocolOf,
}: ClusterRunOptions): Promise<ClusterRun> {
  const journal: string[] = [];
  const write = (line: string): void => {
    journal.push(`${world.clock.monotonic().toFixed(3)} ${line}`);
  };
  const world = new World({
    cloud: topologyOf(topology),
    seed,
    configure: (index) => ({
      protocol: protocolOf?.(index) ?? (index % 2 === 0 ? 'crd-allocator' : 'multi-pool'),
    }),
    onEvent: write,
  });
  const { clock, cluster } = world;
  const controller = startController(world, {
    flags,
    log: journalLogger(write),
    onCall: (action, input, result) => write(`ec2 ${action} ${JSON.stringify(input)} ${result}`),
  });
  const started = cluster.workload.start();
  await clock.advance(1);
  await started;
  return {
    clock,
    cluster,
    journal,
    violations: () => world.broken(),
    end: async () => {
      controller.stop();
      const stopped = cluster.workload.stop();
      await clock.advance(30_000);
      await stopped;
      return controller.outcome;
    },
  };
}

function topologyOf(name: string): Topology {
  const path = new URL(`../../src/simulator/ec2/examples/${name}.yaml`, import.meta.url);
  const read = readTopology(readFileSync(path, 'utf8'));
  if ('problems' in read) throw new Error(read.problems.join('\n'));
  return read.topology;
}

function journalLogger(write: (line: string) => void, bindings: LogDetails = {}): Logger {
  const at =
    (level: string) =>
    (message: string, details: LogDetails = {}): void =>
      write(`${level} ${message} ${JSON.stringify({ ...bindings, ...details })}`);
  return {
    debug: () => undefined,
    info: at('info'),
    warn: at('warn'),
    error: at('error'),
    child: (more) => journalLogger(write, { ...bindings, ...more }),
  };
}
