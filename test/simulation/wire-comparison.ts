// Compares the decisions of a seed on both paths to the cloud: directly in its model, and over the wire through the
// real SDK.
import { Random } from '../../src/runtime/random.ts';
import { runScenario } from './run-scenario.ts';
import type { FaultKind } from './scenario.ts';
import { loadScenario } from './load-scenario.ts';

/** Whether this seed is in the share that also runs over the wire. */
export function isComparedOverWire(seed: string, share: number): boolean {
  return new Random(`rigs of ${seed}`).chance(share);
}

/** After a thaw all pending work happens in one instant, in an order that depends on the path. */
const freezeKinds: ReadonlySet<FaultKind> = new Set(['freeze', 'outlive']);

/** Describes the first decision that differs; undefined if none does. */
export async function firstWireDifference(seed: string): Promise<string | undefined> {
  const named = loadScenario(seed);
  const scenario = { ...named, faults: named.faults.filter(({ kind }) => !freezeKinds.has(kind)) };
  const fast = await runScenario(scenario, { trace: true, path: 'fast' });
  const wire = await runScenario(scenario, { trace: true, path: 'wire' });
  if (fast.decisions === wire.decisions) return undefined;
  const index = fast.decided.findIndex((line, at) => line !== wire.decided[at]);
  return `decision ${index}: ${fast.decided[index] ?? 'none'} on the fast path, ${wire.decided[index] ?? 'none'} on the wire`;
}
