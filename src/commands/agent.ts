// The command agent: gives the addresses of one node to its pods, until it receives a signal.
import { randomUUID } from 'node:crypto';
import { runAgent } from '../agent/agent.ts';
import { type AgentReport, startingReport } from '../agent/agent-report.ts';
import { readDnsFile } from '../agent/cni/dns-file.ts';
import { livingSandboxes } from '../agent/evidence/sandboxes.ts';
import { agentChecks, agentSettings } from '../agent/agent-settings.ts';
import type { Options } from '../config/option-table.ts';
import type { Outbound } from '../config/outbound.ts';
import { haveHome, thisProcess } from '../config/process-environment.ts';
import type { RawFlags } from '../config/raw-option.ts';
import type { UndiciTransport } from '../kubernetes/transport/undici-transport.ts';
import { NotStartable } from '../controller/clouds/cloud.ts';
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
import { exitCode } from './exit-code.ts';
import { runServing, type Started, version } from './serving-command.ts';

export function agent(given: RawFlags): Promise<number> {
  return runServing(given, { command: 'agent', checks: agentChecks }, serve);
}

async function serve({ options, outbound, log }: Started, stop: AbortSignal): Promise<number> {
  const settings = agentSettings(options);
  const registry = createAgentMetricRegistry({ measureProcess: true });
  const ended = new AbortController();
  let current = (): AgentReport => startingReport(settings);
  const report = (): AgentReport => ({ version, ...current() });
  const servers = serveOverTcp(options, { registry, log, report }, ended.signal);
  let kubernetes: UndiciTransport | undefined;
  try {
    kubernetes = settings.mode === 'host-scope' ? undefined : await connect(options, outbound, log);
    const end = await runAgent(
      {
        settings,
        clock,
        random: new Random(randomUUID()),
        log,
        registry,
        kubernetes,
        machine: {
          readFile: (path) => thisProcess.readFile(path),
          readDnsFile: (path) => readDnsFile(path, settings.dnsDirectories),
          sandboxes: livingSandboxes,
        },
        onServing: (serving) => (current = serving),
      },
      stop,
    );
    if (end.kind === 'failed') throw new NotStartable(end.problem);
    return end.kind === 'stopped' ? exitCode.fine : exitCode.failure;
  } finally {
    ended.abort();
    await kubernetes?.close();
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

/** Loaded only here: without Kubernetes, the agent needs no client of it. */
async function connect(options: Options, outbound: Outbound, log: Logger): Promise<UndiciTransport> {
  haveHome();
  const { findCluster } = await import('./cluster-access.ts');
  const { UndiciTransport: Transport } = await import('../kubernetes/transport/undici-transport.ts');
  const access = await findCluster(options, { ...outbound, log });
  return new Transport({ access, clock });
}
