// What the command check finds in a cluster of one process and in virtual time.
import { blockChecks } from '../../src/blocks/settings/block-pools.ts';
import { examine } from '../../src/commands/check/examination.ts';
import { known } from '../../src/commands/check/fact.ts';
import type { Finding } from '../../src/commands/check/finding.ts';
import { settingsFindings } from '../../src/commands/check/settings-findings.ts';
import type { Machine } from '../../src/commands/check/this-machine.ts';
import { askingCloud } from '../../src/commands/cloud-access.ts';
import { loadOptions } from '../../src/config/load-options.ts';
import type { ClusterWorld } from './cluster-world.ts';
import { emptyEnvironment, type GivenFlags, rawFlags } from './given-options.ts';
import { InProcessTransport } from './in-process-transport.ts';
import { recordingLogger } from './recording-logger.ts';

export interface Checked {
  readonly findings: readonly Finding[];
  /** Calls to the cloud, by name. */
  readonly calls: readonly string[];
  /** Rows that are not fine, as `verdict what: found`. */
  readonly wrong: readonly string[];
}

/** A machine outside the cluster. */
const elsewhere: Machine = {
  addresses: () => new Set(['192.0.2.200']),
  tryPort: () => Promise.reject(new Error('only a node says something of its ports')),
};

/** Reads the cluster as the command does. `machine`: where it runs. */
export async function checkedWorld(
  world: ClusterWorld,
  flags: GivenFlags = {},
  machine: Machine = elsewhere,
): Promise<Checked> {
  const calls: string[] = [];
  const all = { 'cluster-name': 'mine', ...world.flags, ...flags };
  const loaded = loadOptions(rawFlags(all), emptyEnvironment, { checks: blockChecks });
  const findings = [...settingsFindings(loaded)];
  if (loaded.kind === 'options') {
    const { options } = loaded;
    const { clock } = world;
    const transport = new InProcessTransport(world.cluster.kubernetes.handle, clock);
    const compose = world.connect({
      pass: (_action, _isChange, send) => send(),
      onCall: (action) => void calls.push(action),
      tamper: (_, output) => output,
    });
    const opened = {
      ...askingCloud(compose, { options, clock, log: recordingLogger() }),
      close: () => undefined,
    };
    const examining = examine(
      {
        options,
        clock,
        machine,
        cluster: known({ server: 'https://kubernetes.example', transport, asksAsController: true }),
        openCloud: () => Promise.resolve(opened),
      },
      new AbortController().signal,
    );
    let isDone = false;
    const end = (): void => void (isDone = true);
    examining.then(end, end);
    await world.until('the check ends', () => isDone, 600_000);
    findings.push(...(await examining));
  }
  const wrong = findings.flatMap(({ verdict, what, found }) =>
    verdict === 'ok' ? [] : [`${verdict} ${what}: ${found}`],
  );
  return { findings, calls, wrong };
}
