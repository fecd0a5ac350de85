// Runs the seeds that its parent process sends, one after another, and reports each.
import type { ActionDigest } from './action-digest.ts';
import type { Violation } from './invariants/violation.ts';
import { runScenario } from './run-scenario.ts';
import { firstWireDifference, isComparedOverWire } from './wire-comparison.ts';
import { loadScenario } from './load-scenario.ts';

export interface SeedReport {
  readonly seed: string;
  readonly violations: readonly Violation[];
  readonly digest: string;
  readonly actions: ActionDigest;
  readonly events: number;
  readonly mutations: number;
  readonly faults: number;
  readonly nodes: number;
  readonly lasted: number;
  /** Whether it also ran over the wire. */
  readonly isComparedOverWire: boolean;
  /** Processor time in ms. */
  readonly cpu: number;
  readonly coverage: readonly (readonly [cell: string, hits: number])[];
}

export interface SeedRequest {
  readonly seed: string;
  /** Share of seeds that also run over the wire. */
  readonly wireShare: number;
}

process.on('message', (request) => {
  void report(request as SeedRequest).then((message) => process.send?.(message));
});

async function report({ seed, wireShare }: SeedRequest): Promise<SeedReport> {
  const before = process.cpuUsage();
  const {
    lines: _,
    decided: __,
    actionLog: ___,
    coverage,
    ...outcome
  } = await runScenario(loadScenario(seed));
  const { user, system } = process.cpuUsage(before);
  const both = isComparedOverWire(seed, wireShare);
  const difference = both ? await firstWireDifference(seed) : undefined;
  const { lasted: at } = outcome;
  const differing: readonly Violation[] =
    difference === undefined ? [] : [{ invariant: 'wire-differs', at, text: difference }];
  return {
    ...outcome,
    seed,
    violations: [...outcome.violations, ...differing],
    isComparedOverWire: both,
    cpu: (user + system) / 1000,
    coverage: [...coverage],
  };
}
