// The base of the commands that ask a controller: their options, how they find it, and how they print its answer.
import { loadOptions } from '../../config/load-options.ts';
import { thisProcess } from '../../config/process-environment.ts';
import type { RawFlags } from '../../config/raw-option.ts';
import { oneOf } from '../../config/value-kinds.ts';
import { NotStartable } from '../../controller/clouds/cloud.ts';
import { UndiciTransport } from '../../kubernetes/transport/undici-transport.ts';
import { formatListenAddress, parseListenAddress } from '../../observability/listen-address.ts';
import { systemClock as clock } from '../../runtime/system-clock.ts';
import { findCluster } from '../cluster-access.ts';
import { exitCode } from '../exit-code.ts';
import { lastOf, readFlags } from '../flag-values.ts';
import { placeOptions, watchInterval } from '../status-description.ts';
import { readAgentOf } from './agent-pod.ts';
import { type LeaderPlace, LeaderReader } from './leader.ts';
import {
  type Question,
  type ReadAgent,
  readAgent,
  readStatus,
  type ReadStatus,
  type Served,
  type ShownAgent,
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
  return answer(command, given, async () => {
    const reader = await ControllerReader.open(command, given);
    if (typeof reader === 'string') return reader;
    return {
      close: reader.close,
      answered: async () => {
        const read = await reader.read(question);
        return read.kind === 'failed' ? read.problem : tell(read.served);
      },
    };
  });
}

/** A command that asks the agent of a node, at --address or in its pod. Resolves to the exit code. */
export function askAgent(
  command: string,
  given: RawFlags,
  { node, tell }: { readonly node: string; readonly tell: (json: string, agent: ShownAgent) => Told },
): Promise<number> {
  const told = (read: ReadAgent): Told | string =>
    read.kind === 'failed' ? read.problem : tell(read.json, read.report);
  return answer(command, given, async () => {
    const address = lastOf(given, 'address');
    if (address !== undefined) {
      const way = wayTo(address);
      if (typeof way === 'string') return way;
      return {
        close: () => Promise.resolve(),
        answered: async () => told(at(way.place, await readAgent(way.open))),
      };
    }
    const cluster = await openCluster(command, given);
    if (typeof cluster === 'string') return cluster;
    const { transport, namespace } = cluster;
    const { signal } = new AbortController();
    return {
      close: () => transport.close(),
      answered: async () => told(await readAgentOf(transport, { namespace, node }, signal)),
    };
  });
}

function at(place: string, read: ReadAgent): ReadAgent {
  return read.kind === 'read' ? read : { ...read, problem: `cannot read ${place}: ${read.problem}` };
}

/** Something that can be asked again and again. */
interface Asked {
  answered(): Promise<Told | string>;
  close(): Promise<void>;
}

async function answer(
  command: string,
  given: RawFlags,
  open: () => Promise<Asked | string>,
): Promise<number> {
  const fail = (problem: string): number => {
    process.stderr.write(`headwater ${command}: ${problem}\n`);
    return exitCode.unanswered;
  };
  const wrong = wrongFlag(given);
  if (wrong !== undefined) return fail(wrong);
  const asked = await open();
  if (typeof asked === 'string') return fail(asked);
  const answered = (): Promise<Told | string> => asked.answered();
  try {
    const seconds = lastOf(given, 'watch');
    if (seconds !== undefined)
      return await watch({ command, interval: Number(seconds) * 1000, isJson: isJson(given) }, answered);
    return printAnswer(command, await answered(), isJson(given));
  } finally {
    await asked.close();
  }
}

/** Asks once. Resolves to what is wrong if there is no answer. */
export async function readOnce(command: string, given: RawFlags): Promise<Served | string> {
  const reader = wrongFlag(given) ?? (await ControllerReader.open(command, given));
  if (typeof reader === 'string') return reader;
  try {
    const read = await reader.read({});
    return read.kind === 'failed' ? read.problem : read.served;
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
  const read = readFlags(given, { output: oneOf(['text', 'json']), watch: watchInterval });
  return typeof read === 'string' ? read : undefined;
}

/** The way to the controller at --address, else to the leader of the cluster. */
class ControllerReader {
  readonly read: (question: Question) => Promise<ReadStatus>;
  readonly close: () => Promise<void>;

  private constructor(
    read: (question: Question) => Promise<ReadStatus>,
    close: () => Promise<void> = () => Promise.resolve(),
  ) {
    this.read = read;
    this.close = close;
  }

  /** Resolves to what is wrong if there is no way. */
  static async open(command: string, given: RawFlags): Promise<ControllerReader | string> {
    const address = lastOf(given, 'address');
    return address === undefined ? this.#ofCluster(command, given) : this.#at(address);
  }

  static #at(given: string): ControllerReader | string {
    const way = wayTo(given);
    if (typeof way === 'string') return way;
    return new ControllerReader(async (question) => {
      const read = await readStatus(way.open, question);
      if (read.kind === 'read') return read;
      return { kind: 'failed', problem: `cannot read ${way.place}: ${read.problem}` };
    });
  }

  static async #ofCluster(command: string, given: RawFlags): Promise<ControllerReader | string> {
    const cluster = await openCluster(command, given);
    if (typeof cluster === 'string') return cluster;
    const { transport, namespace, lease } = cluster;
    const reader = new LeaderReader(transport, clock, new AbortController().signal);
    return new ControllerReader(
      (question) => reader.read({ namespace, lease }, question),
      () => transport.close(),
    );
  }
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
  const flags = new Map(
    placeOptions.flatMap((name) => (given.has(name) ? [[name, given.get(name) ?? []]] : [])),
  );
  const loaded = loadOptions(flags, thisProcess, { checks: { problems: () => [], warnings: () => [] } });
  if (loaded.kind === 'refused') return loaded.problems.join('; ');
  const { options, sources, outbound } = loaded;
  const log = {
    warn: (message: string) => void process.stderr.write(`headwater ${command}: ${message}\n`),
  };
  try {
    const access = await findCluster(options, { ...outbound, log });
    const isLeaseGiven = sources['leader-election-lease-name'].kind !== 'default';
    return {
      transport: new UndiciTransport({ access, clock }),
      namespace: options.k8sNamespace,
      lease: isLeaseGiven ? options.leaderElectionLeaseName : undefined,
    };
  } catch (error) {
    if (error instanceof NotStartable) return error.message;
    throw error;
  }
}

export function isJson(given: RawFlags): boolean {
  return lastOf(given, 'output') === 'json';
}
