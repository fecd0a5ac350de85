// Draws one panel as SVG from what Prometheus answered to its queries. Not Grafana, but the same queries, units, thresholds
// and legends.
import type { PanelPlan } from '../dashboards/dashboard-plan.ts';

export interface Series {
  readonly name: string;
  /** Its labels, which name the row of a table. */
  readonly labels: string;
  /** Seconds since the epoch, and values; ascending. */
  readonly points: readonly (readonly [time: number, value: number])[];
}

export interface Box {
  readonly width: number;
  readonly height: number;
}

/** The time that all panels of a picture show, in seconds since the epoch. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

const palette = ['#5b8ff9', '#e8684a', '#5ad8a6', '#f6bd16', '#9270ca', '#269a99', '#ff9d4d', '#6dc8ec'];
const thresholdColors = { green: '#5ad8a6', yellow: '#f6bd16', orange: '#ff9d4d', red: '#e8684a' } as const;
const legendLine = 14;
/** As in Grafana, in seconds. */
const longestGap = 120;
/** More lines than that are not told apart. */
const maxNamed = 4;

export function panelSvg(panel: PanelPlan, series: readonly Series[], box: Box, span: Span): string {
  const inner = contentOf(panel, series, { width: box.width - 24, height: box.height - 34 }, span);
  return [
    `<rect width="${box.width}" height="${box.height}" rx="3" fill="#181b1f" stroke="#2c3235"/>`,
    text(panel.title, { x: 12, y: 19, size: 13, fill: '#ccccdc', bold: true }),
    `<g transform="translate(12 28)">${inner}</g>`,
  ].join('');
}

function contentOf(panel: PanelPlan, series: readonly Series[], box: Box, span: Span): string {
  if (series.length === 0) return text('none', { x: 4, y: 20, size: 12, fill: '#8e8e8e' });
  switch (panel.kind) {
    case 'stat':
      return stat(panel, series, box);
    case 'timeseries':
      return lines(panel, series, box, span);
    case 'bargauge':
      return bars(panel, series, box);
    case 'table':
      return table(panel, series, box);
  }
}

function stat(panel: PanelPlan, series: readonly Series[], box: Box): string {
  const value = lastOf(series[0]);
  return text(shown(value, panel.unit), {
    x: box.width / 2,
    y: box.height / 2 + 16,
    size: 36,
    fill: colorOf(panel, value),
    anchor: 'middle',
    bold: true,
  });
}

/** A row for the series with the same labels, and a column for each name. */
function table(panel: PanelPlan, series: readonly Series[], box: Box): string {
  const columns = [...new Set(series.map(({ name }) => name))];
  const rows = [...Map.groupBy(series, ({ labels }) => labels)].slice(0, Math.floor(box.height / 18) - 1);
  const rightOf = (index: number): number => box.width - (columns.length - 1 - index) * 110;
  const line = (cells: readonly string[], fill: string, index: number): string =>
    cells
      .map((cell, column) =>
        text(cell, { x: rightOf(column), y: index * 18 + 13, size: 11, fill, anchor: 'end' }),
      )
      .join('');
  return [
    line(columns, '#8e8e8e', 0),
    ...rows.map(([labels, own], index) =>
      [
        text(labels, { x: 0, y: (index + 1) * 18 + 13, size: 11, fill: '#ccccdc' }),
        line(
          columns.map((column) => {
            const found = own.find(({ name }) => name === column);
            return found === undefined ? '' : shown(lastOf(found), panel.unit);
          }),
          '#ccccdc',
          index + 1,
        ),
      ].join(''),
    ),
  ].join('');
}

function bars(panel: PanelPlan, series: readonly Series[], box: Box): string {
  const rows = series.slice(0, Math.floor(box.height / 18));
  const max = Math.max(...rows.map(lastOf), 1);
  return rows
    .map((each, index) => {
      const value = lastOf(each);
      const length = Math.max(1, (box.width * 0.45 * value) / max);
      const y = index * 18;
      return [
        text(each.name, { x: 0, y: y + 13, size: 11, fill: '#ccccdc' }),
        `<rect x="${box.width * 0.45}" y="${y + 3}" width="${round(length)}" height="12" fill="${colorOf(panel, value)}"/>`,
        text(shown(value, panel.unit), { x: box.width, y: y + 13, size: 11, fill: '#ccccdc', anchor: 'end' }),
      ].join('');
    })
    .join('');
}

