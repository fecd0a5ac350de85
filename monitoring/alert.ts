// Alert rules as data. The files that Prometheus and Alertmanager read are made from them.

/** `critical` wakes somebody at night; `warning` waits until the morning. */
export type Severity = 'critical' | 'warning';

export interface Alert {
  /** The name of the alert and of its runbook. */
  readonly name: string;
  /** In PromQL. */
  readonly expr: string;
  /** How long the expression must hold until the alert fires, as Prometheus writes durations. */
  readonly for: string;
  readonly severity: Severity;
  /** A line with the labels that say where. */
  readonly summary: string;
  /** The effect on those who run pods, and the figure. */
  readonly description: string;
}

export interface AlertGroup {
  readonly name: string;
  readonly alerts: readonly Alert[];
}

/** While an alert fires that explains others, those are muted. */
export interface Inhibition {
  readonly cause: string;
  readonly effects: readonly string[];
  /** Labels that both must have alike. */
  readonly equal: readonly string[];
  readonly why: string;
}

/** Series of one subnet, over replicas: a standby shows none of them. */
export const bySubnet = 'by (cluster, subnet_id, availability_zone)';
export const byCluster = 'by (cluster)';

/** The value of `metric` for each subnet, as the leader reports it. */
export function ofSubnets(metric: string): string {
  return `max ${bySubnet} (${metric})`;
}

/** The highest value of `metric` among the replicas of a cluster: a standby reports 0. */
export function ofCluster(metric: string): string {
  return `max ${byCluster} (${metric})`;
}

/**
 * How much counters grew, also of series that were not there before: with labels whose values are not known in advance they
 * begin at what was counted by then, which `increase` overlooks.
 */
export function grown(counter: string, range: string): string {
  return `(${counter} unless ${counter} offset ${range} or increase(${counter}[${range}]))`;
}

/** Metrics that every Node.js process has, of Headwater's processes alone. */
export function ofHeadwater(expr: string): string {
  return `${expr} and on (cluster, job, instance) headwater_leader`;
}

export const atCluster = '{{ with $labels.cluster }} in cluster {{ . }}{{ end }}';
