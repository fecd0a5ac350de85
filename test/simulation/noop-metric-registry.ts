// Metrics that nobody reads: what a simulation of thousands of clusters need not pay for.
import type { MetricRegistry, Metrics } from '../../src/observability/metrics.ts';

const instrument = { add: ignore, set: ignore, replaceAll: ignore, observe: ignore };

/** `onForeignWrite`: a write of a CiliumNode was taken for somebody else's. */
export function deafRegistry(onForeignWrite: () => void): MetricRegistry {
  const alarm = { ...instrument, add: onForeignWrite };
  const get = (_: object, name: string | symbol): unknown =>
    name === 'headwater_conflicting_writes_total' ? alarm : instrument;
  return {
    metrics: new Proxy({}, { get }) as Metrics,
    contentType: 'text/plain',
    scrape: () => Promise.resolve(''),
    beforeScrape: ignore,
    forgetNode: ignore,
  };
}

function ignore(): void {
  // Nothing.
}
