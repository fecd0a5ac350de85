// Metrics and log lines for calls to a cloud, and gauges for its rate limits.
import type { Logger } from '../../observability/logger.ts';
import type { Metrics } from '../../observability/metrics.ts';
import { priorities } from '../../providers/contract/priority.ts';
import type { CallListener, FinishedCall } from '../../providers/gate/call-gate.ts';
import type { BucketLevel } from '../../providers/rate-limit/rate-limiter.ts';
import type { MissingPermissions } from '../reporting/missing-permissions.ts';

/** The metrics of cilium-operator for a cloud that it serves. */
export interface OperatorInstruments {
  readonly duration: Metrics['cilium_operator_ec2_api_duration_seconds'];
  readonly wait: Metrics['cilium_operator_ec2_api_rate_limit_duration_seconds'];
  /** The response code label, as cilium-operator writes it. */
  readonly responseCode: (call: FinishedCall) => string;
}

export function callInstruments(
  operator: OperatorInstruments | undefined,
  metrics: Metrics,
  log: Logger,
  missingPermissions: Pick<MissingPermissions, 'callEnded'>,
): CallListener {
  return {
    onCall: (call) => {
      const { action, failure, duration } = call;
      const seconds = duration / 1000;
      metrics.headwater_cloud_calls_total.add({ action, outcome: failure?.kind ?? 'ok' });
      metrics.headwater_cloud_call_duration_seconds.observe({ action }, seconds);
      operator?.duration.observe({ operation: action, response_code: operator.responseCode(call) }, seconds);
      missingPermissions.callEnded(action, failure);
      log.debug('cloud call ended', { action, outcome: failure?.code ?? 'OK', seconds });
    },
    onWait: (calls, ms) => {
      for (const { name: operation } of calls) operator?.wait.observe({ operation }, ms / 1000);
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
