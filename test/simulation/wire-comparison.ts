// Whether both rigs come to the same decisions: what goes straight to the cloud's model, and what goes through the real SDK and
// the model's front.
import { Random } from '../../src/runtime/random.ts';
import { play } from './run-scenario.ts';
import type { FaultKind } from './scenario.ts';
import { scenarioNamed } from './load-scenario.ts';

/** Whether this seed is one of the share that is played on both rigs. */
export function isPlayedTwice(seed: string, share: number): boolean {
  return new Random(`rigs of ${seed}`).chance(share);
}

/** After a thaw everything that waited happens at one instant, in the order in which a rig comes to it. */
const freezing: ReadonlySet<FaultKind> = new Set(['freeze', 'outlive']);

/** The first decision that differs, in words; undefined where none does. */
export async function differenceOfRigs(seed: string): Promise<string | undefined> {
  const named = scenarioNamed(seed);
  const scenario = { ...named, faults: named.faults.filter(({ kind }) => !freezing.has(kind)) };
  const fast = await play(scenario, { trace: true, rig: 'fast' });
  const wire = await play(scenario, { trace: true, rig: 'wire' });
  if (fast.decisions === wire.decisions) return undefined;
  const index = fast.decided.findIndex((line, at) => line !== wire.decided[at]);
  return `decision ${index}: ${fast.decided[index] ?? 'none'} on the fast rig, ${wire.decided[index] ?? 'none'} on the wire`;
}
