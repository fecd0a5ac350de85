// Metrics that nobody reads: what a simulation of thousands of clusters need not pay for.
import type { MetricRegistry, Metrics } from '../../src/observability/metrics.ts';

const instrument = { add: ignore, set: ignore, replaceAll: ignore, observe: ignore };

export const deafRegistry: MetricRegistry = {
  metrics: new Proxy({}, { get: () => instrument }) as Metrics,
  contentType: 'text/plain',
  scrape: () => Promise.resolve(''),
  beforeScrape: ignore,
  forgetNode: ignore,
};

function ignore(): void {
  // Nothing.
}
