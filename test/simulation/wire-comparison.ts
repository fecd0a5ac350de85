// Compares the decisions of a seed on both paths to the cloud: directly in its model, and over the wire through the
// real SDK.
import { Random } from '../../src/runtime/random.ts';
import { runScenario } from './run-scenario.ts';
import type { FaultKind, FaultPlan } from './scenario.ts';
import { loadScenario } from './load-scenario.ts';

/** Whether this seed is in the share that also runs over the wire. */
export function isComparedOverWire(seed: string, share: number): boolean {
  return new Random(`rigs of ${seed}`).chance(share);
}

/** After a thaw all pending work happens in one instant, in an order that depends on the path. */
const freezeKinds: ReadonlySet<FaultKind> = new Set(['freeze', 'outlive']);

/** A kill ends watches, and without them the fence stops a call that the SDK of the dead process still prepares. */
function stopsOnlyOnWire(fault: FaultPlan): boolean {
  return (
    fault.kind === 'kill' && fault.phase === 'once it is sent' && /^(Delete|Detach|Unassign)/.test(fault.call)
  );
}

/** Describes the first decision that differs; undefined if none does. */
export async function firstWireDifference(seed: string): Promise<string | undefined> {
  const named = loadScenario(seed);
  const faults = named.faults.filter((fault) => !freezeKinds.has(fault.kind) && !stopsOnlyOnWire(fault));
  const scenario = { ...named, faults };
  const fast = await runScenario(scenario, { trace: true, path: 'fast' });
  const wire = await runScenario(scenario, { trace: true, path: 'wire' });
  if (fast.decisions === wire.decisions) return undefined;
  const index = fast.decided.findIndex((line, at) => line !== wire.decided[at]);
  return `decision ${index}: ${fast.decided[index] ?? 'none'} on the fast path, ${wire.decided[index] ?? 'none'} on the wire`;
}
