// Draws the load of a seed.
import type { Random } from '../../src/runtime/random.ts';
import type { Workload } from '../../src/simulator/workload/workload.ts';

/**
 * Single pods cost one call each way. Pods that arrive on one node together need new interfaces, which are empty
 * afterwards.
 */
export function drawWorkloads(random: Random, minutes: number): readonly Workload[] {
  const end = minutes * 60_000;
  const slot = end / 3;
  const bursts = Array.from({ length: 2 }, (_, index): Workload => {
    const at = Math.round(60_000 + (index + 0.5 * random.next()) * slot);
    return {
      kind: 'burst',
      name: `burst-${index}`,
      at,
      pods: 4 + random.integer(5),
      over: random.pick([1000, 20_000, 60_000]),
      lifetime: Math.round((0.2 + 0.4 * random.next()) * slot),
      placement: random.pick(['pack', 'pack', 'random']),
    };
  });
  const steady: Workload = {
    kind: 'steady',
    name: 'steady',
    arrivalsPerMinute: (10 + random.integer(10)) / minutes,
    meanLifetime: 150_000 + random.integer(300_000),
    placement: 'random',
  };
  const deploy: Workload = {
    kind: 'rolling-deploy',
    name: 'deploy',
    replicas: 3 + random.integer(4),
    every: end / 2,
    surge: 1 + random.integer(3),
    settle: 20_000,
  };
  return [steady, ...bursts, ...(random.chance(0.3) ? [deploy] : [])];
}
