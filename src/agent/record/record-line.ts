// Lines of the record's files: a number that goes up by one, a check sum of the number and the text, and the text. A line that
// was changed, lost, repeated or moved is found when the file is read.
import { isUtf8 } from 'node:buffer';
import { crc32 } from 'node:zlib';

export function recordLine(number: number, text: string): string {
  return `${number} ${sumOf(number, text)} ${text}\n`;
}

export interface RecordLine {
  readonly number: number;
  readonly text: string;
}

/** Undefined if it is none that `recordLine` has made. */
export function parseLine(line: string): RecordLine | undefined {
  const match = /^(\d{1,15}) ([\da-f]{8}) (.*)$/.exec(line);
  if (match === null) return undefined;
  const [, digits = '', sum = '', text = ''] = match;
  const number = Number(digits);
  return sumOf(number, text) === sum ? { number, text } : undefined;
}

/** The lines that have an end; undefined if they are no text. */
export function wholeLines(
  all: Buffer,
): { readonly lines: readonly string[]; readonly bytes: number } | undefined {
  const bytes = all.lastIndexOf('\n') + 1;
  const whole = all.subarray(0, bytes);
  if (!isUtf8(whole)) return undefined;
  return { lines: whole.toString().split('\n').slice(0, -1), bytes };
}

function sumOf(number: number, text: string): string {
  return crc32(`${number} ${text}`).toString(16).padStart(8, '0');
}
