// Draws what a hostile agent does in a seed, from a random source of its own, so that the other faults stay the same.
import type { Random } from '../../src/runtime/random.ts';
import type { HostileAction, TimedFault } from './scenario.ts';

/** Share of seeds with a hostile agent. */
const share = 0.35;
const second = 1000;

export const hostileActions = [
  'twin',
  'ambush',
  'pool',
  'claims',
] as const satisfies readonly HostileAction[];

export function drawHostile(random: Random, minutes: number): readonly TimedFault[] {
  if (!random.chance(share)) return [];
  const [start, end] = [90 * second, minutes * 60 * second];
  return Array.from({ length: 3 + random.integer(5) }, () => ({
    at: Math.round(start + random.next() * (end - start)),
    kind: 'hostile',
    deed: random.pick(hostileActions),
    node: random.next(),
    restart: random.chance(0.4),
  }));
}
