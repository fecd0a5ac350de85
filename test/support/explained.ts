// What `headwater explain` prints of a controller's answers, without a terminal.
import { explainLines } from '../../src/commands/status/explain-lines.ts';
import { nodeIn, reportIn } from '../../src/commands/status/served-report.ts';

export interface AskedController {
  status(): object;
  node(name: string): object;
}

/** The lines; empty for a node that is not known. `width`: of the terminal. */
export function explained(controller: AskedController, name: string, width?: number): readonly string[] {
  const node = nodeIn(JSON.stringify(controller.node(name)));
  const report = reportIn(JSON.stringify(controller.status()));
  if (node?.known !== true || report === undefined) return [];
  return explainLines(node, { report, unready: undefined }, width).map(({ text }) => text);
}

/** The texts under a label. */
export function toldOf(lines: readonly string[], label: string): readonly string[] {
  return lines.flatMap((line) => (line.startsWith(`${label} `) ? line.slice(label.length).trim() : []));
}
