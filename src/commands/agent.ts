// The command agent: gives the addresses of one node to its pods, until it receives a signal.
import packageJson from '../../package.json' with { type: 'json' };
import { randomUUID } from 'node:crypto';
import { type AgentEnd, runAgent } from '../agent/agent.ts';
import { type AgentReport, startingReport } from '../agent/agent-report.ts';
import { readDnsFile } from '../agent/cni/dns-file.ts';
import { livingSandboxes } from '../agent/evidence/sandboxes.ts';
import { agentChecks, agentSettings } from '../agent/agent-settings.ts';
import type { Options } from '../config/option-table.ts';
import type { Outbound } from '../config/outbound.ts';
import { haveHome, thisProcess } from '../config/process-environment.ts';
import type { RawFlags } from '../config/raw-option.ts';
import type { KubernetesTransport } from '../kubernetes/transport/transport.ts';
import type { ProbeResult } from '../observability/http-server.ts';
import type { Logger } from '../observability/logger.ts';
import {
  type AgentMetrics,
  createAgentMetricRegistry,
  type MetricRegistry,
} from '../observability/metrics.ts';
import { serveWhenFree } from '../observability/server-when-free.ts';
import { Random } from '../runtime/random.ts';
import { systemClock as clock } from '../runtime/system-clock.ts';
import { reportFailure } from './command-failure.ts';
import { exitCode } from './exit-code.ts';
import { loadOrRefuse, type Start } from './load-or-refuse.ts';
import { problemLine, type Readers } from './problem-line.ts';

const { version } = packageJson;

export async function agent(given: RawFlags): Promise<number> {
  const command = 'agent';
  const err = (text: string): boolean => process.stderr.write(text);
  const readers: Readers = process.stderr.isTTY ? 'people' : 'programs';
  const context = { command, version, processEnvironment: thisProcess, clock, err, readers } as const;
  const start = loadOrRefuse(given, { ...context, checks: agentChecks });
  if (start.kind === 'refused') return start.exitCode;
  const { options, outbound, log } = start;
  const stop = new AbortController();
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) {
    process.on(signal, () => {
      if (!stop.signal.aborted) log.info('shutting down', { signal });
      stop.abort();
    });
  }
  try {
    const end = await serve({ options, outbound, log }, stop.signal);
    if (end.kind === 'stopped') return exitCode.fine;
    if (end.kind === 'failed') err(problemLine(command, end.problem, readers, clock));
    return exitCode.failure;
  } catch (error) {
    return reportFailure(error, { ...context, log });
  }
}

type Started = Omit<Extract<Start, { kind: 'go' }>, 'kind'>;

async function serve({ options, outbound, log }: Started, stop: AbortSignal): Promise<AgentEnd> {
  const settings = agentSettings(options);
  const registry = createAgentMetricRegistry({ measureProcess: true });
  const ended = new AbortController();
  let current = (): AgentReport => startingReport(settings);
  const report = (): AgentReport => ({ version, ...current() });
  const servers = serveOverTcp(options, { registry, log, report }, ended.signal);
  let cluster: Cluster | undefined;
  try {
    cluster = settings.mode === 'host-scope' ? undefined : await connect(options, outbound, log);
    return await runAgent(
      {
        settings,
        clock,
        random: new Random(randomUUID()),
        log,
        registry,
        kubernetes: cluster?.transport,
        machine: {
          readFile: (path) => thisProcess.readFile(path),
          readDnsFile: (path) => readDnsFile(path, settings.dnsDirectories),
          sandboxes: livingSandboxes,
        },
        onServing: (serving) => (current = serving),
      },
      stop,
    );
  } finally {
    ended.abort();
    await cluster?.close();
    await servers;
  }
}

interface Served {
  readonly registry: MetricRegistry<AgentMetrics>;
  readonly log: Logger;
  readonly report: () => AgentReport;
}

/** Serves the API over TCP if the options ask for it: no address depends on it. */
async function serveOverTcp(
  { prometheusServeAddr, agentHealthPort }: Options,
  { registry: metrics, log, report: status }: Served,
  stop: AbortSignal,
): Promise<void> {
  const common = { clock, log, metrics };
  const ready = (): ProbeResult => {
    const { waitingFor } = status();
    return waitingFor === undefined ? { ok: true } : { ok: false, problem: `waiting for ${waitingFor}` };
  };
  const health = (): ProbeResult => ({ ok: true });
  await Promise.all([
    prometheusServeAddr !== undefined &&
      serveWhenFree(
        { ...common, listenOn: prometheusServeAddr, option: 'prometheus-serve-addr', state: undefined },
        (address) => log.info('serving metrics', { ...address }),
        stop,
      ),
    agentHealthPort !== undefined &&
      serveWhenFree(
        {
          ...common,
          listenOn: { host: '127.0.0.1', port: agentHealthPort },
          option: 'agent-health-port',
          state: { health, ready, status },
        },
        (address) => log.info('serving health', { ...address }),
        stop,
      ),
  ]);
}

interface Cluster {
  readonly transport: KubernetesTransport;
  readonly close: () => Promise<void>;
}

/** Loaded only here: without Kubernetes, the agent needs no client of it. */
async function connect(options: Options, outbound: Outbound, log: Logger): Promise<Cluster> {
  haveHome();
  const { findCluster } = await import('./cluster-access.ts');
  const { UndiciTransport } = await import('../kubernetes/transport/undici-transport.ts');
  const access = await findCluster(options, { ...outbound, log });
  const transport = new UndiciTransport({ access, clock });
  return { transport, close: () => transport.close() };
}
