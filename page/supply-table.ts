// Subnets or pools with what they have left and how that changed, and the budgets of calls.
import type { VNode } from 'preact';
import type { ShownReport } from '../src/commands/status/served-report.ts';
import { isExhausted } from '../src/commands/status/status-lines.ts';
import { ageInWords } from '../src/commands/status/words.ts';
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
  /** Undefined while it is not counted yet. */
  readonly free: number | undefined;
  readonly size: number;
  /** Addresses of a subnet on interfaces of nodes, and how many of them pods use. */
  readonly held: number | '?' | undefined;
  readonly used: number | '?' | undefined;
  readonly isExhausted: boolean;
  readonly note: string;
}

/** A subnet has addresses, and a pool has blocks. */
export function SupplyTable({ report, history }: SupplyProps): VNode | string {
  const rows = rowsOf(report);
  if (rows.length === 0) return '';
  const isOfSubnets = report.subnets !== undefined;
  const [name, unit] = isOfSubnets ? ['Subnets', 'addresses'] : ['Pools', 'blocks'];
  return html`<section aria-labelledby="supply">
    <h2 id="supply">${name}</h2>
    <table>
      <thead><tr>
        <th>name</th><th class="number">free ${unit}</th><th class="number">of</th><th class="wide">taken</th>
        ${isOfSubnets ? html`<th class="number wide">held for pods</th><th class="number wide">used by pods</th>` : ''}
        <th>state</th><th class="trend">free ${unit} since this page is open</th>
      </tr></thead>
      <tbody>${rows.map((row) => rowView(row, history))}</tbody>
    </table>
  </section>`;
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
      <thead><tr><th>call</th>${['tokens left', 'of', 'refill a second', 'throttled'].map((title) => html`<th class="number">${title}</th>`)}</tr></thead>
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
            ${[Math.floor(tokens), capacity, refillPerSecond, throttled].map((count) => html`<td class="number">${tenths(count)}</td>`)}
          </tr>`,
        )}</tbody>
    </table>
  </details>`;
}

function tenths(count: number): number {
  return Math.round(10 * count) / 10;
}

function rowsOf({ subnets = [], pools = [] }: ShownReport): readonly Row[] {
  const rows = [
    ...subnets.map(
      ({ id, name, zone, cidr, free, size, exhausted, fragmented, daysLeft, counted, held, used }): Row => ({
        id,
        // What differs between ids of one cloud stands at their end.
        name: name ?? id.slice(id.lastIndexOf('/') + 1),
        place: `${zone} ${cidr}`.trim(),
        free: counted ? free : undefined,
        size,
        held: held ?? '?',
        used: used ?? '?',
        isExhausted: exhausted || (counted && free === 0),
        note: [
          ...(counted ? [] : ['not counted yet']),
          ...(fragmented ? ['no /28 left'] : []),
          ...fullIn(daysLeft),
        ].join(', '),
      }),
    ),
    ...pools.map((pool) => poolRow(pool, isExhausted(pool, pools))),
  ];
  // The fullest stands first, and the uncounted last.
  return rows.toSorted((a, b) => shareFree(a) - shareFree(b));
}

function poolRow(
  { pool, cidr, maskSize, free, capacity, waiting, daysLeft }: NonNullable<ShownReport['pools']>[number],
  isWithoutBlocks: boolean,
): Row {
  return {
    id: `${pool} ${cidr}`,
    name: pool,
    place: `${cidr} in blocks of /${maskSize}`,
    free,
    size: capacity,
    held: undefined,
    used: undefined,
    isExhausted: isWithoutBlocks,
    note: [
      ...(free === 0 && !isWithoutBlocks ? ['full'] : []),
      ...(waiting > 0 ? [`${waiting} waiting`] : []),
      ...fullIn(daysLeft),
    ].join(', '),
  };
}

function shareFree({ free, size }: Row): number {
  return free === undefined ? 2 : free / Math.max(1, size);
}

function fullIn(days: number | undefined): readonly string[] {
  return days === undefined ? [] : [`full in ${days.toFixed(1)} days`];
}

function rowView(row: Row, history: History): VNode | string {
  const { id, name, place, free, size, held, used, note, isExhausted: isBad } = row;
  const state = [...(isBad ? ['exhausted'] : []), ...(note === '' ? [] : [note])].join(', ');
  return html`<tr class=${isBad ? 'bad' : ''}>
    <th scope="row" title=${id}>${name}<small>${place}</small></th><td class="number">${free ?? '?'}</td><td class="number">${size}</td>
    <td class="wide">${free === undefined ? '' : takenOf(row)}</td>
    ${[held, used].map((count) => (count === undefined ? '' : html`<td class="number wide">${count}</td>`))}
    <td>${state}</td><td>${trend(history.of(id))}</td>
  </tr>`;
}

function takenOf(row: Row): VNode | string {
  const share = 1 - shareFree(row);
  const words = `${Math.floor(100 * share)} %`;
  return html`<meter min="0" max="1" high="0.9" optimum="0" value=${share} aria-hidden="true"></meter> ${words}`;
}

const [width, height] = [120, 20];

/** The line, and what it says. */
function trend(line: ReturnType<History['of']>): VNode | string {
  const [first] = line;
  const last = line.at(-1);
  if (first === undefined || last === undefined || line.length < 2) return '';
  const change = last.free - first.free;
  const words = change === 0 ? 'no change' : `${change > 0 ? '+' : '−'}${Math.abs(change)}`;
  const counts = line.map(({ free }) => free);
  const [least, most] = [Math.min(...counts), Math.max(...counts)];
  const x = (at: number): number => (width * (at - first.at)) / Math.max(1, last.at - first.at);
  const y = (free: number): number => height - 1 - ((height - 2) * (free - least)) / (most - least);
  const points = line.map(({ at, free }) => `${x(at).toFixed(1)},${y(free).toFixed(1)}`).join(' ');
  const drawn =
    most === least
      ? ''
      : html`<svg width=${width} height=${height} aria-hidden="true"><polyline points=${points} /></svg> `;
  return html`${drawn}${words} in ${ageInWords(Math.round((last.at - first.at) / 1000))}`;
}
