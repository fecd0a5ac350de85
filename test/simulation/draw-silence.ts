// Draws silent connections, from a random source of their own, so that the other faults stay the same.
import type { Random } from '../../src/runtime/random.ts';
import type { SilentWay, TimedFault } from './scenario.ts';

/** Share of seeds with silent connections. */
const share = 0.5;
const second = 1000;

export const silentWays = ['toServer', 'fromServer', 'both'] as const satisfies readonly SilentWay[];

export function drawSilence(random: Random, minutes: number): readonly TimedFault[] {
  if (!random.chance(share)) return [];
  const [start, end] = [90 * second, minutes * 60 * second];
  return Array.from({ length: 1 + random.integer(4) }, () => ({
    at: Math.round(start + random.next() * (end - start)),
    kind: 'silence',
    way: random.pick(silentWays),
    requests: random.integer(4),
  }));
}
