// The table of figures as text. Pure.
import { isGood, type Outcome } from '../figure.ts';

type Row = readonly [figure: string, measured: string, limit: string, ratio: string, verdict: string];

const head: Row = ['figure', 'measured', 'limit', 'ratio', ''];
/** Longest line of a scenario. */
const width = 110;

/** One line a figure with its numbers, and below it the scenario and what stands behind the number. */
export function renderTable(outcomes: readonly Outcome[]): readonly string[] {
  const rows = outcomes.map(rowOf);
  const widths = head.map((cell, column) =>
    Math.max(cell.length, ...rows.map((row) => (row[column] ?? '').length)),
  );
  const line = (row: Row): string =>
    row
      .map((cell, column) =>
        column === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[column] ?? 0),
      )
      .join('  ')
      .trimEnd();
  const lines = [line(head)];
  outcomes.forEach((outcome, index) => {
    const row = rows[index];
    if (row !== undefined) lines.push(line(row), ...below(outcome));
  });
  return lines;
}

function rowOf(outcome: Outcome): Row {
  const { title, limit, unit, bound } = outcome.figure;
  const allowed = `${bound === 'exactly' ? '=' : '≤'} ${withUnit(limit, unit)}`;
  if (outcome.kind === 'failed') return [title, '-', allowed, '-', 'FAILED'];
  const { measured } = outcome.reading;
  const ratio = limit === 0 ? '-' : (measured / limit).toFixed(2);
  return [title, withUnit(measured, unit), allowed, ratio, isGood(outcome) ? 'ok' : 'NOT OK'];
}

function below(outcome: Outcome): readonly string[] {
  const { scenario } = outcome.figure;
  const details = outcome.kind === 'failed' ? outcome.why : outcome.reading.details;
  return [...wrapped(scenario), ...details.split('\n').flatMap((text) => wrapped(text, '    = '))];
}

function withUnit(value: number, unit: string): string {
  return `${format(value)} ${unit}`;
}

/** Three digits behind the point where they matter, none for whole numbers. */
function format(value: number): string {
  if (Number.isInteger(value)) return String(value);
  return value.toFixed(Math.abs(value) < 10 ? 3 : 1);
}

function wrapped(text: string, first = '    '): readonly string[] {
  if (text === '') return [];
  const lines: string[] = [];
  let line = first;
  for (const word of text.split(' ')) {
    if (line.length + word.length > width && line.trim() !== '') {
      lines.push(line.trimEnd());
      line = '      ';
    }
    line += `${word} `;
  }
  return [...lines, line.trimEnd()];
}
