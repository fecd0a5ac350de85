// Subnets or pools with what they have left and how that changed, and the budgets of calls.
import type { VNode } from 'preact';
import type { ShownReport } from '../src/commands/status/served-report.ts';
import type { History } from './history.ts';
import { html } from 'htm/preact';

interface SupplyProps {
  readonly report: ShownReport;
  readonly history: History;
}

interface Row {
  readonly id: string;
  readonly name: string;
  readonly place: string;
  readonly free: number;
  readonly size: number;
  readonly note: string;
}

export function SupplyTable({ report, history }: SupplyProps): VNode | string {
  const rows = rowsOf(report);
  if (rows.length === 0) return '';
  const titles = ['name', 'where', 'free', 'size', 'in use', 'since this page is open', ''];
  return html`<section aria-labelledby="supply">
    <h2 id="supply">${report.subnets === undefined ? 'Pools' : 'Subnets'}</h2>
    <table>
      <thead><tr>${titles.map((title) => html`<th class=${kindOf(title)}>${title}</th>`)}</tr></thead>
      <tbody>${rows.map((row) => rowView(row, history))}</tbody>
    </table>
  </section>`;
}

function kindOf(title: string): string {
  return title === 'free' || title === 'size' ? 'number' : '';
}

/** Most are full most of the time. */
export function Budgets({ report }: Pick<SupplyProps, 'report'>): VNode | string {
  const { buckets = [] } = report;
  if (buckets.length === 0) return '';
  const isUsed = ({ tokens, capacity, throttled }: (typeof buckets)[number]): boolean =>
    tokens < capacity || throttled > 0;
  const used = buckets.filter(isUsed).length;
  return html`<details>
    <summary>Budgets of calls: ${used} of ${buckets.length} in use</summary>
    <table>
      <thead><tr><th>call</th>${['left', 'of', 'a second', 'throttled'].map((title) => html`<th class="number">${title}</th>`)}</tr></thead>
      <tbody>${buckets
        .toSorted((a, b) => Number(isUsed(b)) - Number(isUsed(a)))
        .map(
          ({
            action,
            tokens,
            capacity,
            refillPerSecond,
            throttled,
          }) => html`<tr class=${throttled > 0 ? 'doubtful' : ''}>
            <th scope="row">${action}</th>
            ${[Math.floor(tokens), capacity, refillPerSecond, throttled].map((count) => html`<td class="number">${count}</td>`)}
          </tr>`,
        )}</tbody>
    </table>
  </details>`;
}

function rowsOf({ subnets = [], pools = [] }: ShownReport): readonly Row[] {
  const rows = [
    ...subnets.map(({ id, name, zone, cidr, free, size, exhausted, fragmented, daysLeft, counted }) => ({
      id,
      // What differs between ids of one cloud stands at their end.
      name: name ?? id.slice(id.lastIndexOf('/') + 1),
      place: `${zone} ${cidr}`,
      free,
      size,
      note: [
        ...(counted ? [] : ['not counted yet']),
        ...(exhausted ? ['exhausted'] : []),
        ...(fragmented ? ['no /28 left'] : []),
        ...fullIn(daysLeft),
      ].join(', '),
    })),
    ...pools.map(({ pool, cidr, free, capacity, waiting, daysLeft }) => ({
      id: `${pool} ${cidr}`,
      name: pool,
      place: cidr,
      free,
      size: capacity,
      note: [...(waiting > 0 ? [`${waiting} waiting`] : []), ...fullIn(daysLeft)].join(', '),
    })),
  ];
  // The fullest stands first.
  return rows.toSorted((a, b) => a.free / a.size - b.free / b.size);
}

function fullIn(days: number | undefined): readonly string[] {
  return days === undefined ? [] : [`full in ${days.toFixed(1)} days`];
}

function rowView({ id, name, place, free, size, note }: Row, history: History): VNode | string {
  const share = size === 0 ? 0 : (size - free) / size;
  const words = `${Math.round(100 * share)} % in use`;
  return html`<tr class=${free === 0 ? 'bad' : ''}>
    <th scope="row" title=${id}>${name}</th><td>${place}</td><td class="number">${free}</td><td class="number">${size}</td>
    <td><meter min="0" max="1" high="0.9" optimum="0" value=${share} aria-label=${words}>${words}</meter></td>
    <td>${trend(history.of(id))}</td><td>${note}</td>
  </tr>`;
}

const [width, height] = [120, 20];

function trend(line: ReturnType<History['of']>): VNode | string {
  const [first] = line;
  const last = line.at(-1);
  if (first === undefined || last === undefined || line.length < 2) return '';
  const counts = line.map(({ free }) => free);
  const [least, most] = [Math.min(...counts), Math.max(...counts)];
  const x = (at: number): number => (width * (at - first.at)) / Math.max(1, last.at - first.at);
  const y = (free: number): number =>
    height - 1 - ((height - 2) * (free - least)) / Math.max(1, most - least);
  const points = line.map(({ at, free }) => `${x(at).toFixed(1)},${y(free).toFixed(1)}`).join(' ');
  const change = last.free - first.free;
  return html`<svg width=${width} height=${height} role="img" aria-label=${`free addresses: ${change >= 0 ? '+' : ''}${change}`}><polyline points=${points} /></svg>`;
}
