// A metric registry that keeps nothing, because thousands of simulated clusters need no metrics.
import type { MetricRegistry, Metrics } from '../../src/observability/metrics.ts';

const instrument = { add: ignore, set: ignore, replaceAll: ignore, observe: ignore };

/** `onConflictingWrite`: a controller took a write of a CiliumNode for a conflicting writer's. */
export function noopMetricRegistry(onConflictingWrite: () => void): MetricRegistry {
  const conflictingWrites = { ...instrument, add: onConflictingWrite };
  const get = (_: object, name: string | symbol): unknown =>
    name === 'headwater_conflicting_writes_total' ? conflictingWrites : instrument;
  return {
    metrics: new Proxy({}, { get }) as Metrics,
    contentType: 'text/plain',
    scrape: () => Promise.resolve(''),
    beforeScrape: ignore,
    forgetNode: ignore,
  };
}

function ignore(): void {
  // Does nothing.
}
