// What the commands that ask a controller have in common: their options, how they find it, and how they print its answer.
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
import { placeOptions } from '../status-description.ts';
import { LeaderReader } from './leader.ts';
import { type Question, readStatus, type ReadStatus, type Served } from './served-report.ts';
import { printLines } from './print-lines.ts';

/** What a command makes of the answer. */
export interface Told {
  readonly json: string;
  readonly lines: Parameters<typeof printLines>[0];
  /** Whether something is wrong. */
  readonly isProblem: boolean;
  /** Why the answer is none, although there is one; undefined if it is one. */
  readonly unanswered?: string | undefined;
}

/** A command that asks once, prints the answer, and resolves to its exit code. */
export async function askOnce(
  command: string,
  given: RawFlags,
  { question, tell }: { readonly question: Question; readonly tell: (served: Served) => Told },
): Promise<number> {
  const formats = oneOf(['text', 'json']);
  const format = formats.parse(lastOf(given, 'output') ?? 'text');
  const fail = (problem: string): number => {
    process.stderr.write(`headwater ${command}: ${problem}\n`);
    return exitCode.unanswered;
  };
  if (format === undefined)
    return fail(`--output is ${JSON.stringify(lastOf(given, 'output'))}; accepted: ${formats.accepts}`);
  const read = await readController(command, given, question);
  if (read.kind === 'failed') return fail(read.problem);
  const { json, lines, isProblem, unanswered } = tell(read.served);
  if (format === 'json') process.stdout.write(json);
  else printLines(lines);
  if (unanswered !== undefined) return fail(unanswered);
  return isProblem ? exitCode.failure : exitCode.fine;
}

/** The controller at --address, else the leader of the cluster. */
export function readController(
  command: string,
  given: RawFlags,
  question: Question = {},
): Promise<ReadStatus> {
  const address = lastOf(given, 'address');
  return address === undefined ? readLeader(command, given, question) : readAt(address, question);
}

async function readAt(given: string, question: Question): Promise<ReadStatus> {
  const address = parseListenAddress(given.replace(/^http:\/\//, '').replace(/\/.*$/, ''));
  if (address === undefined)
    return failed('--address is no host:port or http://host:port, such as 127.0.0.1:9966');
  const { host = 'localhost', port } = address;
  const read = await readStatus(() => Promise.resolve({ host, port }), question);
  if (read.kind === 'read') return read;
  return failed(`cannot read ${formatListenAddress({ host, port })}: ${read.problem}`);
}

async function readLeader(command: string, given: RawFlags, question: Question): Promise<ReadStatus> {
  const flags = new Map(
    placeOptions.flatMap((name) => (given.has(name) ? [[name, given.get(name) ?? []]] : [])),
  );
  const loaded = loadOptions(flags, thisProcess, { checks: { problems: () => [], warnings: () => [] } });
  if (loaded.kind === 'refused') return failed(loaded.problems.join('; '));
  const { options, sources, outbound } = loaded;
  const log = { warn: (message: string) => void process.stderr.write(`headwater ${command}: ${message}\n`) };
  try {
    const access = await findCluster(options, { ...outbound, log });
    const transport = new UndiciTransport({ access, clock });
    const isLeaseGiven = sources['leader-election-lease-name'].kind !== 'default';
    const lease = isLeaseGiven ? options.leaderElectionLeaseName : undefined;
    const reader = new LeaderReader(transport, clock, new AbortController().signal);
    const read = await reader.read({ namespace: options.k8sNamespace, lease }, question);
    await transport.close();
    return read;
  } catch (error) {
    if (error instanceof NotStartable) return failed(error.message);
    throw error;
  }
}

function failed(problem: string): ReadStatus {
  return { kind: 'failed', problem };
}

export function lastOf(given: RawFlags, name: string): string | undefined {
  return given.get(name)?.at(-1);
}
