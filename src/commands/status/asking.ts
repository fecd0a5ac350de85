// The base of the commands that ask a controller: their options, how they find it, and how they print its answer.
import { loadOptions } from '../../config/load-options.ts';
import { thisProcess } from '../../config/process-environment.ts';
import type { RawFlags } from '../../config/raw-option.ts';
import { integer, oneOf } from '../../config/value-kinds.ts';
import { NotStartable } from '../../controller/clouds/cloud.ts';
import { UndiciTransport } from '../../kubernetes/transport/undici-transport.ts';
import { formatListenAddress, parseListenAddress } from '../../observability/listen-address.ts';
import { systemClock as clock } from '../../runtime/system-clock.ts';
import { findCluster } from '../cluster-access.ts';
import { exitCode } from '../exit-code.ts';
import { placeOptions } from '../status-description.ts';
import { LeaderReader } from './leader.ts';
import { type Question, readStatus, type ReadStatus, type Served } from './served-report.ts';
import { printLines } from './print-lines.ts';
import { codeOf, type Told, watch } from './watch.ts';

/** A command that asks, prints the answer, and resolves to its exit code. */
export async function ask(
  command: string,
  given: RawFlags,
  { question, tell }: { readonly question: Question; readonly tell: (served: Served) => Told },
): Promise<number> {
  const fail = (problem: string): number => {
    process.stderr.write(`headwater ${command}: ${problem}\n`);
    return exitCode.unanswered;
  };
  const wrong = wrongFlag(given);
  if (wrong !== undefined) return fail(wrong);
  const reader = await ControllerReader.open(command, given);
  if (typeof reader === 'string') return fail(reader);
  const answered = async (): Promise<Told | string> => {
    const read = await reader.read(question);
    return read.kind === 'failed' ? read.problem : tell(read.served);
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
  const accepted = { output: oneOf(['text', 'json']), watch: integer({ min: 1, max: 3600 }) };
  for (const name of ['output', 'watch'] as const) {
    const text = lastOf(given, name);
    const kind = accepted[name];
    if (text !== undefined && kind.parse(text) === undefined)
      return `--${name} is ${JSON.stringify(text)}; accepted: ${kind.accepts}`;
  }
  return undefined;
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
    const address = parseListenAddress(given.replace(/^http:\/\//, '').replace(/\/.*$/, ''));
    if (address === undefined) return '--address is no host:port or http://host:port, such as 127.0.0.1:9966';
    const { host = 'localhost', port } = address;
    return new ControllerReader(async (question) => {
      const read = await readStatus(() => Promise.resolve({ host, port }), question);
      if (read.kind === 'read') return read;
      return {
        kind: 'failed',
        problem: `cannot read ${formatListenAddress({ host, port })}: ${read.problem}`,
      };
    });
  }

  static async #ofCluster(command: string, given: RawFlags): Promise<ControllerReader | string> {
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
      const transport = new UndiciTransport({ access, clock });
      const isLeaseGiven = sources['leader-election-lease-name'].kind !== 'default';
      const lease = isLeaseGiven ? options.leaderElectionLeaseName : undefined;
      const reader = new LeaderReader(transport, clock, new AbortController().signal);
      const place = { namespace: options.k8sNamespace, lease };
      return new ControllerReader(
        (question) => reader.read(place, question),
        () => transport.close(),
      );
    } catch (error) {
      if (error instanceof NotStartable) return error.message;
      throw error;
    }
  }
}

export function lastOf(given: RawFlags, name: string): string | undefined {
  return given.get(name)?.at(-1);
}

export function isJson(given: RawFlags): boolean {
  return lastOf(given, 'output') === 'json';
}
