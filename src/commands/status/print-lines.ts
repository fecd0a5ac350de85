// Prints lines: in colour and to its width on a terminal, whole and plain elsewhere.
import { thisProcess } from '../../config/process-environment.ts';
import type { Line } from './text-table.ts';

/** `lines`: for a terminal of `width` columns, or undefined without one. */
export function printLines(lines: (width: number | undefined) => readonly Line[]): void {
  // A terminal that does not know its size has 0 columns.
  const shown = lines(process.stdout.columns || undefined);
  process.stdout.write(shown.map((line) => `${painted(line)}\n`).join(''));
}

/** As many as fit a terminal of `rows` rows, the last one being of what is left out. */
export function frameOf(lines: readonly Line[], rows: number): readonly string[] {
  const left = lines.length - Math.max(1, rows);
  const shown = left > 0 ? [...lines.slice(0, -left - 1), { text: `and ${left + 1} more lines` }] : lines;
  return shown.map(painted);
}

/** Colour only for people, and not for those who asked for none: https://no-color.org */
function painted({ text, style }: Line): string {
  const code = style === undefined ? undefined : codes[style];
  const isColoured = process.stdout.isTTY && !thisProcess.environment['NO_COLOR'];
  return code === undefined || !isColoured ? text : `\u001b[${code}m${text}\u001b[0m`;
}

const codes = { title: 1, good: 32, bad: 31, doubtful: 33 } as const satisfies Record<
  NonNullable<Line['style']>,
  number
>;
