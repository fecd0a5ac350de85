// Metrics and log lines for calls to a cloud, and gauges for its rate limits.
import { STATUS_CODES } from 'node:http';
import type { Logger } from '../../observability/logger.ts';
import type { Metrics } from '../../observability/metrics.ts';
import { priorities } from '../../providers/contract/priority.ts';
import type { CallGateOptions, FinishedCall } from '../../providers/gate/call-gate.ts';
import type { BucketLevel } from '../../providers/rate-limit/rate-limiter.ts';
import type { MissingPermissions } from '../reporting/missing-permissions.ts';

/** What the metrics of cilium-operator call a cloud, in their names. */
export type MeteredApi = 'ec2' | 'azure' | 'alibabacloud';

interface OperatorInstruments {
  readonly duration: Metrics['cilium_operator_ec2_api_duration_seconds'];
  readonly wait: Metrics['cilium_operator_ec2_api_rate_limit_duration_seconds'];
  readonly responseCode: (call: FinishedCall) => string;
}

const operatorInstruments: Readonly<Record<MeteredApi, (metrics: Metrics) => OperatorInstruments>> = {
  ec2: (metrics) => ({
    duration: metrics.cilium_operator_ec2_api_duration_seconds,
    wait: metrics.cilium_operator_ec2_api_rate_limit_duration_seconds,
    responseCode: ({ failure, status }) => {
      const text = status === undefined ? undefined : STATUS_CODES[status];
      return failure === undefined ? 'OK' : (text ?? 'Failed');
    },
  }),
  azure: (metrics) => ({
    duration: metrics.cilium_operator_azure_api_duration_seconds,
    wait: metrics.cilium_operator_azure_api_rate_limit_duration_seconds,
    responseCode: ({ failure }) => (failure === undefined ? 'OK' : 'Failed'),
  }),
  alibabacloud: (metrics) => ({
    duration: metrics.cilium_operator_alibabacloud_api_duration_seconds,
    wait: metrics.cilium_operator_alibabacloud_api_rate_limit_duration_seconds,
    responseCode: ({ failure, status }) =>
      failure === undefined ? 'OK' : status === undefined ? 'Failed' : failure.code,
  }),
};

export function callInstruments(
  api: MeteredApi | undefined,
  metrics: Metrics,
  log: Logger,
  missingPermissions: Pick<MissingPermissions, 'callEnded'>,
): Pick<CallGateOptions, 'onCall' | 'onWait'> {
  const operator = api && operatorInstruments[api](metrics);
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
