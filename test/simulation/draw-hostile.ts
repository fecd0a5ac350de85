// What a hostile agent does in a seed, beside the faults: drawn on its own, so that those stay what they are.
import type { Random } from '../../src/runtime/random.ts';
import type { HostileDeed, TimedFault } from './scenario.ts';

/** In so many seeds there is one. */
const share = 0.35;
const second = 1000;

export const hostileDeeds = ['twin', 'ambush', 'pool', 'claims'] as const satisfies readonly HostileDeed[];

export function drawHostile(random: Random, minutes: number): readonly TimedFault[] {
  if (!random.chance(share)) return [];
  const [start, end] = [90 * second, minutes * 60 * second];
  return Array.from({ length: 3 + random.integer(5) }, () => ({
    at: Math.round(start + random.next() * (end - start)),
    kind: 'hostile',
    deed: random.pick(hostileDeeds),
    node: random.next(),
    restart: random.chance(0.4),
  }));
}
