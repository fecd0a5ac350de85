// The command check: reads what a controller with these options would read, and prints what is wrong. It changes nothing.
import { blockChecks } from '../blocks/settings/block-pools.ts';
import { type LoadedOptions, loadOptions } from '../config/load-options.ts';
import { thisProcess } from '../config/process-environment.ts';
import type { RawFlags } from '../config/raw-option.ts';
import { boolean } from '../config/value-kinds.ts';
import { systemClock as clock } from '../runtime/system-clock.ts';
import { type Finding, findingLines, worstOf } from './check/finding.ts';
import { examine } from './check/examination.ts';
import { known, unknown } from './check/fact.ts';
import { settingsFindings } from './check/settings-findings.ts';
import { thisMachine } from './check/this-machine.ts';
import { type OpenedCloud, openCloud } from './cloud-access.ts';
import { reachCluster } from './cluster-access.ts';
import { outputKind } from './command-description.ts';
import { exitCode } from './exit-code.ts';
import { readFlags } from './flag-values.ts';
import { printLines } from './status/print-lines.ts';

const kinds = { output: outputKind, 'skip-access-review': boolean };

export async function check(given: RawFlags): Promise<number> {
  const own = readFlags(given, kinds);
  if (typeof own === 'string') {
    warn(own);
    return exitCode.usage;
  }
  const { output = 'text', 'skip-access-review': skipsAccess = false } = own;
  const flags = new Map([...given].filter(([name]) => !Object.hasOwn(kinds, name)));
  const loaded = loadOptions(flags, thisProcess, { checks: blockChecks });
  const findings = [...settingsFindings(loaded), ...(await findingsWith(loaded, !skipsAccess))];
  if (output === 'text') printLines((width) => findingLines(findings, width));
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
  const reached = await reachCluster(loaded, warn);
  const cluster = typeof reached === 'string' ? unknown(reached) : known({ ...reached, asksAsController });
  try {
    const opened = (): Promise<OpenedCloud> => openCloud({ options, outbound, warn }, signal);
    return await examine({ options, cluster, clock, machine: thisMachine, openCloud: opened }, signal);
  } finally {
    if (typeof reached !== 'string') await reached.transport.close();
  }
}

function warn(message: string): void {
  process.stderr.write(`headwater check: ${message}\n`);
}
