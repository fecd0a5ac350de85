// Gauges for the cloud's rate limits.
import type { Metrics } from '../../observability/metrics.ts';
import type { BucketLevel } from '../../providers/rate-limit/rate-limiter.ts';
import { priorities } from '../../providers/contract/priority.ts';

/** Sets the gauges about the rate limits. */
export function showBuckets(metrics: Metrics, levels: readonly BucketLevel[]): void {
  for (const { action, tokens, refillPerSecond, learnedRatio, waiting } of levels) {
    metrics.headwater_cloud_rate_limit_tokens.set({ action }, tokens);
    metrics.headwater_cloud_rate_limit_refill_per_second.set({ action }, refillPerSecond);
    metrics.headwater_cloud_rate_limit_learned_ratio.set({ action }, learnedRatio);
    for (const priority of priorities) {
      const labels = { action, priority };
      metrics.headwater_cloud_calls_queued.set(labels, waiting[priority] ?? 0);
    }
  }
}
