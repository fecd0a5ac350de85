// Lays out text for a terminal of any width: tables that leave out and shorten columns, and paragraphs. Without a width, every
// line is whole.

export interface Line {
  readonly text: string;
  readonly style?: 'title' | 'good' | 'bad' | 'doubtful';
}

/** The rows of a table on a terminal. */
const maxRows = 20;

interface Table<T> {
  /** `drop`: left out where the table is too wide, the highest first. Without it, the column always stays. */
  readonly columns: readonly (readonly [title: string, cell: (row: T) => string | number, drop?: number])[];
}

const gap = '  ';
/** Characters of a shortened column. */
const least = 12;

interface Column {
  /** With the title. */
  readonly cells: readonly string[];
  readonly size: number;
  readonly isRight: boolean;
  readonly drop: number;
}

/** The titles, and a line for each row. A column without any text is left out. */
function tableLines<T>(
  rows: readonly T[],
  { columns: all }: Table<T>,
  width: number | undefined,
): readonly string[] {
  const columns = fit(
    all
      .map(([title, cell, drop = 0]) => columnOf(title, rows.map(cell), drop))
      .filter(({ cells }) => cells.slice(1).some((cell) => cell !== '')),
    width ?? Infinity,
  );
  return ['', ...rows].map((_, row) =>
    columns
      .map(({ cells, size, isRight }) => {
        const shown = shortened(cells[row] ?? '', size);
        return isRight ? shown.padStart(size) : shown.padEnd(size);
      })
      .join(gap)
      .trimEnd(),
  );
}

/** Numbers stand at the right. */
function columnOf(title: string, values: readonly (string | number)[], drop: number): Column {
  const cells = [title, ...values.map(String)];
  const isRight = values.every((value) => typeof value === 'number' || /^([?]?|[/]\d+|\d+ %)$/.test(value));
  return { cells, size: Math.max(...cells.map(({ length }) => length)), isRight, drop };
}

function fit(all: readonly Column[], width: number): readonly Column[] {
  let columns = all;
  const excess = (): number =>
    columns.reduce((sum, { size }) => sum + size + gap.length, -gap.length) - width;
  while (excess() > 0) {
    const last = Math.max(...columns.map(({ drop }) => drop));
    if (last === 0) break;
    columns = columns.filter(({ drop }) => drop !== last);
  }
  const over = excess();
  const widest = columns.toSorted((a, b) => b.size - a.size)[0];
  if (over <= 0 || widest === undefined) return columns;
  const size = Math.min(widest.size, Math.max(least, widest.size - over));
  return columns.map((each) => (each === widest ? { ...each, size } : each));
}

/** Ids differ at their end, and paths in their last parts, which are shown whole where they fill half of the space. */
function shortened(text: string, size: number): string {
  if (text.length <= size) return text;
  const parts = text.indexOf('/', text.length - size + 1);
  if (parts >= 0 && text.length - parts >= size / 2) return `…${text.slice(parts)}`;
  const end = Math.floor((size - 1) / 2);
  return `${text.slice(0, size - 1 - end)}…${text.slice(text.length - end)}`;
}

const labelWidth = 12;

/** A label in a column of its own, and its text beside it in as many lines as it takes. */
function paragraph(label: string, text: string, width: number | undefined): readonly string[] {
  const indent = Math.max(labelWidth, label.length + 1);
  // Beside its label, no word would fit.
  if (width !== undefined && width < indent + least)
    return [...(label === '' ? [] : [label]), ...wrapped(text, width)];
  const lines = width === undefined ? [text] : wrapped(text, width - indent);
  return lines.map((line, index) => `${(index === 0 ? label : '').padEnd(indent)}${line}`.trimEnd());
}

function wrapped(text: string, width: number): readonly string[] {
  const lines: string[] = [];
  let line = '';
  for (const whole of text.split(/ +/)) {
    const word = shortened(whole, width);
    if (line !== '' && line.length + 1 + word.length > width) {
      lines.push(line);
      line = word;
    } else line = line === '' ? word : `${line} ${word}`;
  }
  return [...lines, line];
}

/** Lines that are laid out once the width of the terminal is known; undefined without one: every line is whole then. */
export type Part = (width: number | undefined) => readonly Line[];

interface StyledTable<T> extends Table<T> {
  readonly style?: (row: T) => Line['style'];
}

/** No lines without rows. On a terminal, a long table ends early. */
export function table<T>(rows: readonly T[], { columns, style }: StyledTable<T>): Part {
  return (width) => {
    if (rows.length === 0) return [];
    const shown = width === undefined ? rows : rows.slice(0, maxRows);
    const styles = ['title' as const, ...shown.map((row) => style?.(row))];
    const more = rows.length - shown.length;
    return [
      ...tableLines(shown, { columns }, width).map((text, index) => lineOf(text, styles[index])),
      ...(more > 0 ? [{ text: `and ${more} more` }] : []),
    ];
  };
}

/** A label, and text beside it. No lines without text. */
export function told(label: string, text: string | undefined, style?: Line['style']): Part {
  return (width) =>
    text === undefined ? [] : paragraph(label, text, width).map((line) => lineOf(line, style));
}

/** A title: it begins with a name that may be long, and ends with what matters. */
export function title(text: string): Part {
  return (width) =>
    (width === undefined ? [text] : wrapped(text, width)).map((line) => lineOf(line, 'title'));
}

/** The sections that have any lines, with an empty line between them. */
export function laidOut(sections: readonly (readonly Part[])[], width: number | undefined): readonly Line[] {
  return sections
    .map((parts) => parts.flatMap((part) => part(width)))
    .filter((lines) => lines.length > 0)
    .flatMap((lines, index) => (index === 0 ? lines : [{ text: '' }, ...lines]))
    .map((line) => ({ ...line, text: cut(line.text, width) }));
}

function lineOf(text: string, style: Line['style']): Line {
  return style === undefined ? { text } : { text, style };
}

function cut(text: string, width: number | undefined): string {
  return width === undefined || text.length <= width ? text : `${text.slice(0, Math.max(0, width - 1))}…`;
}
