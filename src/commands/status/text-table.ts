// Lays out text for a terminal of any width: tables that drop and shorten columns, and paragraphs. Without a width, every line
// is whole.

export interface Column {
  readonly title: string;
  readonly cells: readonly string[];
  /** Numbers stand at the right. */
  readonly right?: true;
  /** Left out where the table is too wide: the highest first. Without it, the column always stays. */
  readonly drop?: number;
}

const gap = 2;
/** Characters of a shortened column. */
const least = 12;

/** The titles, and a line for each row. */
export function tableLines(columns: readonly Column[], width: number | undefined): readonly string[] {
  const fitting = width === undefined ? columns.map(withSize) : fit(columns, width);
  const rows = columns[0]?.cells.length ?? 0;
  const line = (cell: (column: Column) => string): string =>
    fitting
      .map(({ column, size }) => {
        const shown = shortened(cell(column), size);
        return column.right ? shown.padStart(size) : shown.padEnd(size);
      })
      .join(' '.repeat(gap))
      .trimEnd();
  return [
    line(({ title }) => title),
    ...Array.from({ length: rows }, (_, row) => line(({ cells }) => cells[row] ?? '')),
  ];
}

interface Sized {
  readonly column: Column;
  readonly size: number;
}

function withSize(column: Column): Sized {
  return {
    column,
    size: column.cells.reduce((max, cell) => Math.max(max, cell.length), column.title.length),
  };
}

function fit(columns: readonly Column[], width: number): readonly Sized[] {
  let sized = columns.map(withSize);
  const excess = (): number => sized.reduce((sum, { size }) => sum + size + gap, -gap) - width;
  while (excess() > 0) {
    const last = Math.max(...sized.map(({ column }) => column.drop ?? -Infinity));
    if (last === -Infinity) break;
    sized = sized.filter(({ column }) => column.drop !== last);
  }
  const over = excess();
  const widest = sized.toSorted((a, b) => b.size - a.size)[0];
  if (over <= 0 || widest === undefined) return sized;
  const size = Math.min(widest.size, Math.max(least, widest.size - over));
  return sized.map((each) => (each === widest ? { ...each, size } : each));
}

/** Ids differ at their end. */
function shortened(cell: string, size: number): string {
  if (cell.length <= size) return cell;
  const end = Math.floor((size - 1) / 2);
  return `${cell.slice(0, size - 1 - end)}…${cell.slice(cell.length - end)}`;
}

const labelWidth = 12;

/** A label in a column of its own, and its text beside it in as many lines as it takes. */
export function paragraph(label: string, text: string, width: number | undefined): readonly string[] {
  const lines = width === undefined ? [text] : wrapped(text, Math.max(least, width - labelWidth));
  return lines.map((line, index) => `${(index === 0 ? label : '').padEnd(labelWidth)}${line}`.trimEnd());
}

function wrapped(text: string, width: number): readonly string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(/ +/)) {
    if (line !== '' && line.length + 1 + word.length > width) {
      lines.push(line);
      line = word;
    } else line = line === '' ? word : `${line} ${word}`;
  }
  return [...lines, line];
}
