// The command check: reads what a controller with these options would read, and prints what is wrong. It changes nothing.
import { blockChecks } from '../blocks/settings/block-pools.ts';
import { type LoadedOptions, loadOptions } from '../config/load-options.ts';
import { thisProcess } from '../config/process-environment.ts';
import type { RawFlags } from '../config/raw-option.ts';
import { boolean, oneOf } from '../config/value-kinds.ts';
import { NotStartable } from '../controller/clouds/cloud.ts';
import { UndiciTransport } from '../kubernetes/transport/undici-transport.ts';
import { systemClock as clock } from '../runtime/system-clock.ts';
import { type Finding, findingLines, worstOf } from './check/finding.ts';
import { examine, type ReachedCluster } from './check/examination.ts';
import { type Fact, known, unknown } from './check/fact.ts';
import { settingsFindings } from './check/settings-findings.ts';
import { thisMachine } from './check/this-machine.ts';
import { type OpenedCloud, openCloud } from './cloud-access.ts';
import { findCluster } from './cluster-access.ts';
import { exitCode } from './exit-code.ts';
import { lastOf } from './status/asking.ts';
import { printLines } from './status/print-lines.ts';

export async function check(given: RawFlags): Promise<number> {
  const formats = oneOf(['text', 'json']);
  const text = lastOf(given, 'output') ?? 'text';
  const format = formats.parse(text);
  if (format === undefined) {
    warn(`--output is ${JSON.stringify(text)}; accepted: ${formats.accepts}`);
    return exitCode.usage;
  }
  const skip = lastOf(given, 'skip-access-review') ?? 'false';
  const skipsAccess = boolean.parse(skip);
  if (skipsAccess === undefined) {
    warn(`--skip-access-review is ${JSON.stringify(skip)}; accepted: ${boolean.accepts}`);
    return exitCode.usage;
  }
  const flags = new Map([...given].filter(([name]) => !['output', 'skip-access-review'].includes(name)));
  const loaded = loadOptions(flags, thisProcess, { checks: blockChecks });
  const findings = [...settingsFindings(loaded), ...(await findingsWith(loaded, !skipsAccess))];
  if (format === 'text') printLines((width) => findingLines(findings, width));
  else process.stdout.write(`${JSON.stringify({ verdict: worstOf(findings), findings })}\n`);
  return codes[worstOf(findings)];
}

const codes = {
  ok: exitCode.fine,
  warning: exitCode.fine,
  problem: exitCode.failure,
  unknown: exitCode.unanswered,
} as const;

/** Options that are refused name neither a cluster nor a cloud for sure. */
async function findingsWith(loaded: LoadedOptions, asksAsController: boolean): Promise<readonly Finding[]> {
  if (loaded.kind === 'refused') return [];
  const { options, outbound } = loaded;
  const { signal } = new AbortController();
  const cluster = await reachCluster(loaded, asksAsController);
  try {
    const opened = (): Promise<OpenedCloud> => openCloud({ options, outbound, warn }, signal);
    return await examine({ options, cluster, clock, machine: thisMachine, openCloud: opened }, signal);
  } finally {
    if (cluster.kind === 'known') await cluster.value.transport.close();
  }
}

async function reachCluster(
  { options, outbound }: Extract<LoadedOptions, { kind: 'options' }>,
  asksAsController: boolean,
): Promise<Fact<ReachedCluster & { readonly transport: UndiciTransport }>> {
  try {
    const access = await findCluster(options, { ...outbound, log: { warn } });
    return known({
      server: access.server.origin,
      transport: new UndiciTransport({ access, clock }),
      asksAsController,
    });
  } catch (error) {
    if (error instanceof NotStartable) return unknown(error.message);
    throw error;
  }
}

function warn(message: string): void {
  process.stderr.write(`headwater check: ${message}\n`);
}
