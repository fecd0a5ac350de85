// The base of the commands that ask a controller: their options, how they find it, and how they print its answer.
import type { RawFlags } from '../../config/raw-option.ts';
import type { UndiciTransport } from '../../kubernetes/transport/undici-transport.ts';
import { formatListenAddress, parseListenAddress } from '../../observability/listen-address.ts';
import { systemClock as clock } from '../../runtime/system-clock.ts';
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

/** A command that asks a controller, prints the answer, and resolves to its exit code. */
export function ask(
  command: string,
  given: RawFlags,
  { question, tell }: { readonly question: Question; readonly tell: (served: Served) => Told },
): Promise<number> {
  return answer(command, given, { source: controller(question), tell });
}

/** A command that asks the agent of a node, at --address or in its pod. Resolves to the exit code. */
export function askAgent(
  command: string,
  given: RawFlags,
  { node, tell }: { readonly node: string; readonly tell: (served: ServedAgent) => Told },
): Promise<number> {
  const { signal } = new AbortController();
  const source: Source<ServedAgent> = {
    at: (way) => readAgent(way),
    inCluster: ({ transport, namespace }) => readAgentOf(transport, { namespace, node }, signal),
  };
  return answer(command, given, { source, tell });
}

/** The process that is asked; each call resolves to why nothing is read, if so. */
interface Source<T> {
  at(way: Way): Promise<T | string>;
  inCluster(cluster: OpenedCluster): Promise<T | string>;
}

/** The controller at an address, or the leader of a cluster. */
function controller(question: Question): Source<Served> {
  const { signal } = new AbortController();
  return {
    at: (way) => readStatus(way, question),
    inCluster: ({ transport, ...place }) => new LeaderReader(transport, clock, signal).read(place, question),
  };
}

async function answer<T extends object>(
  command: string,
  given: RawFlags,
  { source, tell }: { readonly source: Source<T>; readonly tell: (served: T) => Told },
): Promise<number> {
  const reader = await openReader(command, given, source);
  if (typeof reader === 'string') return printAnswer(command, reader, false);
  const answered = async (): Promise<Told | string> => {
    const served = await reader.read();
    return typeof served === 'string' ? served : tell(served);
  };
  try {
    const seconds = lastOf(given, 'watch');
    if (seconds !== undefined)
      return await watch({ command, interval: Number(seconds) * 1000, isJson: isJson(given) }, answered);
    return printAnswer(command, await answered(), isJson(given));
  } finally {
    await reader.close();
  }
}

/** Asks a controller once. Resolves to what is wrong if there is no answer. */
export async function readOnce(command: string, given: RawFlags): Promise<Served | string> {
  const reader = await openReader(command, given, controller({}));
  if (typeof reader === 'string') return reader;
  try {
    return await reader.read();
  } finally {
    await reader.close();
  }
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

/** Something that can be read again and again. */
interface Reader<T> {
  read(): Promise<T | string>;
  close(): Promise<void>;
}

/** At --address, else in the cluster. Resolves to what is wrong with the flags, or if there is no way. */
async function openReader<T extends object>(
  command: string,
  given: RawFlags,
  source: Source<T>,
): Promise<Reader<T> | string> {
  const wrong = wrongFlag(given);
  if (wrong !== undefined) return wrong;
  const address = lastOf(given, 'address');
  if (address === undefined) {
    const cluster = await openCluster(command, given);
    if (typeof cluster === 'string') return cluster;
    return { read: () => source.inCluster(cluster), close: () => cluster.transport.close() };
  }
  const way = wayTo(address);
  if (typeof way === 'string') return way;
  const read = async (): Promise<T | string> => {
    const served = await source.at(way.open);
    return typeof served === 'string' ? `cannot read ${way.place}: ${served}` : served;
  };
  return { read, close: () => Promise.resolve() };
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
