// Draws the dashboards from what a Prometheus has, for docs/dashboards.md: `npm run demo -- --prometheus --keep-running`,
// and once it says what to try,
//
//   node monitoring/pictures/draw.ts http://127.0.0.1:PORT [--seconds 90]
//
// draws docs/pictures/NAME.svg. The pictures are not Grafana's: they show the same queries, units and thresholds.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import type { DashboardPlan, PanelPlan, QueryPlan, RowPlan } from '../dashboards/dashboard-plan.ts';
import { dashboards } from '../generate.ts';
import { type Box, panelSvg, type Series, type Span, text } from './panel-svg.ts';

const width = 1200;
const gap = 8;
const rowTitle = 30;
/** As in the dashboards, in columns of 24 and in px. */
const sizes = {
  stat: { columns: 6, height: 110 },
  timeseries: { columns: 12, height: 250 },
  bargauge: { columns: 12, height: 250 },
  table: { columns: 24, height: 200 },
} as const satisfies Record<PanelPlan['kind'], { columns: number; height: number }>;

interface Answer {
  readonly data: {
    readonly result: readonly {
      readonly metric: Readonly<Record<string, string>>;
      readonly values: readonly (readonly [number, string])[];
    }[];
  };
}

/** What Grafana would ask, with everything chosen. */
function filledIn(expr: string): string {
  return expr.replaceAll(/\$(cluster|zone|subnet|node)\b/g, '.*').replaceAll('$__rate_interval', '10s');
}

async function answerTo({ expr, legend }: QueryPlan, url: string, { start, end }: Span): Promise<Series[]> {
  const asked = { query: filledIn(expr), start: String(start), end: String(end), step: '1' };
  const response = await fetch(`${url}/api/v1/query_range?${new URLSearchParams(asked).toString()}`);
  if (!response.ok) throw new Error(`${expr}: ${await response.text()}`);
  const { data } = (await response.json()) as Answer;
  return data.result.map(({ metric, values }) => ({
    name: legend.replaceAll(/\{\{(\w+)\}\}/g, (_, label: string) => metric[label] ?? ''),
    labels: Object.entries(metric)
      .filter(([label]) => !['__name__', 'job'].includes(label))
      .map(([, value]) => value)
      .join(' '),
    points: values
      .map(([time, value]) => [time, Number(value)] as const)
      .filter(([, value]) => isFinite(value)),
  }));
}

interface Placed {
  readonly svg: string;
  readonly height: number;
}

async function rowSvg(
  row: RowPlan,
  ask: (query: QueryPlan) => Promise<Series[]>,
  span: Span,
): Promise<Placed> {
  const parts = [text(row.title, { x: gap, y: 20, size: 15, fill: '#ccccdc', bold: true })];
  let [x, y, lineHeight] = [0, rowTitle, 0];
  for (const panel of row.panels) {
    const { columns, height } = sizes[panel.kind];
    const box: Box = { width: (width * columns) / 24 - gap, height };
    if (x + box.width > width) [x, y] = [0, y + lineHeight + gap];
    const series = (await Promise.all(panel.queries.map(ask))).flat();
    parts.push(`<g transform="translate(${x + gap / 2} ${y})">${panelSvg(panel, series, box, span)}</g>`);
    x += box.width + gap;
    lineHeight = height;
  }
  return { svg: parts.join('\n'), height: y + lineHeight + gap };
}

async function picture(plan: DashboardPlan, url: string, span: Span): Promise<string> {
  const rows: Placed[] = [];
  for (const row of plan.rows) rows.push(await rowSvg(row, (query) => answerTo(query, url, span), span));
  let y = 40;
  const placed = rows.map(({ svg, height }) => {
    const at = y;
    y += height;
    return `<g transform="translate(0 ${at})">${svg}</g>`;
  });
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${y}" font-family="Inter, Helvetica, Arial, sans-serif">`,
    `<rect width="${width}" height="${y}" fill="#111217"/>`,
    text(plan.title, { x: gap, y: 27, size: 18, fill: '#ffffff', bold: true }),
    ...placed,
    '</svg>\n',
  ].join('\n');
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { seconds: { type: 'string', default: '90' } },
});
const [url] = positionals;
if (url === undefined) throw new Error('give the address of a Prometheus');
const end = Math.floor(Date.now() / 1000);
const directory = join(import.meta.dirname, '../../docs/pictures');
mkdirSync(directory, { recursive: true });
for (const plan of dashboards) {
  const svg = await picture(plan, url, { start: end - Number(values.seconds), end });
  writeFileSync(join(directory, `${plan.uid}.svg`), svg);
}
