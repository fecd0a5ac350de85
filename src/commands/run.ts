// The commands run and nodeipam: a controller against a real API server, until it receives a signal.
import { blockChecks } from '../blocks/settings/block-pools.ts';
import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import type { RawFlags } from '../config/raw-option.ts';
import type { OptionCommand } from '../config/option-scope.ts';
import type { Options } from '../config/option-table.ts';
import { thisProcess } from '../config/process-environment.ts';
import { type LiveReading, readLiveOptions, textsAtStart } from '../config/live-options.ts';
import { NotStartable } from '../controller/clouds/cloud.ts';
import { type AuditLines, ChangeAudit } from '../controller/reporting/change-audit.ts';
import { Controller } from '../controller/controller.ts';
import { reachableAt } from '../controller/leader-address.ts';
import { openMode } from '../controller/open-mode.ts';
import { MeteredTransport } from '../controller/reporting/metered-transport.ts';
import { PacedTransport } from '../kubernetes/transport/paced-transport.ts';
import type { KubernetesTransport } from '../kubernetes/transport/transport.ts';
import { UndiciTransport } from '../kubernetes/transport/undici-transport.ts';
import { proxyInWords } from '../network/proxies.ts';
import { LineFile } from '../observability/line-file.ts';
import { startHttpServer, type ProbeResult } from '../observability/http-server.ts';
import type { StatusPage } from '../observability/status-page.ts';
import { createMetricRegistry } from '../observability/metrics.ts';
import { Random } from '../runtime/random.ts';
import { systemClock as clock } from '../runtime/system-clock.ts';
import { findCluster } from './cluster-access.ts';
import { exitCode } from './exit-code.ts';
import { prepareOutbound } from './outbound-requests.ts';
import { runServing, type Started, version } from './serving-command.ts';

export function run(given: RawFlags): Promise<number> {
  return runController('run', given);
}

export function nodeIpam(given: RawFlags): Promise<number> {
  return runController('nodeipam', given);
}

function runController(command: OptionCommand, given: RawFlags): Promise<number> {
  return runServing(given, { command, checks: blockChecks }, (started, stop) => {
    // Only files in a directory can change while the process runs.
    const atStart =
      started.options.configDir === undefined ? undefined : textsAtStart(command, given, thisProcess);
    const readLive = atStart && (() => readLiveOptions(given, thisProcess, atStart));
    return serve({ command, ...started }, readLive, stop);
  });
}

async function serve(
  { command, options, outbound, log }: Started & { readonly command: OptionCommand },
  readLive: (() => LiveReading) | undefined,
  stop: AbortSignal,
): Promise<number> {
  const random = new Random(randomUUID());
  const onBug = (error: unknown): void => log.error('a bug: please report it', { error });
  const { clusterName: cluster } = options;
  const lines = auditLines(options.audit);
  prepareOutbound(outbound, log);
  const access = await findCluster(options, { ...outbound, log });
  const proxy = access.proxy === undefined ? 'none' : proxyInWords(access.proxy);
  log.info('connecting to Kubernetes', { server: access.server.origin, proxy });
  const transport = new UndiciTransport({ access, clock });
  const leaseTransport = new UndiciTransport({ access, clock, connections: 8 });
  const connection = { options, outbound, log, clock, ...thisProcess };
  const mode = await openMode(command, connection, stop);
  const registry = createMetricRegistry({ measureProcess: true, serves: mode.serves });
  const identity = `${hostname()}-${random.hex(10)}`;
  const audit = lines && new ChangeAudit(lines, { cluster, leader: identity }, { clock, log, ...registry });
  const controller = new Controller({
    host: { options, clock, random, log, registry, onBug, audit },
    kubernetes: new MeteredTransport(pacedBy(options, transport), registry.metrics),
    leaseTransport: new MeteredTransport(leaseTransport, registry.metrics),
    composeMode: mode.compose,
    identity,
    version,
    readLiveOptions: readLive,
  });
  const probeResult = (problem: string | undefined, note?: string): ProbeResult =>
    problem === undefined ? { ok: true, note } : { ok: false, problem };
  const started = await startHttpServer({
    listenOn: options.serveAddr,
    option: 'serve-addr',
    clock,
    log,
    state: {
      health: () => probeResult(controller.problem()),
      ready: () => probeResult(controller.unreadiness(), controller.standbyNote),
      status: (withNodes) => controller.status(withNodes),
      node: (name) => controller.node(name),
      page: options.ui ? await statusPage() : undefined,
    },
    metrics: registry,
  });
  if (started.kind === 'refused') {
    throw new NotStartable(started.problem);
  }
  controller.leaderAddress.announce(reachableAt(started.server.address));
  log.info('serving health, metrics and status', { ...started.server.address, cluster: access.source });
  try {
    const outcome = await controller.run(stop);
    log.info('ended', { outcome });
    return outcome === 'stopped' ? exitCode.fine : exitCode.failure;
  } finally {
    await Promise.all([started.server.close(), transport.close(), leaseTransport.close()]);
    mode.close();
  }
}

async function statusPage(): Promise<StatusPage | undefined> {
  const { readStatusPage } = await import('../observability/status-page.ts');
  return readStatusPage();
}

/** Not for the Lease: other load must not cost the leadership. */
function pacedBy(options: Options, transport: KubernetesTransport): KubernetesTransport {
  const { operatorK8sClientQps: perSecond, operatorK8sClientBurst: burst = 2 * perSecond } = options;
  return perSecond === 0 ? transport : new PacedTransport(transport, clock, { perSecond, burst });
}

/** Where the option audit leads. Undefined if there is no audit. Throws NotStartable if it cannot be written. */
function auditLines(path: string | undefined): AuditLines | undefined {
  if (path === undefined) return undefined;
  if (path === '-') return { append: (line) => void process.stdout.write(`${line}\n`) };
  try {
    return new LineFile(path);
  } catch (cause) {
    const { code = String(cause) } = cause as NodeJS.ErrnoException;
    const why = refusals[code] ?? `opening it failed (${code})`;
    const remedy = 'name a file in a directory that this process may write, or - for standard output';
    throw new NotStartable(`--audit=${path} cannot be written, because ${why}: ${remedy}`, {
      kind: 'usage',
      cause,
    });
  }
}

const refusals: Readonly<Record<string, string>> = {
  EACCES: 'this process may not write it',
  EISDIR: 'it is a directory',
  ENOENT: 'its directory does not exist',
  ENOSPC: 'its disk is full',
  ENOTDIR: 'a part of its path is a file',
  ENXIO: 'it is a pipe without a reader',
  EPERM: 'this process may not write it',
  EROFS: 'its file system is read-only',
};