function lines(panel: PanelPlan, series: readonly Series[], box: Box, span: Span): string {
  const named = series.slice(0, maxNamed);
  const plot = { x: 46, width: box.width - 50, height: box.height - (named.length + 1) * legendLine - 16 };
  const max = topOf(panel, series);
  const min = Math.min(0, ...series.flatMap(({ points }) => points.map(([, value]) => value)));
  const xOf = (time: number): number => plot.x + ((time - span.start) / (span.end - span.start)) * plot.width;
  const yOf = (value: number): number => plot.height - ((value - min) / (max - min)) * plot.height + 4;
  const grid = [0, 0.5, 1].map((part) => {
    const value = min + (max - min) * part;
    return [
      `<line x1="${plot.x}" x2="${plot.x + plot.width}" y1="${round(yOf(value))}" y2="${round(yOf(value))}" stroke="#2c3235"/>`,
      text(shown(value, panel.unit), {
        x: plot.x - 6,
        y: yOf(value) + 4,
        size: 10,
        fill: '#8e8e8e',
        anchor: 'end',
      }),
    ].join('');
  });
  const limits = (panel.thresholds ?? [])
    .filter(({ value }) => value > min && value < max)
    .map(
      ({ value, color }) =>
        `<line x1="${plot.x}" x2="${plot.x + plot.width}" y1="${round(yOf(value))}" y2="${round(yOf(value))}" stroke="${thresholdColors[color]}" stroke-dasharray="4 4" opacity="0.7"/>`,
    );
  const drawn = series.map(
    ({ points }, index) =>
      `<path d="${pathOf(points, xOf, yOf)}" fill="none" stroke="${palette[index % palette.length]}" stroke-width="1.5"/>`,
  );
  const legend = named.map((each, index) => {
    const y = plot.height + 20 + (index + 1) * legendLine;
    return [
      `<rect x="0" y="${y - 7}" width="12" height="3" fill="${palette[index % palette.length]}"/>`,
      text(`${each.name}: ${shown(lastOf(each), panel.unit)}`, { x: 18, y, size: 11, fill: '#ccccdc' }),
    ].join('');
  });
  const more = series.length - named.length;
  const rest =
    more > 0 ? text(`and ${more} more`, { x: 180, y: plot.height + 20, size: 11, fill: '#8e8e8e' }) : '';
  return [...grid, ...limits, ...drawn, timeAxis(plot, span), ...legend, rest].join('');
}

function timeAxis(
  plot: { readonly x: number; readonly width: number; readonly height: number },
  span: Span,
): string {
  return [0, 1]
    .map((part) => {
      const seconds = Math.round((span.end - span.start) * part);
      const anchor = part === 0 ? 'start' : 'end';
      const x = plot.x + plot.width * part;
      return text(`${seconds} s`, { x, y: plot.height + 20, size: 10, fill: '#8e8e8e', anchor });
    })
    .join('');
}

/** Where there is no sample for long, the line is broken: a takeover of seconds is no gap. */
function pathOf(
  points: Series['points'],
  xOf: (time: number) => number,
  yOf: (value: number) => number,
): string {
  return points
    .map(([time, value], index) => {
      const before = points[index - 1];
      const isBroken = before === undefined || time - before[0] > longestGap;
      return `${isBroken ? 'M' : 'L'}${round(xOf(time))} ${round(yOf(value))}`;
    })
    .join('');
}

function topOf({ max, thresholds = [] }: PanelPlan, series: readonly Series[]): number {
  const highest = Math.max(...series.flatMap(({ points }) => points.map(([, value]) => value)));
  const next = thresholds.find(({ value }) => value > highest)?.value ?? highest;
  if (highest <= 0) return max ?? 1;
  return Math.max(max ?? 0, Math.min(next, highest * 2), highest) * (max === undefined ? 1.05 : 1);
}

function colorOf({ thresholds = [], lowIsBad }: PanelPlan, value: number): string {
  const reached = thresholds.findLast((threshold) => value >= threshold.value);
  return thresholdColors[reached?.color ?? (lowIsBad === true ? 'red' : 'green')];
}

function lastOf(series: Series | undefined): number {
  return series?.points.at(-1)?.[1] ?? 0;
}

const units: Readonly<Record<string, (value: number) => string>> = {
  s: (value) => (Math.abs(value) < 1 && value !== 0 ? `${number(value * 1000)} ms` : `${number(value)} s`),
  d: (value) => (value < 1 ? `${number(value * 24)} hours` : `${number(value)} days`),
  percentunit: (value) => `${number(value * 100)} %`,
  bytes: (value) => `${number(value / 2 ** 20)} MiB`,
  reqps: (value) => `${number(value)}/s`,
  ops: (value) => `${number(value)}/s`,
};

/** A value with its unit, as short as can be. */
export function shown(value: number, unit: string): string {
  return units[unit]?.(value) ?? number(value);
}

function number(value: number): string {
  if (Math.abs(value) >= 1000) return `${(value / 1000).toFixed(1)}k`;
  return Number(value.toPrecision(3)).toString();
}

function round(value: number): string {
  return value.toFixed(1);
}

interface TextStyle {
  readonly x: number;
  readonly y: number;
  readonly size: number;
  readonly fill: string;
  readonly anchor?: 'start' | 'middle' | 'end';
  readonly bold?: true;
}

export function text(words: string, { x, y, size, fill, anchor = 'start', bold }: TextStyle): string {
  const escaped = words.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
  const weight = bold === true ? ' font-weight="600"' : '';
  return `<text x="${round(x)}" y="${round(y)}" font-size="${size}" fill="${fill}" text-anchor="${anchor}"${weight}>${escaped}</text>`;
}
