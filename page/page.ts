// The page that the HTTP server shows at `/`: what `headwater status` and `headwater explain` say, for people who would rather
// look. It reads the same answers of the same server, changes nothing, and takes its words from the commands.
import { h, render, type VNode } from 'preact';
import { html } from 'htm/preact';
import { nodeIn, reportIn, type ShownReport, type ToldOfNode } from '../src/commands/status/served-report.ts';
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

/** The node that the address names: `#node=NAME`. */
function chosenNode(): string | undefined {
  const name = new URLSearchParams(location.hash.slice(1)).get('node')?.trim();
  return name === undefined || name === '' ? undefined : name;
}

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
    const [status] = await Promise.all([read('status'), readNode()]);
    const report = reportIn(status);
    shown.problem = report === undefined ? 'the answer is not the report of a controller' : undefined;
    if (report === undefined) return;
    shown.report = report;
    shown.unready = report.ready === false ? (report.notReadyBecause ?? 'it does not say why') : undefined;
    shown.readAt = new Date();
    history.add(report, shown.readAt.getTime());
  } catch (error) {
    shown.problem = error instanceof Error ? error.message : String(error);
  }
}

function show(): void {
  const root = document.querySelector('main');
  if (root !== null) render(h(Page, null), root);
}

function Page(): VNode | string {
  const { report, unready, problem, node } = shown;
  if (report === undefined) return html`<p role="status">${problem ?? 'reading'}</p>`;
  return html`
    ${problem === undefined ? '' : html`<p role="alert" class="bad">not read since ${age()}: ${problem}</p>`}
    <${Controller} report=${report} unready=${unready} />
    <${Nodes} report=${report} choose=${choose} />
    ${
      node === undefined
        ? ''
        : html`<${NodeView} name=${node.name} told=${node.told} served=${{ report, unready }} close=${choose} />`
    }
    <${Reasons} report=${report} choose=${choose} />
    <${SupplyTable} report=${report} history=${history} />
    <${Budgets} report=${report} />
  `;
}

function age(): string {
  return shown.readAt?.toLocaleTimeString() ?? 'the start';
}

function choose(name: string): void {
  location.hash = name === '' ? '' : `node=${encodeURIComponent(name)}`;
}

async function begin(): Promise<never> {
  for (;;) {
    await refresh();
    show();
    await new Promise((resolve) => void setTimeout(resolve, interval));
  }
}

addEventListener('hashchange', () => {
  void readNode()
    .catch((error: unknown) => {
      shown.problem = String(error);
    })
    .then(show);
});
show();
void begin();
