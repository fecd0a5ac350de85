// Reads the files of a record: a snapshot and a journal. The first line of the snapshot says whose record it is, and the number
// of the last change that it has; the journal goes on from there. A file that cannot be what this program wrote is damaged.
//
// Version 1 had bare changes as lines, and no owner. It is read, and replaced as soon as something can be written.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isUtf8 } from 'node:buffer';
import { crc32 } from 'node:zlib';
import { objectIn } from '../../runtime/json.ts';
import type { Holdings } from '../ipam/holdings.ts';
import { parseChange } from './change-text.ts';

/** The node and boot whose pods hold the addresses of the record. */
export interface RecordOwner {
  readonly boot: string;
  readonly node: string;
}

export interface StoredRecord {
  readonly kind: 'read';
  /** Undefined in a record that is new, or of version 1. */
  readonly owner: RecordOwner | undefined;
  /** The number of changes ever written into the record. */
  readonly last: number;
  /** The length of the valid part of the journal, in bytes and in lines. */
  readonly bytes: number;
  readonly lines: number;
  /** False: nothing may be appended before there is a snapshot of this version. */
  readonly isCurrent: boolean;
}

type Snapshot = Pick<StoredRecord, 'owner' | 'last' | 'isCurrent'>;
type Journal = Pick<StoredRecord, 'last' | 'bytes' | 'lines' | 'isCurrent'>;

const version = 2;
const firstVersionStart = '{"headwater":"addresses","version":1}';
const snapshotEnd = '{"headwater":"end"}';

/** Applies what the files in the directory have. Throws what Node.js throws. */
export function readStored(
  directory: string,
  holdings: Holdings,
): StoredRecord | { readonly kind: 'damaged'; readonly problem: string } {
  const [snapshotPath, journalPath] = [join(directory, 'snapshot'), join(directory, 'journal')];
  const [snapshotBytes, journalBytes] = [bytesOf(snapshotPath), bytesOf(journalPath)];
  const snapshot = readSnapshot(snapshotBytes, holdings);
  if (snapshot === undefined) return { kind: 'damaged', problem: `${snapshotPath} is damaged` };
  const journal = readJournal(journalBytes, snapshot, holdings);
  if (journal === undefined) return { kind: 'damaged', problem: `${journalPath} is damaged` };
  return { kind: 'read', owner: snapshot.owner, ...journal };
}

/** All that is held. `last`: the number of the last change that led to it. */
export function snapshotText({ boot, node }: RecordOwner, last: number, holdings: Holdings): string {
  const start = JSON.stringify({ headwater: 'addresses', version, boot, node, last });
  const changes = Array.from(holdings.changes(), (change) => JSON.stringify(change));
  return [start, ...changes, snapshotEnd].map((text, index) => recordLine(index, text)).join('');
}

function readSnapshot(all: Buffer, holdings: Holdings): Snapshot | undefined {
  if (all.byteLength === 0) return { owner: undefined, last: 0, isCurrent: false };
  const whole = wholeLines(all);
  if (whole === undefined || whole.bytes < all.byteLength) return undefined;
  const [first = '', ...rest] = whole.lines;
  const isFirstVersion = first === firstVersionStart;
  const texts = isFirstVersion ? rest : whole.lines.map(textOfNumber);
  const start = isFirstVersion
    ? { owner: undefined, last: rest.length, isCurrent: false }
    : parseStart(texts.shift());
  const isWhole = texts.pop() === snapshotEnd && applyAll(texts, holdings);
  return isWhole ? start : undefined;
}

function readJournal(all: Buffer, snapshot: Snapshot, holdings: Holdings): Journal | undefined {
  const whole = wholeLines(all);
  if (whole === undefined) return undefined;
  const { lines, bytes } = whole;
  const [firstLine] = lines;
  if (firstLine === undefined) return { ...snapshot, bytes: 0, lines: 0 };
  if (!firstLine.startsWith('{')) return readNumbered(lines, bytes, snapshot, holdings);
  const last = snapshot.last + lines.length;
  return applyAll(lines, holdings) ? { last, bytes, lines: lines.length, isCurrent: false } : undefined;
}

/** Skips lines that the snapshot already has: an agent was killed before it could empty the journal. */
function readNumbered(
  lines: readonly string[],
  bytes: number,
  snapshot: Snapshot,
  holdings: Holdings,
): Journal | undefined {
  const first = parseLine(lines[0] ?? '')?.number ?? Infinity;
  if (!snapshot.isCurrent || first > snapshot.last + 1) return undefined;
  const texts = lines.map((line, index) => textOfNumber(line, first + index));
  const later = texts.slice(snapshot.last + 1 - first);
  if (texts.includes(undefined) || !applyAll(later, holdings)) return undefined;
  const counts = later.length === 0 ? { bytes: 0, lines: 0 } : { bytes, lines: lines.length };
  return { ...counts, last: snapshot.last + later.length, isCurrent: true };
}

/** Undefined if the line has another number, or is none. */
function textOfNumber(line: string, number: number): string | undefined {
  const read = parseLine(line);
  return read?.number === number ? read.text : undefined;
}

/** Returns whether all are changes. */
function applyAll(texts: readonly (string | undefined)[], holdings: Holdings): boolean {
  for (const text of texts) {
    const change = text === undefined ? undefined : parseChange(text);
    if (change === undefined) return false;
    holdings.apply(change);
  }
  return true;
}

function parseStart(text: string | undefined): Snapshot | undefined {
  const { headwater, version: found, boot, node, last } = objectIn(text) ?? {};
  const isStart = headwater === 'addresses' && found === version;
  return isStart && typeof boot === 'string' && typeof node === 'string' && typeof last === 'number'
    ? { owner: { boot, node }, last, isCurrent: true }
    : undefined;
}

/** Empty if there is no such file. */
function bytesOf(path: string): Buffer {
  try {
    return readFileSync(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return Buffer.alloc(0);
    throw error;
  }
}

/**
 * A line of the files: a number that goes up by one, a check sum of the number and the text, and the text. A line that was
 * changed, lost, repeated or moved is found when the file is read.
 */
export function recordLine(number: number, text: string): string {
  return `${number} ${sumOf(number, text)} ${text}\n`;
}

interface RecordLine {
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
function wholeLines(all: Buffer): { readonly lines: readonly string[]; readonly bytes: number } | undefined {
  const bytes = all.lastIndexOf('\n') + 1;
  const whole = all.subarray(0, bytes);
  if (!isUtf8(whole)) return undefined;
  return { lines: whole.toString().split('\n').slice(0, -1), bytes };
}

function sumOf(number: number, text: string): string {
  return crc32(`${number} ${text}`).toString(16).padStart(8, '0');
}
