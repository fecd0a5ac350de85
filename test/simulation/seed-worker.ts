// Plays the seeds that its parent process names, one after another, and reports each.
import type { Breach } from './judge/breach.ts';
import { play } from './play.ts';
import { scenarioNamed } from './scenario-named.ts';

export interface PlayReport {
  readonly seed: string;
  readonly breaches: readonly Breach[];
  readonly digest: string;
  readonly events: number;
  readonly mutations: number;
  readonly faults: number;
  readonly nodes: number;
  readonly lasted: number;
  /** Of the processor, in ms. */
  readonly cpu: number;
  readonly coverage: readonly (readonly [cell: string, hits: number])[];
}

process.on('message', (seed) => {
  void report(String(seed)).then((message) => process.send?.(message));
});

async function report(seed: string): Promise<PlayReport> {
  const before = process.cpuUsage();
  const { lines: _, coverage, ...outcome } = await play(scenarioNamed(seed));
  const { user, system } = process.cpuUsage(before);
  return { ...outcome, seed, cpu: (user + system) / 1000, coverage: [...coverage] };
}
