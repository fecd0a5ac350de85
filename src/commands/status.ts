// The command status: shows the status of a controller once.
import { NotStartable } from '../controller/clouds/cloud.ts';
import { loadOptions } from '../config/load-options.ts';
import { UndiciTransport } from '../kubernetes/transport/undici-transport.ts';
import { systemClock as clock } from '../runtime/system-clock.ts';
import { findCluster } from './cluster-access.ts';
import { placeOptions } from './status-description.ts';
import { LeaderReader } from './status/leader.ts';
import { oneOf } from '../config/value-kinds.ts';
import type { RawFlags } from '../config/raw-option.ts';
import { thisProcess } from '../config/process-environment.ts';
import { formatListenAddress, parseListenAddress } from '../observability/listen-address.ts';
import { exitCode } from './exit-code.ts';
import { readStatus, type ReadStatus } from './status/served-report.ts';
import { problemsOf, statusLines } from './status/status-lines.ts';
import { printLines } from './status/print-lines.ts';

export async function status(given: RawFlags): Promise<number> {
  const formats = oneOf(['text', 'json']);
  const format = formats.parse(lastOf(given, 'output') ?? 'text');
  if (format === undefined)
    return fail(`--output is ${JSON.stringify(lastOf(given, 'output'))}; accepted: ${formats.accepts}`);
  const address = lastOf(given, 'address');
  const read = await (address === undefined ? readFromCluster(given) : readAt(address));
  if (read.kind === 'failed') return fail(read.problem);
  const { served } = read;
  if (format === 'json') process.stdout.write(served.json);
  else printLines((width) => statusLines(served, width));
  const { state, leader } = served.report;
  if (state === 'standby' && leader !== undefined)
    return fail(`only the leader knows the nodes: ask ${leader}`);
  return problemsOf(served).length === 0 ? exitCode.fine : exitCode.failure;
}

async function readAt(given: string): Promise<ReadStatus> {
  const address = parseListenAddress(given.replace(/^http:\/\//, '').replace(/\/.*$/, ''));
  if (address === undefined)
    return failed('--address is no host:port or http://host:port, such as 127.0.0.1:9966');
  const { host = 'localhost', port } = address;
  const read = await readStatus(() => Promise.resolve({ host, port }));
  if (read.kind === 'read') return read;
  return failed(`cannot read ${formatListenAddress({ host, port })}: ${read.problem}`);
}

async function readFromCluster(given: RawFlags): Promise<ReadStatus> {
  const flags = new Map(
    placeOptions.flatMap((name) => (given.has(name) ? [[name, given.get(name) ?? []]] : [])),
  );
  const loaded = loadOptions(flags, thisProcess, { checks: { problems: () => [], warnings: () => [] } });
  if (loaded.kind === 'refused') return failed(loaded.problems.join('; '));
  const { options, sources, outbound } = loaded;
  const log = { warn: (message: string) => void process.stderr.write(`headwater status: ${message}\n`) };
  try {
    const access = await findCluster(options, { ...outbound, log });
    const transport = new UndiciTransport({ access, clock });
    const isLeaseGiven = sources['leader-election-lease-name'].kind !== 'default';
    const lease = isLeaseGiven ? options.leaderElectionLeaseName : undefined;
    const reader = new LeaderReader(transport, clock, new AbortController().signal);
    const read = await reader.read({ namespace: options.k8sNamespace, lease });
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

function lastOf(given: RawFlags, name: string): string | undefined {
  return given.get(name)?.at(-1);
}

function fail(problem: string): number {
  process.stderr.write(`headwater status: ${problem}\n`);
  return exitCode.unanswered;
}
