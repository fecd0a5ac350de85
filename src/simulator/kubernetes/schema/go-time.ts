// Times on the wire: parsed as Go does, with its error texts, and written in UTC.
import { quoted } from '../go-text.ts';

export type ReadTime = { readonly time: string } | { readonly error: string };

interface LayoutPart {
  readonly layout: string;
  readonly pattern: RegExp;
}

const literal = (layout: string): LayoutPart => ({ layout, pattern: new RegExp(`^${layout}`) });
const digits = (layout: string): LayoutPart => ({ layout, pattern: new RegExp(`^\\d{${layout.length}}`) });
const zone: LayoutPart = { layout: 'Z07:00', pattern: /^(Z|[+-]\d{2}:\d{2})/ };
const date = [digits('2006'), literal('-'), digits('01'), literal('-'), digits('02'), literal('T')];
const clock = [digits('15'), literal(':'), digits('04'), literal(':')];
/** Go accepts a fraction after the seconds although the layout has none. */
const seconds: LayoutPart = { layout: '05', pattern: /^\d{2}([.,]\d+)?/ };
const micros: LayoutPart = { layout: '.000000', pattern: /^\.\d{6}/ };

const secondsLayout = [...date, ...clock, seconds, zone];
const microLayout = [...date, ...clock, digits('05'), micros, zone];

/** A time to the second, as in metadata. */
export function decodeTime(text: string): ReadTime {
  const time = usual(text, usualSeconds);
  if (time !== undefined) return { time: `${time.toISOString().slice(0, 19)}Z` };
  const error = misfit(text, secondsLayout);
  return error === undefined ? { time: `${utc(text).slice(0, 19)}Z` } : { error };
}

/** A time to the microsecond, as in leases and events. */
export function decodeMicroTime(text: string): ReadTime {
  const time = usual(text, usualMicros);
  if (time !== undefined) return { time: `${time.toISOString().slice(0, 19)}${text.slice(19, 26)}Z` };
  const error = misfit(text, microLayout);
  return error === undefined ? { time: `${utc(text).slice(0, 19)}${text.slice(19, 26)}Z` } : { error };
}

/** The form that this server writes, in which almost all times come back. */
const usualSeconds = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}Z$/;
const usualMicros = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{6}Z$/;

function usual(text: string, form: RegExp): Date | undefined {
  const time = form.test(text) ? new Date(text) : undefined;
  return time === undefined || Number.isNaN(time.valueOf()) ? undefined : time;
}

function utc(text: string): string {
  return new Date(text.replace(',', '.')).toISOString();
}

function misfit(text: string, layout: readonly LayoutPart[]): string | undefined {
  const whole = layout.map((part) => part.layout).join('');
  const failure = (rest: string): string => `parsing time ${quoted(text)} as ${quoted(whole)}: ${rest}`;
  let rest = text;
  for (const part of layout) {
    const found = part.pattern.exec(rest)?.[0];
    if (found === undefined) return failure(`cannot parse ${quoted(rest)} as ${quoted(part.layout)}`);
    rest = rest.slice(found.length);
  }
  if (rest !== '') return `parsing time ${quoted(text)}: extra text: ${quoted(rest)}`;
  return Number.isNaN(Date.parse(text.replace(',', '.')))
    ? `parsing time ${quoted(text)}: day out of range`
    : undefined;
}

/** Formats milliseconds since the epoch as metadata does. */
export function timeText(wall: number): string {
  return `${new Date(wall).toISOString().slice(0, 19)}Z`;
}
