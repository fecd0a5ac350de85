// The page of metrics, made from their table.
import { headwaterMetrics } from '../src/observability/headwater-metrics.ts';
import type { LabelDefinition, MetricDefinition } from '../src/observability/metric-definition.ts';
import { operatorMetrics } from '../src/observability/operator-metrics.ts';

type Table = Readonly<Record<string, MetricDefinition>>;

const introduction = `# Metrics

Served at \`/metrics\` on \`--serve-addr\`, in the text format of Prometheus, by every replica. Only the leader acts,
so counters stand still on the others.

Besides these there are the metrics of the process and its event loop, \`process_*\` and \`nodejs_*\`.
`;

const aboutHeadwater = `Accurate figures, under names that say what they are.
`;

const aboutOperator = `Names, labels and buckets are those of cilium-operator, so that its dashboards and alerts keep
working. Beware of \`cilium_operator_ipam_available_ips\`: it is what a node could hold, not what is free;
\`headwater_addresses\` has the true figures.
`;

export function metricsPage(): string {
  return [
    introduction,
    chapter('Of Headwater', aboutHeadwater, headwaterMetrics),
    chapter('Of cilium-operator', aboutOperator, operatorMetrics),
  ].join('\n');
}

function chapter(title: string, about: string, table: Table): string {
  const rows = Object.entries(table).map(
    ([name, { kind, labels, help }]) => `| \`${name}\` | ${kind} | ${labelCell(labels)} | ${cell(help)} |`,
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
