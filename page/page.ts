// The page that the HTTP server shows at `/`: what `headwater status` and `headwater explain` say, for people who would rather
// look. It reads the same answers of the same server, changes nothing, and takes its words from the commands.
import { h, render, type VNode } from 'preact';
import { html } from 'htm/preact';
import { nodeIn, reportIn, type ShownReport, type ToldOfNode } from '../src/commands/status/served-report.ts';
import { chosenNode } from './chosen-node.ts';
import { Controller, Nodes, Reasons } from './fleet.ts';
import { History } from './history.ts';
import { NodeView } from './node-view.ts';
import { Budgets, SupplyTable } from './supply-table.ts';

/** Between two reads, in ms: the server renders no more often than once a second. */
const interval = 5000;

interface Shown {
  report: ShownReport | undefined;
  unready: string | undefined;
  /** Why the last read failed; what is shown is older then. */
  problem: string | undefined;
  readAt: Date | undefined;
  node: { readonly name: string; readonly told: ToldOfNode | undefined } | undefined;
}

const shown: Shown = {
  report: undefined,
  unready: undefined,
  problem: undefined,
  readAt: undefined,
  node: undefined,
};
const history = new History();

async function read(path: string): Promise<string> {
  const answer = await fetch(path, { signal: AbortSignal.timeout(2 * interval), cache: 'no-store' });
  return answer.text();
}

async function readNode(): Promise<void> {
  const name = chosenNode();
  if (name === undefined) {
    shown.node = undefined;
    return;
  }
  if (shown.node?.name !== name) shown.node = { name, told: undefined };
  const text = await read(`status?node=${encodeURIComponent(name)}`);
  // Another one may be chosen meanwhile.
  if (chosenNode() === name) shown.node = { name, told: nodeIn(text) };
}

async function refresh(): Promise<void> {
  try {
    const [status] = await Promise.all([read('status?nodes'), readNode()]);
    const report = reportIn(status);
    shown.problem = report === undefined ? 'the answer is not the report of a controller' : undefined;
    if (report === undefined) return;
    shown.report = report;
    shown.unready = report.ready === false ? (report.notReadyBecause ?? 'it does not say why') : undefined;
    shown.readAt = new Date();
    history.add(report, shown.readAt.getTime());
  } catch (error) {
    shown.problem = reasonOf(error);
  }
}

/** Browsers do not say why they got no answer. */
function reasonOf(error: unknown): string {
  if (error instanceof TypeError) return 'the controller does not answer: it ended, or the port-forward did';
  return error instanceof Error ? error.message : String(error);
}

function show(): void {
  const root = document.querySelector('main');
  if (root !== null) render(h(Page, null), root);
}

function Page(): VNode | string {
  const { report, unready, problem, node } = shown;
  if (report === undefined) return html`<p role="status">${problem ?? 'reading'}</p>`;
  return html`
    ${
      problem === undefined
        ? html`<p>read at ${age()}, and every ${interval / 1000} s while this page is in view</p>`
        : html`<p role="alert" class="bad">not read since ${age()}: ${problem}</p>`
    }
    <${Controller} report=${report} unready=${unready} />
    <${Nodes} report=${report} chosen=${node?.name} />
    ${
      node === undefined
        ? ''
        : html`<${NodeView} name=${node.name} told=${node.told} served=${{ report, unready }} />`
    }
    <${Reasons} report=${report} />
    <${SupplyTable} report=${report} history=${history} />
    <${Budgets} report=${report} />
  `;
}

function age(): string {
  return shown.readAt?.toLocaleTimeString() ?? 'the start';
}

async function begin(): Promise<never> {
  for (;;) {
    await inView();
    await refresh();
    show();
    await new Promise((resolve) => void setTimeout(resolve, interval));
  }
}

/** Nobody looks at a hidden page: it asks for nothing. */
async function inView(): Promise<void> {
  while (document.hidden)
    await new Promise((resolve) => document.addEventListener('visibilitychange', resolve, { once: true }));
}

/** The link that led to the node that is shown: who closes it goes on from there. */
let origin: Element | null = null;

addEventListener('hashchange', () => {
  if (chosenNode() !== undefined && document.activeElement?.closest('.node') === null)
    origin = document.activeElement;
  void readNode()
    .catch((error: unknown) => {
      shown.problem = reasonOf(error);
    })
    .then(show)
    .then(() => {
      if (chosenNode() === undefined && origin instanceof HTMLElement) origin.focus();
    });
});
show();
void begin();
