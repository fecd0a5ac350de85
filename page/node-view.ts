// One node, from its need to the remedy: the lines of the command explain.
import type { VNode } from 'preact';
import { explainLines } from '../src/commands/status/explain-lines.ts';
import type { Served, ToldOfNode } from '../src/commands/status/served-report.ts';
import { html } from 'htm/preact';

interface NodeViewProps {
  readonly name: string;
  /** Undefined until it is read. */
  readonly told: ToldOfNode | undefined;
  readonly served: Pick<Served, 'report' | 'unready'>;
}

export function NodeView({ name, told, served }: NodeViewProps): VNode | string {
  const leave = (): void => {
    location.hash = '';
  };
  return html`
    <section aria-labelledby="node" class="node">
      <h2 id="node" tabindex="-1" ref=${focusOnce}>Node ${name}</h2>
      <button onClick=${leave}>Close</button>
      ${linesOf(told, served)}
    </section>
  `;
}

/** Where the answer stands, for keyboards and screen readers: once for each node that is chosen. */
let focused: string | undefined;
function focusOnce(heading: HTMLElement | null): void {
  const name = heading?.textContent ?? undefined;
  if (name !== undefined && name !== focused) heading?.focus();
  focused = name;
}

function linesOf(told: ToldOfNode | undefined, served: NodeViewProps['served']): VNode | string {
  if (told === undefined) return html`<p role="status">reading</p>`;
  if (!told.known) {
    const { nearest } = told;
    return html`<p class="bad">No such node is known.${nearest === undefined ? '' : ` Did you mean ${nearest}?`}</p>`;
  }
  return html`<pre tabindex="0">${explainLines(told, served, undefined).map(
    ({ text, style = '' }) => html`<span class=${style}>${`${text}\n`}</span>`,
  )}</pre>`;
}
