// What survives a restart of the agent: a snapshot, and a journal of the changes since. A change is in the journal before it
// counts. Files are not flushed to the disk: what a power cut takes belongs to containers that it took as well, and the next
// boot has a directory of its own.
import { isUtf8 } from 'node:buffer';
import {
  closeSync,
  fstatSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { type Change, Holdings } from '../ipam/holdings.ts';
import { changeText, parseChange } from './change-text.ts';

export type OpenedRecord =
  | { readonly kind: 'open'; readonly record: AddressRecord; readonly holdings: Holdings }
  /** What it holds cannot be what this program wrote. */
  | { readonly kind: 'damaged'; readonly problem: string };

/** First and last line of a snapshot: a part of one is damage. */
const snapshotStart = '{"headwater":"addresses","version":1}\n';
const snapshotEnd = '{"headwater":"end"}\n';

/** Journal lines before the first snapshot. */
const minLines = 2000;

export class AddressRecord {
  readonly #directory: string;
  readonly #holdings: Holdings;
  readonly #journal: number;
  /** Bytes of the journal that count. */
  #length: number;
  #lines: number;
  /** A part of a line may follow them. */
  #isTorn = false;
  /** Lines after which the next snapshot is made. */
  #maxLines = minLines;

  /** Nothing was ever written into it. */
  readonly isNew: boolean;

  private constructor(directory: string, holdings: Holdings, { bytes, lines }: Read, isNew: boolean) {
    this.isNew = isNew;
    this.#directory = directory;
    this.#holdings = holdings;
    this.#journal = openSync(join(directory, 'journal'), 'a', 0o600);
    this.#length = bytes;
    this.#lines = lines;
    // A line without an end was never answered for.
    ftruncateSync(this.#journal, this.#length);
  }

  /** Opens the record in a directory that exists. Throws what Node.js throws. */
  static open(directory: string): OpenedRecord {
    const holdings = new Holdings();
    const snapshot = bytesOf(join(directory, 'snapshot'));
    const journal = bytesOf(join(directory, 'journal'));
    if (!readSnapshot(snapshot, holdings))
      return { kind: 'damaged', problem: `${join(directory, 'snapshot')} is damaged` };
    const read = readChanges(journal, holdings);
    if (read === undefined) return { kind: 'damaged', problem: `${join(directory, 'journal')} is damaged` };
    const isNew = snapshot.byteLength === 0 && read.bytes === 0;
    return { kind: 'open', record: new AddressRecord(directory, holdings, read, isNew), holdings };
  }

  /** Writes a change; returns what prevents it. Then nothing of it is in the record. */
  write(change: Change): string | undefined {
    const line = Buffer.from(changeText(change));
    try {
      if (this.#isTorn) this.#cutBack();
      if (this.#lines >= this.#maxLines) this.snapshot();
      const written = writeSync(this.#journal, line);
      if (written < line.byteLength) throw new Error('the disk is full');
    } catch (error) {
      this.#isTorn = true;
      return `cannot write ${join(this.#directory, 'journal')}: ${(error as Error).message}`;
    }
    this.#length += line.byteLength;
    this.#lines++;
    return undefined;
  }

  /** Replaces the journal by a snapshot. The holdings must have every change of the journal. */
  snapshot(): void {
    // If it fails, the journal still says everything, and grows.
    this.#maxLines = this.#lines + minLines;
    const path = join(this.#directory, 'snapshot');
    const changes = Array.from(this.#holdings.changes(), changeText);
    try {
      writeFileSync(`${path}.new`, [snapshotStart, ...changes, snapshotEnd].join(''), { mode: 0o600 });
      renameSync(`${path}.new`, path);
      // Ending here, the journal is applied to the snapshot again, which changes nothing.
      ftruncateSync(this.#journal, 0);
    } catch {
      return;
    }
    this.#length = 0;
    this.#lines = 0;
    this.#maxLines = Math.max(minLines, 2 * this.#holdings.size);
  }

  /** What is wrong with its files on the disk; then it writes all that is held into new ones, for the next agent. */
  lost(): string | undefined {
    const path = join(this.#directory, 'journal');
    if (statSync(path, { throwIfNoEntry: false })?.ino === fstatSync(this.#journal).ino) return undefined;
    return `${path} was removed: ${this.#rescue() ?? 'what is held is in a new one'}`;
  }

  /** Returns what prevents it. */
  #rescue(): string | undefined {
    const path = join(this.#directory, 'snapshot');
    const changes = Array.from(this.#holdings.changes(), changeText);
    try {
      mkdirSync(this.#directory, { recursive: true, mode: 0o700 });
      writeFileSync(`${path}.new`, [snapshotStart, ...changes, snapshotEnd].join(''), { mode: 0o600 });
      renameSync(`${path}.new`, path);
      return undefined;
    } catch (error) {
      return `cannot write ${path}: ${(error as Error).message}`;
    }
  }

  close(): void {
    closeSync(this.#journal);
  }

  /** What follows a part of a line would be damage. */
  #cutBack(): void {
    ftruncateSync(this.#journal, this.#length);
    this.#isTorn = false;
  }
}

interface Read {
  /** Of whole lines. */
  readonly bytes: number;
  readonly lines: number;
}

/** Returns whether it is whole, or there is none. */
function readSnapshot(snapshot: Buffer, holdings: Holdings): boolean {
  if (snapshot.byteLength === 0) return true;
  const text = snapshot.toString();
  if (!text.startsWith(snapshotStart) || !text.endsWith(snapshotEnd)) return false;
  return readChanges(snapshot.subarray(snapshotStart.length, -snapshotEnd.length), holdings) !== undefined;
}

/** Applies all whole lines; undefined if one is no change. */
function readChanges(all: Buffer, holdings: Holdings): Read | undefined {
  const bytes = all.lastIndexOf('\n') + 1;
  const whole = all.subarray(0, bytes);
  if (!isUtf8(whole)) return undefined;
  let lines = 0;
  for (let start = 0; start < bytes; lines++) {
    const end = whole.indexOf('\n', start);
    const change = parseChange(whole.toString('utf8', start, end));
    if (change === undefined) return undefined;
    holdings.apply(change);
    start = end + 1;
  }
  return { bytes, lines };
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
