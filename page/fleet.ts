// The controller and what is wrong with it, the nodes, and the reasons of nodes.
import type { VNode } from 'preact';
import { headLines } from '../src/commands/status/status-lines.ts';
import type { ShownReport } from '../src/commands/status/served-report.ts';
import { nameInWords } from '../src/commands/status/words.ts';
import { addressOf } from './chosen-node.ts';
import { NodeMap } from './node-map.ts';
import { NodeSearch } from './node-search.ts';
import { tilesOf } from './tiles.ts';
import { html } from 'htm/preact';
import { useMemo } from 'preact/hooks';

interface FleetProps {
  readonly report: ShownReport;
  readonly unready: string | undefined;
  readonly chosen: string | undefined;
}

/** The lines of the command status above its counts. */
export function Controller({ report, unready }: Omit<FleetProps, 'chosen'>): VNode | string {
  const { identity, state, version, leader } = report;
  const lines = headLines({ report, unready }).slice(1);
  return html`
    <section aria-labelledby="fleet">
      <h2 id="fleet">${identity}: ${state}${version === undefined ? '' : `, version ${version}`}</h2>
      ${leader === undefined ? '' : html`<p>The leader is ${leader}: its page has the whole report.</p>`}
      <pre>${lines.map(({ text, style = '' }) => html`<span class=${style} role=${text.startsWith('problems') ? 'status' : undefined}>${`${text}\n`}</span>`)}</pre>
    </section>
  `;
}

/** Only the leader knows any. */
export function Nodes({ report, chosen }: Omit<FleetProps, 'unready'>): VNode | string {
  const { nodes, pendingPods, addresses = [], nodeNames, inDeficit, waiting, warnings } = report;
  // Most reads change no tile, and drawing thousands anew takes a while.
  const shown = JSON.stringify([nodeNames, inDeficit, waiting, warnings]);
  const states = useMemo(() => tilesOf(report), [shown]);
  const names = useMemo(() => states.flatMap(({ tiles }) => tiles.map(({ node }) => node)), [states]);
  if (nodes === undefined) return '';
  return html`
    <section aria-labelledby="nodes">
      <h2 id="nodes">Nodes</h2>
      <dl>
        ${[...nodes, ...(pendingPods === undefined ? [] : [['pods waiting', pendingPods] as const])].map(
          ([name, count]) => html`<div><dt>${nameInWords(name)}</dt><dd>${count}</dd></div>`,
        )}
        ${addresses.map(([name, count]) => html`<div><dt>addresses ${nameInWords(name)}</dt><dd>${count}</dd></div>`)}
      </dl>
      ${
        names.length === 0
          ? html`<p>No node is known yet.</p>`
          : html`<${NodeSearch} names=${names} /><${NodeMap} states=${states} chosen=${chosen} />`
      }
    </section>
  `;
}

export function Reasons({ report }: Pick<FleetProps, 'report'>): VNode | string {
  const { inDeficit = [], waiting = [], warnings = [], omitted = [] } = report;
  const rows = [...inDeficit, ...waiting, ...warnings].filter(({ reason }) => reason !== undefined);
  if (rows.length === 0) return '';
  const byText = Map.groupBy(rows, ({ reason = '', why = '' }) => `${reason}\n${why}`);
  return html`
    <section aria-labelledby="reasons">
      <h2 id="reasons">Reasons, and what to do</h2>
      <ul>
        ${[...byText].map(([text, of]) => {
          const [reason, why] = text.split('\n', 2);
          const nodes = of.map(({ name = '', node = name }) => node);
          return html`<li key=${text}><strong>${reason}</strong> ${why}<br />on ${linksTo(nodes)}</li>`;
        })}
      </ul>
      ${omitted.map(([list, count]) => html`<p>${count} more of ${nameInWords(list)} are not listed.</p>`)}
    </section>
  `;
}

/** The tiles show the others. */
const mostLinks = 10;

function linksTo(nodes: readonly string[]): readonly (VNode | string)[] {
  const more = nodes.length - mostLinks;
  const links = nodes
    .slice(0, mostLinks)
    .map((node, index) => html`${index === 0 ? '' : ', '}<a href=${addressOf(node)}>${node}</a>`);
  return more > 0 ? [...links, ` and ${more} more`] : links;
}
