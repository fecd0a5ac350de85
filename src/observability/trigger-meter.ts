// Feeds the metrics of one trigger family from the trigger's events.
import type { TriggerMeter } from '../runtime/trigger.ts';
import type { Metrics } from './metrics.ts';

export type TriggerFamily = 'deficit_resolver' | 'k8s_sync' | 'resync';

export function triggerMeter(metrics: Metrics, family: TriggerFamily): TriggerMeter {
  const queued = metrics[`cilium_operator_ipam_${family}_queued_total`];
  const folds = metrics[`cilium_operator_ipam_${family}_folds`];
  const durations = metrics[`cilium_operator_ipam_${family}_duration_seconds`];
  const latencies = metrics[`cilium_operator_ipam_${family}_latency_seconds`];

  return {
    requested: () => queued.add(),
    ran: (figures) => {
      folds.set(figures.folds);
      durations.observe(figures.duration / 1000);
      latencies.observe(figures.latency / 1000);
    },
  };
}
