// The base of the commands that ask a controller: their options, how they find it, and how they print its answer.
import type { RawFlags } from '../../config/raw-option.ts';
import type { UndiciTransport } from '../../kubernetes/transport/undici-transport.ts';
import { formatListenAddress, parseListenAddress } from '../../observability/listen-address.ts';
import { reachCluster } from '../cluster-access.ts';
import { outputKind } from '../command-description.ts';
import { lastOf, optionsAmong, readFlags } from '../flag-values.ts';
import { placeOptions, watchInterval } from '../status-description.ts';
import { readAgentOf } from './agent-pod.ts';
import { type LeaderPlace, LeaderReader } from './leader.ts';
import {
  type Question,
  readAgent,
  readStatus,
  type Served,
  type ServedAgent,
  type Way,
} from './served-report.ts';
import { printLines } from './print-lines.ts';
import { codeOf, type Told, watch } from './watch.ts';

/** The process that is asked; each call resolves to why nothing is read, if so. */
export interface Source<T> {
  at(way: Way): Promise<T | string>;
  inCluster(cluster: OpenedCluster): Promise<T | string>;
}

/** The controller at an address, or the leader of a cluster. */
export function controller(question: Question): Source<Served> {
  return {
    at: (way) => readStatus(way, question),
    inCluster: ({ transport, ...place }) => new LeaderReader(transport, place, question).read(),
  };
}

/** The agent of a node, at an address or in its pod. */
export function agentOf(node: string): Source<ServedAgent> {
  const { signal } = new AbortController();
  return {
    at: (way) => readAgent(way),
    inCluster: ({ transport, namespace }) => readAgentOf(transport, { namespace, node }, signal),
  };
}

/** Asks, prints the answer, and resolves to the exit code. */
export async function ask<T extends object>(
  command: string,
  given: RawFlags,
  source: Source<T>,
  tell: (served: T) => Told,
): Promise<number> {
  const seconds = lastOf(given, 'watch');
  const code = await reading(command, given, source, async (read) => {
    const answered = async (): Promise<Told | string> => {
      const served = await read();
      return typeof served === 'string' ? served : tell(served);
    };
    if (seconds !== undefined)
      return watch({ command, interval: Number(seconds) * 1000, isJson: isJson(given) }, answered);
    return printAnswer(command, await answered(), isJson(given));
  });
  return typeof code === 'string' ? printAnswer(command, code, false) : code;
}

/** Asks a controller once. Resolves to what is wrong if there is no answer. */
export function readOnce(command: string, given: RawFlags): Promise<Served | string> {
  return reading(command, given, controller({}), (read) => read());
}

/** Returns the exit code. */
export function printAnswer(command: string, answer: Told | string, asJson: boolean): number {
  const problem = typeof answer === 'string' ? answer : answer.unanswered;
  if (typeof answer !== 'string') {
    if (asJson) process.stdout.write(answer.json);
    else printLines(answer.lines);
  }
  if (problem !== undefined) process.stderr.write(`headwater ${command}: ${problem}\n`);
  return codeOf(answer);
}

export function wrongFlag(given: RawFlags): string | undefined {
  const read = readFlags(given, { output: outputKind, watch: watchInterval });
  return typeof read === 'string' ? read : undefined;
}

/** At --address, else in the cluster, again and again. Resolves to what is wrong with the flags, or if there is no way. */
async function reading<T extends object, R>(
  command: string,
  given: RawFlags,
  source: Source<T>,
  use: (read: () => Promise<T | string>) => Promise<R>,
): Promise<R | string> {
  const wrong = wrongFlag(given);
  if (wrong !== undefined) return wrong;
  const address = lastOf(given, 'address');
  if (address === undefined) {
    const cluster = await openCluster(command, given);
    if (typeof cluster === 'string') return cluster;
    try {
      return await use(() => source.inCluster(cluster));
    } finally {
      await cluster.transport.close();
    }
  }
  const way = wayTo(address);
  if (typeof way === 'string') return way;
  return use(async () => {
    const served = await source.at(way.open);
    return typeof served === 'string' ? `cannot read ${way.place}: ${served}` : served;
  });
}

/** Directly to an address. Returns what is wrong with it. */
function wayTo(given: string): { readonly open: Way; readonly place: string } | string {
  const address = parseListenAddress(given.replace(/^http:\/\//, '').replace(/\/.*$/, ''));
  if (address === undefined) return '--address is no host:port or http://host:port, such as 127.0.0.1:9966';
  const { host = 'localhost', port } = address;
  return { open: () => Promise.resolve({ host, port }), place: formatListenAddress({ host, port }) };
}

interface OpenedCluster extends LeaderPlace {
  readonly transport: UndiciTransport;
}

/** Resolves to what is wrong if there is no way to the API server. */
async function openCluster(command: string, given: RawFlags): Promise<OpenedCluster | string> {
  const loaded = optionsAmong(given, placeOptions);
  if (typeof loaded === 'string') return loaded;
  const reached = await reachCluster(
    loaded,
    (message) => void process.stderr.write(`headwater ${command}: ${message}\n`),
  );
  if (typeof reached === 'string') return reached;
  const { options, sources } = loaded;
  const isLeaseGiven = sources['leader-election-lease-name'].kind !== 'default';
  return {
    transport: reached.transport,
    namespace: options.k8sNamespace,
    lease: isLeaseGiven ? options.leaderElectionLeaseName : undefined,
  };
}

export function isJson(given: RawFlags): boolean {
  return lastOf(given, 'output') === 'json';
}
