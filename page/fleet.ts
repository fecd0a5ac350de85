// The controller and what is wrong with it, a tile for each node, and the reasons of nodes.
import type { VNode } from 'preact';
import { headLines } from '../src/commands/status/status-lines.ts';
import type { ShownReport } from '../src/commands/status/served-report.ts';
import { nameInWords } from '../src/commands/status/words.ts';
import { html } from 'htm/preact';

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
      <div class="tiles" role="img" aria-label=${states.map(([name, count]) => `${count} ${nameInWords(name)}`).join(', ')}>
        ${states.map(([name, count]) =>
          Array.from(
            { length: count },
            () => html`<i class=${tileClass(name)} title=${nameInWords(name)}></i>`,
          ),
        )}
      </div>
      <form onSubmit=${ask}>
        <label>Explain a node <input name="node" placeholder="its name" autocomplete="off" spellcheck=${false} /></label>
        <button>Explain</button>
      </form>
    </section>
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
