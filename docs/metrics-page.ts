// The page of metrics, made from their table.
import { agentMetrics } from '../src/observability/agent-metrics.ts';
import { headwaterMetrics } from '../src/observability/headwater-metrics.ts';
import type { LabelDefinition, MetricDefinition } from '../src/observability/metric-definition.ts';
import { isOfAddresses } from '../src/observability/metrics.ts';
import { nodeIpamMetrics } from '../src/observability/node-ipam-metrics.ts';
import { operatorMetrics } from '../src/observability/operator-metrics.ts';

type Table = Readonly<Record<string, MetricDefinition>>;

const introduction = `# Metrics

Every replica serves these metrics at \`/metrics\` on \`--serve-addr\`, in the text format of Prometheus. Only the leader
acts, so counters do not change on the others.

\`/metrics\` also has metrics of the process and its event loop, \`process_*\` and \`nodejs_*\`.
`;

const aboutHeadwater = `These are the actual figures.
`;

const aboutOperator = `Names, labels and buckets are those of cilium-operator, so its dashboards and alerts keep working. Note that
\`cilium_operator_ipam_available_ips\` is what a node could hold, not what is free: use \`headwater_addresses\`.
`;

const aboutNodeIpam = `Only \`headwater nodeipam\` sets these. Names, labels and buckets are those of kube-controller-manager.
`;

const aboutAgent = `Only \`headwater agent\` sets these, and serves them at \`/metrics\` on its socket. Names that begin with \`cilium_\` are
those of the Cilium agent.
`;

export function metricsPage(): string {
  return [
    introduction,
    chapter('Metrics of Headwater', aboutHeadwater, headwaterMetrics),
    chapter('Metrics of cilium-operator', aboutOperator, operatorMetrics),
    chapter('Metrics of kube-controller-manager', aboutNodeIpam, nodeIpamMetrics),
    chapter('Metrics of the agent', aboutAgent, agentMetrics),
  ].join('\n');
}

function chapter(title: string, about: string, table: Table): string {
  const rows = Object.entries(table).map(
    ([name, { kind, labels, help }]) =>
      `| \`${name}\` | ${kind} | ${labelCell(labels)} | ${cell(help)}${isOfAddresses(name) ? ' Absent where nodes get blocks.' : ''} |`,
  );
  return `## ${title}

${about}
| Name | Kind | Labels | Meaning |
| --- | --- | --- | --- |
${rows.join('\n')}

Buckets of the histograms:

${bucketList(table)}
`;
}

function labelCell(labels: Readonly<Record<string, LabelDefinition>>): string {
  return Object.entries(labels)
    .map(
      ([label, values]) => `\`${label}\`: ${cell(typeof values === 'string' ? values : values.join(', '))}`,
    )
    .join('<br>');
}

/** Histograms with the same buckets share a line. */
function bucketList(table: Table): string {
  const byBuckets = new Map<string, string[]>();
  for (const [name, definition] of Object.entries(table)) {
    if (definition.kind !== 'histogram') continue;
    const buckets = definition.buckets.join(', ');
    byBuckets.set(buckets, [...(byBuckets.get(buckets) ?? []), `\`${name}\``]);
  }
  return [...byBuckets].map(([buckets, names]) => `- ${names.join(', ')}: ${buckets}`).join('\n');
}

function cell(text: string): string {
  return text.replaceAll('|', '\\|');
}
