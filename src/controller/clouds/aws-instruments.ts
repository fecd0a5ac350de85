// Metrics and log lines for calls to EC2, and gauges for its rate limits.
import { STATUS_CODES } from 'node:http';
import type { Logger } from '../../observability/logger.ts';
import type { Metrics } from '../../observability/metrics.ts';
import type { Ec2ClientOptions } from '../../providers/aws/ec2-client.ts';
import { priorities } from '../../providers/contract/priority.ts';
import type { BucketLevel } from '../../providers/rate-limit/rate-limiter.ts';
import type { MissingPermissions } from '../reporting/missing-permissions.ts';

export function ec2Instruments(
  metrics: Metrics,
  log: Logger,
  missingPermissions: Pick<MissingPermissions, 'callEnded'>,
): Pick<Ec2ClientOptions, 'onCall' | 'onWait'> {
  return {
    onCall: ({ action, failure, status, duration }) => {
      const seconds = duration / 1000;
      metrics.headwater_cloud_calls_total.add({ action, outcome: failure?.kind ?? 'ok' });
      metrics.headwater_cloud_call_duration_seconds.observe({ action }, seconds);
      const text = status === undefined ? 'Failed' : (STATUS_CODES[status] ?? 'Failed');
      const response_code = failure === undefined ? 'OK' : text;
      metrics.cilium_operator_ec2_api_duration_seconds.observe({ operation: action, response_code }, seconds);
      missingPermissions.callEnded(action, failure);
      log.debug('EC2 call ended', { action, outcome: failure?.code ?? 'OK', seconds });
    },
    onWait: (actions, ms) => {
      for (const operation of actions) {
        metrics.cilium_operator_ec2_api_rate_limit_duration_seconds.observe({ operation }, ms / 1000);
      }
    },
  };
}

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
