// The command agent: gives the addresses of one node to its pods, until it receives a signal.
import packageJson from '../../package.json' with { type: 'json' };
import { randomUUID } from 'node:crypto';
import { runAgent } from '../agent/agent.ts';
import { agentSettings } from '../config/agent-settings.ts';
import { thisProcess } from '../config/process-environment.ts';
import type { RawFlags } from '../config/raw-option.ts';
import { createAgentMetricRegistry } from '../observability/metrics.ts';
import { Random } from '../runtime/random.ts';
import { systemClock as clock } from '../runtime/system-clock.ts';
import { exitCode } from './exit-code.ts';
import { loadOrRefuse } from './load-or-refuse.ts';
import { problemLine, type Readers } from './problem-line.ts';

const { version } = packageJson;

export async function agent(given: RawFlags): Promise<number> {
  const command = 'agent';
  const err = (text: string): boolean => process.stderr.write(text);
  const readers: Readers = process.stderr.isTTY ? 'people' : 'programs';
  const start = loadOrRefuse(given, {
    command,
    version,
    processEnvironment: thisProcess,
    clock,
    err,
    readers,
  });
  if (start.kind === 'refused') return start.exitCode;
  const { options, log } = start;
  const stop = new AbortController();
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) {
    process.on(signal, () => {
      if (!stop.signal.aborted) log.info('shutting down', { signal });
      stop.abort();
    });
  }
  const deps = {
    settings: agentSettings(options),
    clock,
    random: new Random(randomUUID()),
    log,
    registry: createAgentMetricRegistry({ measureProcess: true }),
    readFile: (path: string) => thisProcess.readFile(path),
  };
  try {
    const end = await runAgent(deps, stop.signal);
    if (end.kind === 'stopped') return exitCode.fine;
    err(problemLine(command, end.problem, { readers, clock }));
  } catch (error) {
    log.error('exiting after an unexpected error', { error });
  }
  return exitCode.failure;
}
