// The controller and what is wrong with it, a tile for each node, and the reasons of nodes.
import type { VNode } from 'preact';
import { headLines } from '../src/commands/status/status-lines.ts';
import type { ShownReport } from '../src/commands/status/served-report.ts';
import { nameInWords } from '../src/commands/status/words.ts';
import { html } from 'htm/preact';
import { useState } from 'preact/hooks';

interface FleetProps {
  readonly report: ShownReport;
  readonly unready: string | undefined;
  readonly choose: (node: string) => void;
}

/** The states in which nothing is wrong. */
const well: readonly string[] = ['satisfied', 'served', 'at_capacity'];

/** The lines of the command status above its counts. */
export function Controller({ report, unready }: Omit<FleetProps, 'choose'>): VNode | string {
  const { identity, state, version, leader } = report;
  const lines = headLines({ report, unready }, undefined).slice(1);
  return html`
    <section aria-labelledby="fleet">
      <h2 id="fleet">${identity}: ${state}${version === undefined ? '' : `, version ${version}`}</h2>
      ${leader === undefined ? '' : html`<p>The leader is ${leader}: its page has the whole report.</p>`}
      <pre role="status">${lines.map(({ text, style = '' }) => html`<span class=${style}>${`${text}\n`}</span>`)}</pre>
    </section>
  `;
}

export function Nodes({ report, choose }: Omit<FleetProps, 'unready'>): VNode | string {
  const { nodes = [], pendingPods, addresses = [] } = report;
  const states = nodes.filter(([name, count]) => name !== 'total' && count > 0);
  const named = namedTiles(report);
  const ask = (event: Event): void => {
    event.preventDefault();
    const field = (event.target as HTMLFormElement).elements.namedItem('node');
    if (field instanceof HTMLInputElement) choose(field.value);
  };
  return html`
    <section aria-labelledby="nodes">
      <h2 id="nodes">Nodes</h2>
      <dl>
        ${[...nodes, ...(pendingPods === undefined ? [] : [['pods waiting', pendingPods] as const])].map(
          ([name, count]) => html`<div><dt>${nameInWords(name)}</dt><dd>${count}</dd></div>`,
        )}
        ${addresses.map(([name, count]) => html`<div><dt>addresses ${nameInWords(name)}</dt><dd>${count}</dd></div>`)}
      </dl>
      <div class="tiles">
        <${NamedTiles} tiles=${named} choose=${choose} />
        <div role="img" aria-label=${states.map(([name, count]) => `${count} ${nameInWords(name)}`).join(', ')}>
          ${unnamed(states, named).map(([name, count]) =>
            Array.from(
              { length: count },
              () => html`<i class=${tileClass(name)} title=${nameInWords(name)}></i>`,
            ),
          )}
        </div>
      </div>
      <form onSubmit=${ask}>
        <label>Explain a node <input name="node" placeholder="its name" autocomplete="off" spellcheck=${false} /></label>
        <button>Explain</button>
      </form>
    </section>
  `;
}

/** A node that the report names, because something is wrong with it. */
interface NamedTile {
  readonly node: string;
  /** Its state in words, with the reason and what to do. */
  readonly words: string;
  readonly style: 'bad' | 'doubtful';
}

function namedTiles({ inDeficit = [], waiting = [], warnings = [] }: ShownReport): readonly NamedTile[] {
  const tiles = [
    ...inDeficit.map((entry) => tileOf(entry, 'lacks addresses', 'bad')),
    ...waiting.map((entry) => tileOf(entry, 'waits for a block', 'bad')),
    ...warnings.map((entry) => tileOf(entry, 'is served, with a warning', 'doubtful')),
  ];
  // The first list says what is worst.
  return [...Map.groupBy(tiles, ({ node }) => node).values()].flatMap(([tile]) => tile ?? []);
}

type Entry = NonNullable<ShownReport['warnings']>[number];

function tileOf(
  { name = '', node = name, reason, why }: Entry,
  state: string,
  style: NamedTile['style'],
): NamedTile {
  return { node, words: [state, reason, why].filter((word) => word !== undefined).join(': '), style };
}

type Counts = readonly (readonly [state: string, count: number])[];

/** How many nodes of each state have no tile of their own. */
function unnamed(states: Counts, named: readonly NamedTile[]): Counts {
  const left = { bad: 0, doubtful: 0 };
  for (const { style } of named) left[style]++;
  return states.map(([state, count]) => {
    const style = well.includes(state) ? 'doubtful' : 'bad';
    const taken = Math.min(count, left[style]);
    left[style] -= taken;
    return [state, count - taken];
  });
}

/** How far the arrow keys lead. */
const steps: Readonly<Record<string, number>> = {
  ArrowRight: 1,
  ArrowDown: 1,
  ArrowLeft: -1,
  ArrowUp: -1,
  Home: -Infinity,
  End: Infinity,
};

/** One tab stop: arrows, Home and End lead from tile to tile. */
function NamedTiles({
  tiles,
  choose,
}: Pick<FleetProps, 'choose'> & { readonly tiles: readonly NamedTile[] }): VNode | string {
  const [stop, setStop] = useState(0);
  if (tiles.length === 0) return '';
  const last = tiles.length - 1;
  const current = Math.min(stop, last);
  const move = (event: KeyboardEvent): void => {
    const step = steps[event.key];
    if (step === undefined) return;
    event.preventDefault();
    const next = Math.max(0, Math.min(last, current + step));
    setStop(next);
    const found = (event.currentTarget as HTMLElement).children.item(next);
    if (found instanceof HTMLElement) found.focus();
  };
  return html`
    <div role="group" aria-label="nodes with a reason: arrow keys lead from one to the next" onKeyDown=${move}>
      ${tiles.map(({ node, words, style }, index) => {
        const text = `${node}: ${words}`;
        const explain = (): void => {
          setStop(index);
          choose(node);
        };
        return html`<button key=${node} class=${style} title=${text} aria-label=${text} tabindex=${index === current ? 0 : -1} onClick=${explain}></button>`;
      })}
    </div>
  `;
}

function tileClass(state: string): string {
  if (well.includes(state)) return 'good';
  return state === 'blocked' || state === 'waiting' ? 'bad' : 'doubtful';
}

export function Reasons({ report, choose }: Omit<FleetProps, 'unready'>): VNode | string {
  const { inDeficit = [], waiting = [], warnings = [], omitted = [] } = report;
  const rows = [...inDeficit, ...waiting, ...warnings].filter(({ reason }) => reason !== undefined);
  if (rows.length === 0) return '';
  return html`
    <section aria-labelledby="reasons">
      <h2 id="reasons">Reasons, and what to do</h2>
      <ul>
        ${rows.map(({ name, node = name ?? '', reason, why }) => {
          const explain = (): void => choose(node);
          return html`<li><button onClick=${explain}>${node}</button> <strong>${reason}</strong> ${why}</li>`;
        })}
      </ul>
      ${omitted.map(([list, count]) => html`<p>${count} more of ${nameInWords(list)} are not listed.</p>`)}
    </section>
  `;
}
