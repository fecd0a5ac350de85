// Plays the seeds that its parent process names, one after another, and reports each.
import type { ActDigest } from './action-digest.ts';
import type { Breach } from './invariants/violation.ts';
import { play } from './run-scenario.ts';
import { differenceOfRigs, isPlayedTwice } from './wire-comparison.ts';
import { scenarioNamed } from './load-scenario.ts';

export interface PlayReport {
  readonly seed: string;
  readonly breaches: readonly Breach[];
  readonly digest: string;
  readonly acts: ActDigest;
  readonly events: number;
  readonly mutations: number;
  readonly faults: number;
  readonly nodes: number;
  readonly lasted: number;
  /** Whether it was played on both rigs. */
  readonly isPlayedTwice: boolean;
  /** Of the processor, in ms. */
  readonly cpu: number;
  readonly coverage: readonly (readonly [cell: string, hits: number])[];
}

export interface PlayRequest {
  readonly seed: string;
  /** Of the seeds that are played on both rigs. */
  readonly twice: number;
}

process.on('message', (request) => {
  void report(request as PlayRequest).then((message) => process.send?.(message));
});

async function report({ seed, twice }: PlayRequest): Promise<PlayReport> {
  const before = process.cpuUsage();
  const { lines: _, decided: __, acted: ___, coverage, ...outcome } = await play(scenarioNamed(seed));
  const { user, system } = process.cpuUsage(before);
  const both = isPlayedTwice(seed, twice);
  const difference = both ? await differenceOfRigs(seed) : undefined;
  const { lasted: at } = outcome;
  const differing: readonly Breach[] =
    difference === undefined ? [] : [{ invariant: 'rigs-differ', at, text: difference }];
  return {
    ...outcome,
    seed,
    breaches: [...outcome.breaches, ...differing],
    isPlayedTwice: both,
    cpu: (user + system) / 1000,
    coverage: [...coverage],
  };
}
