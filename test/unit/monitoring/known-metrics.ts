// The series that can exist: those of the tables of metrics, and those of Node.js and its process.
import { maxNeedyNodes } from '../../../src/controller/reporting/fleet-metrics.ts';
import { alibabaLimits } from '../../../src/providers/alibaba/limits.ts';
import { ec2Limits } from '../../../src/providers/aws/quotas.ts';
import { azureCalls } from '../../../src/providers/azure/limits.ts';
import { metricTable } from '../../../src/observability/metrics.ts';
import { labelsOf, type Selector } from '../../monitoring/rig/selectors.ts';

/** The metrics of `collectDefaultMetrics` that dashboards and alerts may use. */
const ofTheProcess = [
  'nodejs_eventloop_lag_p50_seconds',
  'nodejs_eventloop_lag_p99_seconds',
  'nodejs_heap_size_used_bytes',
  'process_cpu_seconds_total',
  'process_resident_memory_bytes',
  'process_start_time_seconds',
];

/** Labels that Prometheus and its configuration add. */
const ofTheTarget = ['cluster', 'job', 'instance'];

const histogramSuffix = /_(bucket|count|sum)$/;

/** The row of the table that the series belong to. */
function rowOf(metric: string): (typeof metricTable)[keyof typeof metricTable] | undefined {
  const table: Readonly<Record<string, (typeof metricTable)[keyof typeof metricTable]>> = metricTable;
  const whole = table[metric];
  if (whole !== undefined) return whole.kind === 'histogram' ? undefined : whole;
  const base = table[metric.replace(histogramSuffix, '')];
  return base?.kind === 'histogram' ? base : undefined;
}

/** The problem of a selector; undefined if it can match. */
export function problemOf(selector: Selector): string | undefined {
  const { metric, matchers } = selector;
  if (ofTheProcess.includes(metric)) return undefined;
  const row = rowOf(metric);
  if (row === undefined) return `${metric} is no metric`;
  const labels = [...ofTheTarget, ...Object.keys(row.labels), ...(metric.endsWith('_bucket') ? ['le'] : [])];
  const unknown = labelsOf(selector).find((label) => !labels.includes(label));
  if (unknown !== undefined) return `${metric} has no label ${unknown}`;
  const wrong = matchers.find((matcher) => !canMatch(matcher, row.labels));
  return wrong === undefined ? undefined : `${metric} has no series with ${wrong}`;
}

/** Calls by the names that the label `action` has. */
const actions: ReadonlySet<string> = new Set([...ec2Limits.keys(), ...azureCalls, ...alibabaLimits.keys()]);

function canMatch(matcher: string, labels: Readonly<Record<string, readonly string[] | string>>): boolean {
  const [, label = '', operator, value = ''] = /^(\w+)(=~|=|!~|!=)"(.*)"$/.exec(matcher) ?? [];
  const values = label === 'action' ? [...actions] : labels[label];
  if (values === undefined || typeof values === 'string') return true;
  if (operator === '=') return values.includes(value);
  if (operator === '!=') return true;
  return value.split('|').every((each) => each === '$cluster' || each === '.*' || values.includes(each));
}

/** Number of values of each label in a large fleet: 15,000 nodes in 60 subnets. */
const many: Readonly<Record<string, number>> = {
  subnet_id: 60,
  pool: 4,
  family: 2,
  clusterCIDR: 2,
  // A subnet is in one zone, and a response code goes with few actions.
  availability_zone: 1,
  response_code: 3,
  action: 22,
  operation: 22,
  reason: 24,
  outcome: 12,
  verb: 6,
  resource: 5,
  code: 8,
  // Two versions during an upgrade.
  version: 2,
  node_version: 2,
};

/** Maximum number of series that a selector finds, of two replicas, in a fleet of that size. */
export function seriesOf({ metric, matchers }: Selector, nodes: number): number {
  const row = rowOf(metric);
  const replicas = 2;
  if (row === undefined) return replicas;
  const fixed = new Set(matchers.filter((each) => /^\w+="/.test(each)).map((each) => each.split('=')[0]));
  const counts = Object.entries(row.labels).map(([label, values]) => {
    if (fixed.has(label)) return 1;
    if (typeof values !== 'string') return values.length;
    if (metric === 'headwater_node_needed_addresses') return maxNeedyNodes;
    // Above --node-metrics-limit no node has a series.
    if (label === 'target_node') return nodes > 2000 ? 0 : nodes;
    const count = many[label];
    if (count === undefined) throw new Error(`how many values ${label} has is not said`);
    return count;
  });
  const buckets = row.kind === 'histogram' && metric.endsWith('_bucket') ? row.buckets.length + 1 : 1;
  // A standby shows nothing of nodes and subnets.
  const shown = 'subnet_id' in row.labels || 'target_node' in row.labels ? 1 : replicas;
  return counts.reduce((product, count) => product * count, shown * buckets);
}
