// What happens between Headwater and EC2, as metrics and log lines.
import { STATUS_CODES } from 'node:http';
import type { Logger } from '../observability/logger.ts';
import type { Metrics } from '../observability/metrics.ts';
import type { Ec2EdgeOptions } from '../providers/aws/ec2-edge.ts';
import type { BucketLevel } from '../providers/call-budget.ts';
import { urgencies } from '../providers/urgency.ts';
import type { Denials } from './denials.ts';

export function ec2Instruments(
  metrics: Metrics,
  log: Logger,
  denials: Pick<Denials, 'callEnded'>,
): Pick<Ec2EdgeOptions, 'onCall' | 'onWait'> {
  return {
    onCall: ({ action, failure, status, duration }) => {
      const seconds = duration / 1000;
      metrics.headwater_cloud_calls_total.add({ action, outcome: failure?.kind ?? 'ok' });
      metrics.headwater_cloud_call_duration_seconds.observe({ action }, seconds);
      const text = status === undefined ? 'Failed' : (STATUS_CODES[status] ?? 'Failed');
      const response_code = failure === undefined ? 'OK' : text;
      metrics.cilium_operator_ec2_api_duration_seconds.observe({ operation: action, response_code }, seconds);
      denials.callEnded(action, failure);
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
  for (const { action, tokens, refillPerSecond, learnedShare, waiting } of levels) {
    metrics.headwater_cloud_budget_tokens.set({ action }, tokens);
    metrics.headwater_cloud_budget_refill_per_second.set({ action }, refillPerSecond);
    metrics.headwater_cloud_budget_learned_share.set({ action }, learnedShare);
    for (const urgency of urgencies)
      metrics.headwater_cloud_calls_waiting.set({ action, urgency }, waiting[urgency] ?? 0);
  }
}
