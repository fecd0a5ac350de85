// Looks at single instances when something about them is unclear: many requests share one call, and what it shows goes
// into the inventory.
import { Batcher } from '../scheduling/batcher.ts';
import type { Clock } from '../scheduling/clock.ts';
import type { Random } from '../scheduling/random.ts';
import type { AllocationImplementation } from './allocation-implementation.ts';
import type { Inventory } from './inventory.ts';
import type { Observation } from './observation.ts';

export interface InstanceLooksOptions {
  readonly implementation: AllocationImplementation;
  readonly inventory: Inventory;
  readonly clock: Clock;
  readonly random: Random;
  readonly onChanged: (instanceIds: ReadonlySet<string>) => void;
  readonly onFailure: (error: unknown, instanceIds: readonly string[]) => void;
}

/** How long a look waits for others to share its call, in ms. */
const window = 50;

export function instanceLooks(options: InstanceLooksOptions): Batcher<string> {
  const { implementation, inventory, clock, random } = options;
  return new Batcher({
    clock,
    random,
    window,
    most: implementation.mostInstancesPerLook,
    backoff: { base: 1000, cap: 30_000 },
    onFailure: options.onFailure,
    run: async (instanceIds, signal) => {
      const observations: Observation[] = [];
      let begunAt: number | undefined;
      const context = { urgency: () => 'waiting' as const, signal };
      for await (const page of implementation.observe({ kind: 'instances', instanceIds }, context)) {
        begunAt ??= page.begunAt;
        observations.push(...page.observations);
      }
      const endedAt = clock.monotonic();
      const changed = inventory.foldLook({ begunAt: begunAt ?? endedAt, endedAt, instanceIds, observations });
      options.onChanged(changed);
    },
  });
}
