// Dashboards as data: rows of panels, each with its queries, unit, thresholds and meaning.

export interface DashboardPlan {
  readonly uid: string;
  readonly title: string;
  readonly description: string;
  readonly variables: readonly VariableName[];
  readonly rows: readonly RowPlan[];
}

export interface RowPlan {
  readonly title: string;
  readonly panels: readonly PanelPlan[];
}

export interface PanelPlan {
  readonly kind: 'stat' | 'timeseries' | 'bargauge' | 'table';
  readonly title: string;
  /** What the panel shows and how to read it. */
  readonly description: string;
  readonly queries: readonly QueryPlan[];
  /** The unit, as Grafana names it. */
  readonly unit: string;
  /** The values from which the state is worse, ascending. Below the first threshold, all is well. */
  readonly thresholds?: readonly Threshold[];
  /** Below the first threshold it is bad, and above the last all is well. */
  readonly lowIsBad?: true;
  readonly max?: number;
  /** Values below zero mean something. */
  readonly isSigned?: true;
  readonly isStacked?: true;
  /** Alerts that this panel explains: their runbooks are linked. */
  readonly runbooks?: readonly string[];
}

export interface QueryPlan {
  readonly expr: string;
  readonly legend: string;
}

export interface Threshold {
  readonly value: number;
  readonly color: 'yellow' | 'orange' | 'red' | 'green';
}

export type VariableName = 'cluster' | 'zone' | 'subnet' | 'node';

/** How each is chosen; the data source is a variable of every dashboard. */
export const variables: Readonly<Record<VariableName, { readonly label: string; readonly query: string }>> = {
  cluster: { label: 'Cluster', query: 'label_values(headwater_leader, cluster)' },
  zone: {
    label: 'Zone',
    query: 'label_values(headwater_subnet_size_addresses{cluster=~"$cluster"}, availability_zone)',
  },
  subnet: {
    label: 'Subnet',
    query:
      'label_values(headwater_subnet_size_addresses{cluster=~"$cluster",availability_zone=~"$zone"}, subnet_id)',
  },
  node: {
    label: 'Node',
    query: 'label_values(cilium_operator_ipam_used_ips{cluster=~"$cluster"}, target_node)',
  },
};

export const inCluster = 'cluster=~"$cluster"';
const inSubnets = `${inCluster},availability_zone=~"$zone",subnet_id=~"$subnet"`;
/** How long a rate looks back: what Grafana finds right for the width of the panel. */
export const window = '$__rate_interval';

/** The sum over all chosen clusters. The highest value among a cluster's replicas counts: standbys report 0 or nothing. */
export function total(metric: string, { by = [], where = [] }: Selection = {}): string {
  return `sum ${grouping(by)}(${max(metric, { by: ['cluster', ...by], where })})`;
}

/** The most that a replica says: of all clusters where `by` does not keep them apart. */
export function max(metric: string, { by = [], where = [] }: Selection = {}): string {
  return `max ${grouping(by)}(${metric}{${[inCluster, ...where].join(',')}})`;
}

/** The least that a replica says. */
export function min(metric: string, { by = [], where = [] }: Selection = {}): string {
  return `min ${grouping(by)}(${metric}{${[inCluster, ...where].join(',')}})`;
}

/** The rate of a counter a second, over all replicas. */
export function rate(metric: string, { by = [], where = [] }: Selection = {}): string {
  return `sum ${grouping(by)}(rate(${metric}{${[inCluster, ...where].join(',')}}[${window}]))`;
}

/** A quantile of a histogram, over all replicas. */
export function quantile(q: number, histogram: string, { by = [], where = [] }: Selection = {}): string {
  return `histogram_quantile(${q}, ${rate(`${histogram}_bucket`, { by: ['le', ...by], where })})`;
}

/**
 * A quantile of several histograms with the same buckets, as if they were one. A process has series of only one of them.
 */
export function quantileOfAny(q: number, histograms: readonly string[]): string {
  const rates = histograms.map((histogram) => `rate(${histogram}_bucket{${inCluster}}[${window}])`);
  return `histogram_quantile(${q}, sum by (le) (${rates.join(' or ')}))`;
}

/**
 * How much the subnets that are chosen gain a second, by a trend. A leader before may have seen another one, and less than an hour
 * is no trend.
 */
export function trendOfSubnets(metric: string, range: string): string {
  const series = `${metric}{${inSubnets}}`;
  return `min by (subnet_id, availability_zone) (deriv(${series}[${range}]) and on (cluster, job, instance) headwater_leader == 1 and ${series} offset 1h)`;
}

/** The subnets that are chosen. */
export function perSubnet(metric: string): string {
  return `max by (subnet_id, availability_zone) (${metric}{${inSubnets}})`;
}

/** The series of Headwater's processes only, because every Node.js program has this metric. */
export function ofHeadwater(metric: string): string {
  return `${metric}{${inCluster}} and on (cluster, job, instance) headwater_leader`;
}

export const subnetLegend = '{{subnet_id}} {{availability_zone}}';

interface Selection {
  readonly by?: readonly string[];
  readonly where?: readonly string[];
}

function grouping(by: readonly string[]): string {
  return by.length === 0 ? '' : `by (${by.join(', ')}) `;
}
