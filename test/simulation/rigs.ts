// Whether both rigs come to the same decisions: what goes straight to the cloud's model, and what goes through the real SDK and
// the model's front.
import { Random } from '../../src/scheduling/random.ts';
import { play } from './play.ts';
import { scenarioNamed } from './scenario-named.ts';

/** Whether this seed is one of the share that is played on both rigs. */
export function isPlayedTwice(seed: string, share: number): boolean {
  return new Random(`rigs of ${seed}`).chance(share);
}

/** The first decision that differs, in words; undefined where none does. */
export async function differenceOfRigs(seed: string): Promise<string | undefined> {
  const scenario = scenarioNamed(seed);
  const fast = await play(scenario, { trace: true, rig: 'fast' });
  const wire = await play(scenario, { trace: true, rig: 'wire' });
  if (fast.decisions === wire.decisions) return undefined;
  const index = fast.decided.findIndex((line, at) => line !== wire.decided[at]);
  return `decision ${index}: ${fast.decided[index] ?? 'none'} on the fast rig, ${wire.decided[index] ?? 'none'} on the wire`;
}
